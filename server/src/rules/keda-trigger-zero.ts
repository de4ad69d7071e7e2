import { groupOf } from '../model/manifest.ts';
import { asNumber, asString, at, isOpen, isTemplated, items, keySpanOf, spanOf } from '../yaml/cursor.ts';
import { defineRule } from './rule.ts';

/**
 * A ScaledObject is to reach zero replicas with triggers that need a running pod.
 *
 * ## Why
 *
 * CPU and memory are measured in pods, so with no pod there is nothing that could start one: KEDA refuses a floor of 0 where these are
 * its only triggers. Give it a trigger that sees requests (a queue, Prometheus), or a floor of 1. The floor is 0 where
 * `minReplicaCount` is left out.
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
 *         query: sum(requests_waiting)
 *         threshold: "4"
 * ```
 *
 * ## Sources
 *
 * - [KEDA: CPU trigger](https://keda.sh/docs/latest/scalers/cpu/)
 */
export default defineRule({
  topic: 'autoscaling',
  severity: 'warning',
  manifest({ root, kind, apiVersion }, context) {
    if (kind !== 'ScaledObject' || groupOf(apiVersion) !== 'keda.sh') return;
    const spec = at(root, 'spec');
    const triggers = at(spec, 'triggers');
    const floor = at(spec, 'minReplicaCount');
    if (triggers === undefined || isOpen(spec) || isOpen(triggers) || isTemplated(floor)) return;
    // A bound under another name is told by itself.
    if (floor === undefined && at(spec, 'minReplicas') !== undefined) return;
    if (floor !== undefined && asNumber(floor) !== 0) return;
    const types = items(triggers).map((trigger) => asString(at(trigger, 'type')));
    if (types.length === 0 || types.some((type) => type !== 'cpu' && type !== 'memory')) return;
    context.report({
      message: `${floor === undefined ? 'No minReplicaCount means 0' : 'minReplicaCount is 0'}, but ${[...new Set(types)].join(' and ')} cannot start a first pod: KEDA refuses it`,
      span: floor === undefined ? keySpanOf(triggers) : spanOf(floor),
    });
  },
});
