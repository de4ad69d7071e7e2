import { formatNumber } from '../cost/format.ts';
import { isExempt, knownRequests } from '../evidence/requests.ts';
import { fix } from '../rewrite/fix.ts';
import { replaceQuantities, writtenQuantities } from '../rewrite/quantities.ts';
import { spanOf } from '../yaml/cursor.ts';
import { defineRule } from './rule.ts';

/**
 * A container asks for more than one share of time-sliced or MPS-shared GPUs.
 *
 * ## Why
 *
 * Shares are turns on a card, not parts of it: two of them promise no more compute and no more memory than one, they may be of the same
 * card, and others get fewer. GKE, NVIDIA's plugin under MPS, and with `failRequestsGreaterThanOne`, refuse more than one: the pod fails
 * with UnexpectedAdmissionError.
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
 * Unsafe: where the plugin allows it, the pod ran with two before.
 *
 * ## When it is silent
 *
 * On GKE with MPS, whose nodes of one GPU give several shares, and where a selector allows other nodes too.
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
    const onTurns = context.podSet.selectors.some(
      ({ key, values }) =>
        key === strategy && values.length > 0 && values.every(({ value }) => value === 'time-sharing'),
    );
    for (const request of knownRequests(container)) {
      const named = request.resource === 'nvidia.com/gpu.shared';
      const [quantity] = writtenQuantities(request);
      if (!named && !(onTurns && request.resource === 'nvidia.com/gpu')) continue;
      if (quantity === undefined || request.count === null || request.count < 2) continue;
      const what = `${formatNumber(request.count)} ${request.resource}`;
      context.report({
        message: named
          ? `${what}: shares are turns on a card, so more than one promises nothing more, or the pod fails`
          : `${what} on nodes with time-sharing: GKE gives 1 to a container, and the pod fails (UnexpectedAdmissionError)`,
        span: spanOf(quantity.at),
        fixes: () => {
          const edits = replaceQuantities(context.document, writtenQuantities(request), 1);
          return [fix('Ask for one share', 'unsafe', edits)];
        },
      });
    }
  },
});

const strategy = 'cloud.google.com/gke-gpu-sharing-strategy';
