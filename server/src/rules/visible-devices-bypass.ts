import { isExempt, knownRequests, requestWords } from '../evidence/requests.ts';
import type { Container } from '../model/workload.ts';
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
 * The variable is how the device plugin tells NVIDIA's runtime which GPUs a container may use. Set in a manifest it wins over what the
 * plugin says: the container gets GPUs that the scheduler has not counted and may give to another pod as well. Ask for
 * `nvidia.com/gpu` instead; to let several pods use one card, use time slicing, MPS or MIG.
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
 * Unsafe: a container that asks for no GPU then has none.
 *
 * ## When it is silent
 *
 * For `none` and `void`, which take GPUs away, for values that are not known, and for infrastructure. Beside a limit of 0 the card is shared
 * on purpose, so it is told as advice.
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
    const instead =
      requests.length === 0
        ? 'takes GPUs that nobody counts, and the scheduler may give them to another pod'
        : `overrides the ${requestWords(requests)} that the device plugin hands out`;
    context.report({
      // Who writes a limit of 0 beside it shares the card on purpose.
      severity: requests.length === 0 && isToldNone(container) ? 'info' : 'warning',
      message: `NVIDIA_VISIBLE_DEVICES=${shorten(value.value, 30)} ${instead}`,
      span: spanOf(value.at),
      fixes: () => {
        // Values of a chart may be a mapping of names.
        const remove = typeof env.at.step === 'number' ? removeItem : removeKey;
        return [fix('Remove NVIDIA_VISIBLE_DEVICES', 'unsafe', remove(context.document, env.at))];
      },
    });
  },
});

function isToldNone({ accelerators }: Container): boolean {
  return accelerators.some(({ count }) => count === 0);
}
