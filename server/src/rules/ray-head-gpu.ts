import { knownRequests, requestSpan, requestWords } from '../evidence/requested-accelerators.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { removeRequests } from '../rewrite/remove-requests.ts';
import { isIncomplete } from '../yaml/cursor.ts';
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
  workload({ apiVersion, podSets }, context) {
    if (!apiVersion.startsWith('ray.io/')) return;
    const head = podSets.find(({ name }) => name === 'head');
    const workersHaveTheirOwn = podSets.some(
      (podSet) =>
        podSet.name !== 'head' && podSet.name !== 'submitter' && podSet.pods.max !== 0 && requestsAccelerators(podSet),
    );
    if (head === undefined || !workersHaveTheirOwn) return;
    for (const container of head.containers) {
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
