import { isExempt, knownRequests, requestWords } from '../evidence/requested-accelerators.ts';
import { isValues } from '../model/values.ts';
import type { Workload } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { isTemplated, spanOf } from '../yaml/cursor.ts';
import { removeItem, removeKey } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule } from './rule.ts';

/**
 * NVIDIA_VISIBLE_DEVICES is set by hand.
 *
 * ## Why
 *
 * In this variable the device plugin passes a container's GPUs to NVIDIA's container runtime. A value in the manifest takes precedence: the
 * container gets GPUs that the scheduler does not count and may assign to another pod. Request `nvidia.com/gpu` instead. To let several pods
 * use one GPU, use time slicing, MPS or MIG.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: embed
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/embed:1.4
 *       env:
 *         - name: PORT
 *           value: "8080"
 *         - name: NVIDIA_VISIBLE_DEVICES
 *           value: all
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml fixed
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: embed
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/embed:1.4
 *       env:
 *         - name: PORT
 *           value: "8080"
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: a container that requests no GPU then has none.
 *
 * ## When it is silent
 *
 * For `none` and `void`, which remove GPUs, for unknown values, and for infrastructure. Next to a request in a chart's values, `all` is only
 * information: charts often repeat the default of CUDA images.
 *
 * ## Sources
 *
 * - [NVIDIA/k8s-device-plugin#87](https://github.com/NVIDIA/k8s-device-plugin/issues/87)
 * - [NVIDIA/k8s-device-plugin#195](https://github.com/NVIDIA/k8s-device-plugin/issues/195)
 */
export default defineRule({
  topic: 'gpu-request',
  severity: 'warning',
  container(container, context) {
    const env = container.env.find(({ name }) => name === 'NVIDIA_VISIBLE_DEVICES');
    const value = env?.value;
    if (env === undefined || value === undefined || isTemplated(value.at) || isExempt(context.workload)) return;
    if (!/^(?:all|\d+(?:,\d+)*|(?:GPU|MIG)-[\w/,-]+)$/.test(value.value)) return;
    const requests = knownRequests(container);
    const effect =
      requests.length === 0
        ? 'bypasses the scheduler: another pod can get the same GPU'
        : `overrides the ${requestWords(requests)} that the device plugin assigns`;
    context.report({
      severity: isCopiedDefault(value.value, requests.length, context.workload) ? 'info' : 'warning',
      message: `NVIDIA_VISIBLE_DEVICES=${shorten(value.value, 30)} ${effect}`,
      span: spanOf(value.at),
      fixes: () => {
        // Chart values may map names to values.
        const remove = typeof env.at.step === 'number' ? removeItem : removeKey;
        return [fix('Remove NVIDIA_VISIBLE_DEVICES', 'unsafe', remove(context.document, env.at))];
      },
    });
  },
});

/** CUDA images set `all` themselves, and values for charts of home servers repeat it: most of their nodes have one GPU. */
function isCopiedDefault(value: string, requests: number, workload: Workload): boolean {
  return value === 'all' && requests > 0 && isValues(workload);
}
