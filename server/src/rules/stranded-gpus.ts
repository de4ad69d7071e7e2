import { largestNode } from '../evidence/largest-node.ts';
import { resourceName } from '../model/requested-resource.ts';
import { writtenQuantities } from '../rewrite/quantities.ts';
import { spanOf } from '../yaml/cursor.ts';
import { defineRule } from './rule.ts';

/**
 * The number of GPUs per pod leaves GPUs of each node unused.
 *
 * ## Why
 *
 * A node is shared only in whole GPUs. Pods with 3, 5, 6 or 7 of 8 GPUs leave a remainder that no other pod of the same kind can use, and it
 * costs as much as the rest. Counts that divide the node (1, 2, 4 or 8) leave nothing.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
 *   nodeSelector:
 *     node.kubernetes.io/instance-type: p4d.24xlarge
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:1.4
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 6
 * ```
 *
 * ```yaml valid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
 *   nodeSelector:
 *     node.kubernetes.io/instance-type: p4d.24xlarge
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:1.4
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 4
 * ```
 *
 * ## When it is silent
 *
 * If the size of the node is unknown, and for shares of a GPU.
 *
 * ## Sources
 *
 * - [Kubernetes: Schedule GPUs](https://kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus/)
 */
export default defineRule({
  topic: 'cost',
  severity: 'hint',
  podSet(podSet, { workload, report }) {
    if (workload.role === 'infrastructure') return;
    for (const accelerator of podSet.accelerators) {
      const { perPod, devices, form, requested } = accelerator;
      const resource = resourceName(requested);
      if (resource === undefined || form !== 'whole' || perPod === null || devices !== perPod || perPod < 3) continue;
      const node = largestNode(podSet.selectors, accelerator)?.count ?? 0;
      const rest = node % perPod;
      if (node <= perPod || rest === 0) continue;
      const requests = podSet.containers.flatMap((one) =>
        one.accelerators.filter((each) => each.resource === resource),
      );
      const quantity = requests[0] && writtenQuantities(requests[0])[0];
      if (quantity === undefined) continue;
      report({
        message: `Each pod takes ${perPod} of a node's ${node} devices: no other pod of this size can use the remaining ${rest}`,
        span: spanOf(quantity.at),
      });
    }
  },
});
