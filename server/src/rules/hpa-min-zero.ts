import { valuesScaler } from '../evidence/values-scaler.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { groupOf } from '../model/manifest.ts';
import { fix } from '../rewrite/fix.ts';
import { asNumber, asString, getIn, isIncomplete, items, spanOf } from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import { defineRule } from './rule.ts';

/**
 * A HorizontalPodAutoscaler has a minimum of 0, which the API server rejects by default.
 *
 * ## Why
 *
 * The API server accepts `minReplicas: 0` only with a metric of type Object or External. Other metrics are measured on pods, and without pods
 * there is nothing to measure. Up to Kubernetes 1.36, the feature gate HPAScaleToZero is also required: it is alpha and off by default, and most managed
 * clusters cannot turn it on. KEDA scales to zero without it.
 *
 * ```yaml invalid
 * apiVersion: autoscaling/v2
 * kind: HorizontalPodAutoscaler
 * metadata:
 *   name: gpu-server
 * spec:
 *   scaleTargetRef:
 *     apiVersion: apps/v1
 *     kind: Deployment
 *     name: gpu-server
 *   minReplicas: 0
 *   maxReplicas: 4
 *   metrics:
 *     - type: Resource
 *       resource:
 *         name: cpu
 *         target:
 *           type: Utilization
 *           averageUtilization: 60
 * ```
 *
 * ```yaml fixed
 * apiVersion: autoscaling/v2
 * kind: HorizontalPodAutoscaler
 * metadata:
 *   name: gpu-server
 * spec:
 *   scaleTargetRef:
 *     apiVersion: apps/v1
 *     kind: Deployment
 *     name: gpu-server
 *   minReplicas: 1
 *   maxReplicas: 4
 *   metrics:
 *     - type: Resource
 *       resource:
 *         name: cpu
 *         target:
 *           type: Utilization
 *           averageUtilization: 60
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the object was rejected before, and now one pod always runs.
 *
 * ## Sources
 *
 * - [Kubernetes: HorizontalPodAutoscaler v2](https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/horizontal-pod-autoscaler-v2/)
 * - A dry run against an API server of version 1.32
 */
export default defineRule({
  topic: 'autoscaling',
  severity: 'error',
  manifest({ root, kind, apiVersion }, context) {
    if (kind !== 'HorizontalPodAutoscaler' || groupOf(apiVersion) !== 'autoscaling') return;
    const spec = getIn(root, 'spec');
    const floor = getIn(spec, 'minReplicas');
    const metrics = getIn(spec, 'metrics');
    if (floor === undefined || asNumber(floor) !== 0 || isIncomplete(spec) || isIncomplete(metrics)) return;
    const types = items(metrics).map((metric) => asString(getIn(metric, 'type')));
    if (types.includes(undefined)) return;
    if (types.some((type) => type === 'Object' || type === 'External')) {
      context.report({
        message:
          'minReplicas 0 requires the feature gate HPAScaleToZero, off by default: the API server rejects the object',
        span: spanOf(floor),
        fixes: () => [fix('Set minReplicas to 1', 'unsafe', replaceScalar(context.document, floor, 1))],
      });
      return;
    }
    // The list is empty in autoscaling/v1, which supports only CPU.
    context.report({
      message: 'minReplicas 0 requires a metric of type Object or External: the API server rejects the object',
      span: spanOf(floor),
      fixes: () => [fix('Set minReplicas to 1', 'unsafe', replaceScalar(context.document, floor, 1))],
    });
  },
  workload(workload, context) {
    const scaler = valuesScaler(workload);
    const floor = getIn(scaler, 'minReplicas');
    if (floor === undefined || asNumber(floor) !== 0 || !workload.podSets.some(requestsAccelerators)) return;
    const types = items(getIn(scaler, 'metrics')).map((metric) => asString(getIn(metric, 'type')));
    if (types.some((type) => type !== 'Resource')) return;
    context.report({
      // The chart may create another autoscaler.
      severity: 'warning',
      message:
        'minReplicas 0 requires a metric of type Object or External: the API server rejects the HPA of the chart',
      span: spanOf(floor),
      fixes: () => [fix('Set minReplicas to 1', 'unsafe', replaceScalar(context.document, floor, 1))],
    });
  },
});
