import { groupOf } from '../model/manifest.ts';
import { fix } from '../rewrite/fix.ts';
import { asNumber, asString, getIn, isIncomplete, items, spanOf } from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import { defineRule } from './rule.ts';

/**
 * A HorizontalPodAutoscaler is to reach zero replicas with metrics that need a running pod.
 *
 * ## Why
 *
 * The API server takes `minReplicas: 0` only beside a metric of type Object or External: others are measured in pods, and with no pod
 * there is nothing to measure. Up to Kubernetes 1.36 it takes it only with the feature gate HPAScaleToZero, too.
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
 * Unsafe: it was refused before, but one pod always runs then.
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
    if (types.some((type) => type === undefined || type === 'Object' || type === 'External')) return;
    // The first version knows CPU only.
    context.report({
      message: 'minReplicas 0 without a metric of type Object or External: the API server refuses it',
      span: spanOf(floor),
      fixes: () => [fix('Set minReplicas to 1', 'unsafe', replaceScalar(context.document, floor, 1))],
    });
  },
});
