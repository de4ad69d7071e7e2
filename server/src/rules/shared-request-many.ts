import { formatNumber } from '../cost/money.ts';
import { isExempt, knownRequests } from '../evidence/requested-accelerators.ts';
import type { Selector } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { replaceQuantities, writtenQuantities } from '../rewrite/quantities.ts';
import { spanOf } from '../yaml/cursor.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A container requests more than one share of time-sliced or MPS-shared GPUs.
 *
 * ## Why
 *
 * Shares are turns on a GPU, not parts of it. Two shares guarantee no more compute or memory than one, may be on the same GPU, and
 * leave fewer for other pods. GKE, NVIDIA's device plugin with MPS, and the plugin with `failRequestsGreaterThanOne` reject such requests:
 * the pod fails with UnexpectedAdmissionError.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: notebook
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/notebook:4.2
 *       resources:
 *         limits:
 *           nvidia.com/gpu.shared: 2
 * ```
 *
 * ```yaml fixed
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: notebook
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/notebook:4.2
 *       resources:
 *         limits:
 *           nvidia.com/gpu.shared: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: if the plugin allows several shares, the pod has been running with them.
 *
 * ## When it is silent
 *
 * On GKE with MPS, where a node with one GPU offers several shares, and if a selector also allows other nodes.
 *
 * ## Sources
 *
 * - [NVIDIA device plugin: time slicing](https://github.com/NVIDIA/k8s-device-plugin#with-cuda-time-slicing)
 * - [NVIDIA/k8s-device-plugin#1208](https://github.com/NVIDIA/k8s-device-plugin/issues/1208)
 * - [GKE: about GPU sharing](https://cloud.google.com/kubernetes-engine/docs/concepts/timesharing-gpus)
 */
export default defineRule({
  topic: 'sharing',
  severity: 'warning',
  container(container, context) {
    if (isExempt(context.workload)) return;
    const isTimeShared = context.podSet.selectors.some(
      ({ key, values }) =>
        key === strategy && values.length > 0 && values.every(({ value }) => value === 'time-sharing'),
    );
    const isSliced = context.podSet.selectors.some(selectsSlices) || isInSharedFile(context);
    for (const request of knownRequests(container)) {
      const named = request.resource === 'nvidia.com/gpu.shared' || (isSliced && request.resource === 'nvidia.com/gpu');
      const [quantity] = writtenQuantities(request);
      if (!named && !(isTimeShared && request.resource === 'nvidia.com/gpu')) continue;
      if (quantity === undefined || request.count === null || request.count < 2) continue;
      const what = `${formatNumber(request.count)} ${request.resource}`;
      context.report({
        message: named
          ? `${what} guarantee no more compute or memory than 1, and the device plugin can reject the pod`
          : `The container requests ${what}, but GKE allows 1 on time-sharing nodes: the pod fails (UnexpectedAdmissionError)`,
        span: spanOf(quantity.at),
        fixes: () => {
          const edits = replaceQuantities(context.document, writtenQuantities(request), 1);
          return [fix(`Set ${request.resource} to 1`, 'unsafe', edits)];
        },
      });
    }
  },
});

/** Whether a config in the same file shares the GPUs of all nodes. */
function isInSharedFile({ podSet, crossReferences }: PodSetContext): boolean {
  return podSet.selectors.length === 0 && crossReferences.deviceSharing(null, false)?.file === null;
}

const strategy = 'cloud.google.com/gke-gpu-sharing-strategy';

/** Whether a selector allows only nodes on which NVIDIA's device plugin shares the GPUs. */
function selectsSlices({ key, values }: Selector): boolean {
  if (values.length === 0) return false;
  if (key === 'nvidia.com/gpu.product') return values.every(({ value }) => /-SHARED$/.test(value));
  return key === 'nvidia.com/gpu.sharing-strategy' && values.every(({ value }) => /^(?:time-slicing|mps)$/.test(value));
}
