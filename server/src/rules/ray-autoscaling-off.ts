import { knownAccelerator } from '../catalog/index.ts';
import { plural } from '../cost/money.ts';
import { mostServeGpus } from '../evidence/serve-deployments.ts';
import { kindOf } from '../model/kinds/index.ts';
import { lookUp } from '../model/manifest.ts';
import type { Workload } from '../model/workload.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { asNumber, type Cursor, getIn, isIncomplete, isUnseen, items, keySpanOf } from '../yaml/cursor.ts';
import { insertKey } from '../yaml/edit.ts';
import { defineRule, type WorkloadContext } from './rule.ts';

/**
 * A Ray worker group has replica bounds but no autoscaler.
 *
 * ## Why
 *
 * `minReplicas` and `maxReplicas` take effect only with `enableInTreeAutoscaling: true`. Without it, the group stays at `replicas`: it
 * keeps its accelerators when the work is done, and gets no more when there is more work. Without `replicas` it stays at `minReplicas`: at 0,
 * it never has a worker. The severity is info if the group is at its minimum anyway
 * and Ray Serve does not scale beyond its GPUs, or if `replicas: 0` is written in a cluster that stays up, because a person or a program may change that.
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
 * Unsafe: the group then shrinks to its minimum when it is idle and grows to its maximum under load.
 *
 * ## When it is silent
 *
 * If autoscaling is turned off explicitly, if the bounds are equal or the CRD's defaults, for groups without accelerators,
 * and for objects in a Kueue queue, because Kueue rejects the autoscaler ("a kueue managed job should not use autoscaling").
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
    const cluster = kindOf(workload).rayCluster?.(workload.manifest.root);
    if (cluster === undefined || isIncomplete(cluster) || getIn(cluster, 'enableInTreeAutoscaling') !== undefined)
      return;
    // Kueue's webhook rejects the autoscaler on queued objects unless the gate ElasticJobsViaWorkloadSlices is on.
    if (lookUp(workload.manifest.labels, 'kueue.x-k8s.io/queue-name') !== undefined) return;
    const gpus = gpusAtRest(workload);
    const lacks = gpus !== null && mostServeGpus(workload.manifest.root, context.document) > gpus;
    const options = getIn(cluster, 'autoscalerOptions');
    let isSaid = false;
    for (const group of items(getIn(cluster, 'workerGroupSpecs'))) {
      const min = asNumber(getIn(group, 'minReplicas'));
      const max = asNumber(getIn(group, 'maxReplicas'));
      if (min === undefined || max === undefined || min >= max || !holdsAccelerator(group)) continue;
      // What the CRD fills in where nothing is written says nothing about what is wanted.
      if (min === 0 && max === mostReplicas) continue;
      const written = getIn(group, 'replicas');
      // The CRD's default is 0, and the operator keeps the number within the bounds.
      const number = written === undefined ? 0 : asNumber(written);
      const replicas = number === undefined ? undefined : Math.min(Math.max(number, min), max);
      const stays = replicas === undefined ? 'does not scale' : `stays at ${plural(replicas, 'replica')}`;
      const effect = lacks ? `${stays}, and Serve's further replicas get no GPU` : stays;
      isSaid = true;
      context.report({
        // A group at its minimum wastes nothing, but one that stays at 0 never does any work.
        severity:
          !lacks &&
          ((isManaged(written) && kindOf(workload).launcher === undefined) ||
            replicas === undefined ||
            (replicas > 0 && replicas <= min))
            ? 'info'
            : 'warning',
        message: `minReplicas ${min} and maxReplicas ${max} have no effect without enableInTreeAutoscaling: the group ${effect}`,
        span: keySpanOf(getIn(group, 'minReplicas') ?? group),
        fixes: () => [enable(cluster, context)],
      });
    }
    if (options === undefined || isSaid || isUnseen(options)) return;
    context.report({
      severity: 'info',
      message: 'autoscalerOptions has no effect without enableInTreeAutoscaling: the cluster keeps its size',
      span: keySpanOf(options),
      fixes: () => [enable(cluster, context)],
    });
  },
});

/** A person or a program may scale up a group whose number is written as 0, while its cluster stays up. */
function isManaged(replicas: Cursor | undefined): boolean {
  return asNumber(replicas) === 0;
}

/** The GPUs of a cluster that does not scale; null if unknown. */
function gpusAtRest({ podSets }: Workload): number | null {
  return podSets.reduce<number | null>((sum, { pods, accelerators }) => {
    const inPod = accelerators.map(({ form, perPod }) => (form === 'whole' ? perPod : null));
    if (sum === null || inPod.includes(null) || (inPod.length > 0 && pods.min === null)) return null;
    return inPod.reduce<number>((all, one) => all + (one ?? 0) * (pods.min ?? 0), sum);
  }, 0);
}

/** The CRD's default of `maxReplicas`; KubeRay's chart writes it out. */
const mostReplicas = 2 ** 31 - 1;

function holdsAccelerator(group: Cursor): boolean {
  return items(getIn(group, 'template', 'spec', 'containers')).some((container) => {
    const limits = getIn(container, 'resources', 'limits');
    return limits?.node.kind === 'map' && limits.node.entries.some(({ key }) => knownAccelerator(key) !== undefined);
  });
}

function enable(cluster: Cursor, { document }: WorkloadContext): Fix | undefined {
  const after = getIn(cluster, 'rayVersion') === undefined ? 'headGroupSpec' : 'rayVersion';
  const edits = insertKey(document, cluster, 'enableInTreeAutoscaling', true, { after });
  return fix('Set enableInTreeAutoscaling to true', 'unsafe', edits);
}
