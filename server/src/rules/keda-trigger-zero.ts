import { needsPod, podMetric } from '../evidence/pod-metrics.ts';
import { backendsOf } from '../evidence/route-backends.ts';
import { targetOf } from '../evidence/scaler-target.ts';
import { groupOf } from '../model/manifest.ts';
import { isValues } from '../model/values.ts';
import type { Manifest } from '../model/workload.ts';
import {
  asBoolean,
  asNumber,
  asString,
  getIn,
  isIncomplete,
  isTemplated,
  items,
  keyOf,
  keySpanOf,
  spanOf,
} from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type RuleContext } from './rule.ts';

/**
 * A ScaledObject scales to zero with triggers that need a running pod.
 *
 * ## Why
 *
 * CPU and memory are measured in pods, so they cannot start the first pod: KEDA rejects a minimum of 0 if these are the only triggers.
 * Add a trigger that sees requests (a queue, a gateway's metric in Prometheus), or set the minimum to 1. Without `minReplicaCount` the
 * minimum is 0.
 *
 * Prometheus answers without pods, but the metrics of the pods themselves (`vllm:num_requests_waiting`, `DCGM_FI_DEV_GPU_UTIL`) end with
 * the last pod: KEDA accepts the object, the server scales to zero and stays there. The severity is info if the query does not name the
 * target, because it may be about another server.
 *
 * ```yaml invalid
 * apiVersion: keda.sh/v1alpha1
 * kind: ScaledObject
 * metadata:
 *   name: gpu-server
 * spec:
 *   scaleTargetRef:
 *     name: gpu-server
 *   minReplicaCount: 0
 *   triggers:
 *     - type: cpu
 *       metricType: Utilization
 *       metadata:
 *         value: "60"
 * ```
 *
 * ```yaml valid
 * apiVersion: keda.sh/v1alpha1
 * kind: ScaledObject
 * metadata:
 *   name: gpu-server
 * spec:
 *   scaleTargetRef:
 *     name: gpu-server
 *   minReplicaCount: 0
 *   triggers:
 *     - type: prometheus
 *       metadata:
 *         serverAddress: http://prometheus.monitoring:9090
 *         query: sum(rate(istio_requests_total{destination_service_name="gpu-server"}[2m]))
 *         threshold: "4"
 * ```
 *
 * ## When it is silent
 *
 * For pod metrics, if the object has another trigger or metric or a `fallback`, and if the target is not a server or not in the same project.
 *
 * ## Sources
 *
 * - [KEDA: CPU trigger](https://keda.sh/docs/latest/scalers/cpu/)
 * - [kedacore/keda#6040: a metric of the pods cannot start the first](https://github.com/kedacore/keda/issues/6040)
 */
export default defineRule({
  topic: 'autoscaling',
  severity: 'warning',
  manifest(manifest, context) {
    const { root, kind, apiVersion } = manifest;
    checkRoute(manifest, context);
    if (kind !== 'ScaledObject' || groupOf(apiVersion) !== 'keda.sh') return;
    const spec = getIn(root, 'spec');
    const triggers = getIn(spec, 'triggers');
    const minimum = getIn(spec, 'minReplicaCount');
    if (triggers === undefined || isIncomplete(spec) || isIncomplete(triggers) || isTemplated(minimum)) return;
    // keda-field-name reports a minimum under an unknown name.
    if (minimum === undefined && getIn(spec, 'minReplicas') !== undefined) return;
    if (minimum !== undefined && asNumber(minimum) !== 0) return;
    const types = items(triggers).map((trigger) => asString(getIn(trigger, 'type')));
    const atZero = minimum === undefined ? 'minReplicaCount defaults to 0' : 'minReplicaCount is 0';
    const span = minimum === undefined ? keySpanOf(triggers) : spanOf(minimum);
    if (types.length === 0) return;
    if (types.every((type) => type === 'cpu' || type === 'memory')) {
      const message = `${atZero}, but ${[...new Set(types)].join(' and ')} triggers cannot start the first pod: KEDA rejects the ScaledObject`;
      context.report({ message, span });
      return;
    }
    const queries = items(triggers).map((trigger) => getIn(trigger, 'metadata', 'query'));
    const metric = queries.map(podMetric).find((found) => found !== undefined);
    // With a fallback, KEDA starts pods if a query fails.
    if (metric === undefined || !items(triggers).every(needsPod) || getIn(spec, 'fallback') !== undefined) return;
    const target = targetOf(manifest, context.crossReferences);
    if (target?.facts.role !== 'serving') return;
    const namesTarget = !target.siblingFolder && queries.some((query) => isAbout(asString(query) ?? '', target.name));
    context.report({
      // A query that does not name the target may be about another server, whose waiting requests start this one.
      severity: namesTarget ? 'warning' : 'info',
      message: `${atZero}, but ${shorten(metric)} needs a running pod: at zero, the server ${namesTarget ? 'never starts' : 'may never start'} again`,
      span,
    });
  },
  workload(workload, { report }) {
    if (!isValues(workload) || workload.role !== 'serving') return;
    const pod = workload.podSets[0]?.pod;
    for (const scaler of ['keda', 'autoscaling', 'scaledObject', 'kedaAutoscaling'].map((key) => getIn(pod, key))) {
      const triggers = getIn(scaler, 'triggers');
      const minimum = getIn(scaler, 'minReplicaCount') ?? getIn(scaler, 'minReplicas');
      const off = asBoolean(getIn(scaler, 'enabled')) === false || getIn(scaler, 'fallback') !== undefined;
      if (off || minimum === undefined || asNumber(minimum) !== 0 || isIncomplete(scaler) || isIncomplete(triggers))
        continue;
      const metric = items(triggers).map((trigger) => podMetric(getIn(trigger, 'metadata', 'query')))[0];
      if (metric === undefined || !items(triggers).every(needsPod)) continue;
      report({
        severity: 'info',
        message: `${keyOf(minimum)} is 0, but ${shorten(metric)} needs a running pod: at zero, the server may never start again`,
        span: spanOf(minimum),
      });
    }
  },
});

/** Whether a label matcher of the query contains the name. */
function isAbout(query: string, name: string): boolean {
  return query.split(/["']/).some((part, index) => index % 2 === 1 && part.includes(name));
}

/** Reports a route to the Service itself of pods that KEDA's HTTP add-on starts when a request reaches its interceptor. */
function checkRoute({ root, kind, namespace }: Manifest, { crossReferences, report }: RuleContext): void {
  if (kind === 'HTTPScaledObject') return;
  for (const backend of backendsOf(kind, root)) {
    const home = backend.namespace ?? namespace;
    const service = crossReferences.service(home, backend.name);
    const selects = service?.siblingFolder === false ? service.facts.selects : null;
    if (selects === null || selects === undefined) continue;
    const asleep = crossReferences
      .keptRunning(home, selects)
      .find(
        ({ kind: of, name, facts }) =>
          (facts.devices ?? 0) > 0 &&
          crossReferences
            .scalersOf('apps', of, home, name)
            .some((scaler) => scaler.kind === 'HTTPScaledObject' && scaler.facts.min === 0),
      );
    if (asleep === undefined) continue;
    report({
      message: `Requests to Service ${shorten(backend.name, 40)} bypass the interceptor of KEDA's HTTP add-on: at zero, nothing starts ${shorten(asleep.name, 40)}`,
      span: spanOf(backend.nameAt),
    });
  }
}
