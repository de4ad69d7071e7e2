import { knownAccelerator } from '../catalog/index.ts';
import { knownRequests, requestSpan, requestWords } from '../evidence/requested-accelerators.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { isValues } from '../model/values.ts';
import type { PodSet, Workload } from '../model/workload.ts';
import { removeRequests } from '../rewrite/remove-requests.ts';
import { asBoolean, asNumber, type Cursor, entries, getIn, isIncomplete, keyOf } from '../yaml/cursor.ts';
import { defineRule } from './rule.ts';

/**
 * The head of a Ray cluster requests accelerators although the workers have their own.
 *
 * ## Why
 *
 * The head runs Ray's control plane. Work on the head competes with the control plane, and if the head fails, the cluster fails. Ray's guide
 * for clusters of several nodes keeps the head free of work (`num-cpus: "0"`), and then its GPU costs money but stays idle.
 *
 * ```yaml invalid
 * apiVersion: ray.io/v1
 * kind: RayCluster
 * metadata:
 *   name: tune
 * spec:
 *   headGroupSpec:
 *     template:
 *       spec:
 *         containers:
 *           - name: ray-head
 *             image: registry.example/ray:2.52.0
 *             resources:
 *               limits:
 *                 cpu: 8
 *                 nvidia.com/gpu: 1
 *   workerGroupSpecs:
 *     - groupName: gpu
 *       replicas: 2
 *       template:
 *         spec:
 *           containers:
 *             - name: ray-worker
 *               image: registry.example/ray:2.52.0
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
 *   headGroupSpec:
 *     template:
 *       spec:
 *         containers:
 *           - name: ray-head
 *             image: registry.example/ray:2.52.0
 *             resources:
 *               limits:
 *                 cpu: 8
 *   workerGroupSpecs:
 *     - groupName: gpu
 *       replicas: 2
 *       template:
 *         spec:
 *           containers:
 *             - name: ray-worker
 *               image: registry.example/ray:2.52.0
 *               resources:
 *                 limits:
 *                   nvidia.com/gpu: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: work on the head's GPU has to move to the workers.
 *
 * ## When it is silent
 *
 * For clusters whose workers request no accelerators.
 *
 * ## Sources
 *
 * - [Ray: configuring the head node](https://docs.ray.io/en/latest/cluster/kubernetes/user-guides/config.html)
 * - [Ray: best practices for large clusters](https://docs.ray.io/en/latest/cluster/vms/user-guides/large-cluster-best-practices.html)
 */
export default defineRule({
  topic: 'gpu-request',
  severity: 'info',
  workload(workload, context) {
    const head = isValues(workload) ? headInValues(workload) : headOfCluster(workload);
    for (const container of head?.containers ?? []) {
      const requests = knownRequests(container);
      if (requests.length === 0 || isIncomplete(container.resources)) continue;
      context.report({
        message: `The Ray head requests ${requestWords(requests)} although workers have their own: its work competes with Ray's control plane`,
        span: requestSpan(requests, container),
        fixes: () => [removeRequests(context.document, requests, "Remove the head's accelerator request")],
      });
    }
  },
});

/** The head of a cluster whose workers have accelerators. */
function headOfCluster({ apiVersion, podSets }: Workload): PodSet | undefined {
  if (!apiVersion.startsWith('ray.io/')) return undefined;
  const workersHaveTheirOwn = podSets.some(
    (podSet) =>
      podSet.name !== 'head' && podSet.name !== 'submitter' && podSet.pods.max !== 0 && requestsAccelerators(podSet),
  );
  return workersHaveTheirOwn ? podSets.find(({ name }) => name === 'head') : undefined;
}

/** The same in the values of Ray's chart. https://github.com/ray-project/kuberay/blob/master/helm-chart/ray-cluster/values.yaml */
function headInValues({ podSets: [podSet] }: Workload): PodSet | undefined {
  const head = podSet?.pod;
  if (head === undefined || keyOf(head) !== 'head') return undefined;
  const worker = getIn(head.parent, 'worker');
  const groups = [...(worker === undefined ? [] : [worker]), ...entries(getIn(head.parent, 'additionalWorkerGroups'))];
  const isRay = [head, ...groups].some((one) => getIn(one, 'rayStartParams') !== undefined);
  return isRay && groups.some(hasAccelerators) ? podSet : undefined;
}

function hasAccelerators(group: Cursor): boolean {
  if (asBoolean(getIn(group, 'disabled')) === true || asNumber(getIn(group, 'replicas')) === 0) return false;
  return entries(getIn(group, 'resources', 'limits')).some((one) => knownAccelerator(keyOf(one)) !== undefined);
}
