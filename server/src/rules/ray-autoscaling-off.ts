import { acceleratorResource } from '../catalog/index.ts';
import { lookUp } from '../model/manifest.ts';
import type { Workload } from '../model/workload.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { asNumber, type Cursor, getIn, isIncomplete, items, keySpanOf } from '../yaml/cursor.ts';
import { insertKey } from '../yaml/edit.ts';
import { defineRule, type WorkloadContext } from './rule.ts';

/**
 * A Ray group has bounds, and no autoscaler that moves between them.
 *
 * ## Why
 *
 * `minReplicas` and `maxReplicas` mean something only with `enableInTreeAutoscaling: true`. Without it the group stays at `replicas`:
 * its accelerators never go away when the work is done, and no more come when there is more. Where it stands at its floor
 * anyway, that is advice only.
 *
 * ```yaml invalid
 * apiVersion: ray.io/v1
 * kind: RayCluster
 * metadata:
 *   name: tune
 * spec:
 *   rayVersion: 2.46.0
 *   headGroupSpec:
 *     rayStartParams: {}
 *     template:
 *       spec:
 *         containers:
 *           - name: head
 *             image: registry.example/ray:2.46.0
 *   workerGroupSpecs:
 *     - groupName: gpu
 *       replicas: 1
 *       minReplicas: 0
 *       maxReplicas: 8
 *       rayStartParams: {}
 *       template:
 *         spec:
 *           containers:
 *             - name: worker
 *               image: registry.example/ray:2.46.0
 *               resources:
 *                 limits:
 *                   nvidia.com/gpu: 1
 * ```
 *
 * ```yaml fixed
 * apiVersion: ray.io/v1
 * kind: RayCluster
 * metadata:
 *   name: tune
 * spec:
 *   rayVersion: 2.46.0
 *   enableInTreeAutoscaling: true
 *   headGroupSpec:
 *     rayStartParams: {}
 *     template:
 *       spec:
 *         containers:
 *           - name: head
 *             image: registry.example/ray:2.46.0
 *   workerGroupSpecs:
 *     - groupName: gpu
 *       replicas: 1
 *       minReplicas: 0
 *       maxReplicas: 8
 *       rayStartParams: {}
 *       template:
 *         spec:
 *           containers:
 *             - name: worker
 *               image: registry.example/ray:2.46.0
 *               resources:
 *                 limits:
 *                   nvidia.com/gpu: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the group then shrinks to its floor when nothing asks for it, and grows to its ceiling.
 *
 * ## When it is silent
 *
 * Where autoscaling is turned off in so many words, where the bounds are equal, for groups without accelerators, and for what waits in a queue
 * of Kueue, which refuses the autoscaler ("a kueue managed job should not use autoscaling").
 *
 * ## Sources
 *
 * - [Ray: KubeRay autoscaling](https://docs.ray.io/en/latest/cluster/kubernetes/user-guides/configuring-autoscaling.html)
 * - [Kueue: the webhook of RayCluster](https://github.com/kubernetes-sigs/kueue/blob/main/pkg/controller/jobs/raycluster/raycluster_webhook.go)
 */
export default defineRule({
  topic: 'autoscaling',
  severity: 'warning',
  workload(workload, context) {
    const cluster = clusterOf(workload);
    if (cluster === undefined || isIncomplete(cluster) || getIn(cluster, 'enableInTreeAutoscaling') !== undefined)
      return;
    // Kueue's webhook refuses the autoscaler on what it queues, unless the gate ElasticJobsViaWorkloadSlices is on.
    if (lookUp(workload.manifest.labels, 'kueue.x-k8s.io/queue-name') !== undefined) return;
    for (const group of items(getIn(cluster, 'workerGroupSpecs'))) {
      const min = asNumber(getIn(group, 'minReplicas'));
      const max = asNumber(getIn(group, 'maxReplicas'));
      if (min === undefined || max === undefined || min >= max || !holdsAccelerator(group)) continue;
      const replicas = asNumber(getIn(group, 'replicas')) ?? 1;
      // Managed by something else, which counts up from nothing.
      if (replicas === 0) continue;
      const atFloor = replicas <= min;
      context.report({
        // At its floor the group wastes nothing by it.
        severity: atFloor ? 'info' : 'warning',
        message: `Bounds ${min} to ${max} without enableInTreeAutoscaling: the group stays at ${replicas}, ${atFloor ? 'whatever the load' : 'used or not'}`,
        span: keySpanOf(getIn(group, 'minReplicas') ?? group),
        fixes: () => [enable(cluster, context)],
      });
    }
  },
});

function clusterOf({ kind, manifest: { root } }: Workload): Cursor | undefined {
  if (kind === 'RayCluster') return getIn(root, 'spec');
  if (kind === 'RayJob') return getIn(root, 'spec', 'rayClusterSpec');
  return kind === 'RayService' ? getIn(root, 'spec', 'rayClusterConfig') : undefined;
}

function holdsAccelerator(group: Cursor): boolean {
  return items(getIn(group, 'template', 'spec', 'containers')).some((container) => {
    const limits = getIn(container, 'resources', 'limits');
    return limits?.node.kind === 'map' && limits.node.entries.some(({ key }) => acceleratorResource(key) !== undefined);
  });
}

function enable(cluster: Cursor, { document }: WorkloadContext): Fix | undefined {
  const after = getIn(cluster, 'rayVersion') === undefined ? 'headGroupSpec' : 'rayVersion';
  const edits = insertKey(document, cluster, 'enableInTreeAutoscaling', true, { after });
  return fix("Turn Ray's autoscaler on", 'unsafe', edits);
}
