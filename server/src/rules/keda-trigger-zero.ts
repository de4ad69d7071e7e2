import { needsPod, podMetric } from '../evidence/pod-metrics.ts';
import { targetOf } from '../evidence/scaler-target.ts';
import { groupOf } from '../model/manifest.ts';
import { asNumber, asString, getIn, isIncomplete, isTemplated, items, keySpanOf, spanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule } from './rule.ts';

/**
 * A ScaledObject is to reach zero replicas with triggers that need a running pod.
 *
 * ## Why
 *
 * CPU and memory are measured in pods, so with no pod there is nothing that could start one: KEDA refuses a floor of 0 where these are
 * its only triggers. Give it a trigger that sees requests (a queue, a gateway's metric in Prometheus), or a floor of 1. The floor is 0 where
 * `minReplicaCount` is left out.
 *
 * Prometheus can be asked, but what the pods themselves tell (`vllm:num_requests_waiting`, `DCGM_FI_DEV_GPU_UTIL`) is gone with the last of
 * them: KEDA takes it, the server goes to zero, and stays there. That is a warning where the query names the target, and else advice, for
 * the query may be about another server, too.
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
 * Of metrics of pods: where another trigger or metric is there, with a `fallback`, and where the target is not in the same project or is no server.
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
    if (kind !== 'ScaledObject' || groupOf(apiVersion) !== 'keda.sh') return;
    const spec = getIn(root, 'spec');
    const triggers = getIn(spec, 'triggers');
    const floor = getIn(spec, 'minReplicaCount');
    if (triggers === undefined || isIncomplete(spec) || isIncomplete(triggers) || isTemplated(floor)) return;
    // A bound under another name is told by itself.
    if (floor === undefined && getIn(spec, 'minReplicas') !== undefined) return;
    if (floor !== undefined && asNumber(floor) !== 0) return;
    const types = items(triggers).map((trigger) => asString(getIn(trigger, 'type')));
    const said = floor === undefined ? 'No minReplicaCount means 0' : 'minReplicaCount is 0';
    const span = floor === undefined ? keySpanOf(triggers) : spanOf(floor);
    if (types.length === 0) return;
    if (types.every((type) => type === 'cpu' || type === 'memory')) {
      const message = `${said}, but ${[...new Set(types)].join(' and ')} cannot start a first pod: KEDA refuses it`;
      context.report({ message, span });
      return;
    }
    const queries = items(triggers).map((trigger) => getIn(trigger, 'metadata', 'query'));
    const metric = queries.map(podMetric).find((found) => found !== undefined);
    // With a fallback KEDA starts pods where a query fails.
    if (metric === undefined || !items(triggers).every(needsPod) || getIn(spec, 'fallback') !== undefined) return;
    const target = targetOf(manifest, context.crossReferences);
    if (target?.facts.role !== 'serving') return;
    const own = !target.siblingFolder && queries.some((query) => isAbout(asString(query) ?? '', target.name));
    context.report({
      // A query that does not name the target may be about another server, too, whose waiting requests start this one.
      severity: own ? 'warning' : 'info',
      message: `${said}, but only running pods tell ${shorten(metric)}: once there are none, nothing starts the first`,
      span,
    });
  },
});

/** Whether a matcher of labels names it. */
function isAbout(query: string, name: string): boolean {
  return query.split(/["']/).some((part, index) => index % 2 === 1 && part.includes(name));
}
