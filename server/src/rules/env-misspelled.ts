import { meantVariable } from '../catalog/variable-names.ts';
import { usesAccelerators } from '../evidence/launch.ts';
import type { Container } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { getIn, isTemplated, keySpanOf, spanOf } from '../yaml/cursor.ts';
import { renameKey, replaceScalar } from '../yaml/edit.ts';
import { defineRule } from './rule.ts';

/**
 * The name of a well-known environment variable is misspelled.
 *
 * ## Why
 *
 * No program rejects a variable that it does not know. NCCL then selects its own network interface, CUDA shows all GPUs, and a token or a
 * cache directory is missing, often without a message.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:1.4
 *       env:
 *         - name: NCCL_SOCKET_INFAME
 *           value: eth0
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml fixed
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:1.4
 *       env:
 *         - name: NCCL_SOCKET_IFNAME
 *           value: eth0
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the setting takes effect.
 *
 * ## When it is silent
 *
 * For containers without accelerators, if the command or a mounted script contains the name, if the correct name is also set, and for names
 * that may be those of other settings (`HF_TOKENS`).
 *
 * ## Sources
 *
 * - [NCCL: environment variables](https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html)
 * - [Hugging Face Hub: environment variables](https://huggingface.co/docs/huggingface_hub/package_reference/environment_variables)
 * - [PyTorch: torch.distributed](https://docs.pytorch.org/docs/stable/distributed.html)
 */
export default defineRule({
  topic: 'other',
  severity: 'warning',
  judgesWords: true,
  container(container, { workload, podSet, document, report }) {
    if (workload.role === 'infrastructure' || !usesAccelerators(container, podSet)) return;
    for (const { name, at } of container.env) {
      const meant = meantVariable(name);
      if (meant === undefined || isTemplated(at) || isUsed(name, meant, container)) continue;
      const written = getIn(at, 'name');
      // Chart values may map names to values.
      const isKey = written === undefined && at.step === name;
      if (written === undefined && !isKey) continue;
      report({
        message: `${name} is not a documented variable; did you mean ${meant}? As written, it has no effect`,
        span: written === undefined ? keySpanOf(at) : spanOf(written),
        fixes: () => {
          const edits =
            written === undefined ? renameKey(document, at, meant) : replaceScalar(document, written, meant);
          return [fix(`Rename it to ${meant}`, 'unsafe', edits)];
        },
      });
    }
  },
});

/** Whether a command or a script uses the name itself, or the correct name is also set. */
function isUsed(name: string, meant: string, { env, command, args, scripts }: Container): boolean {
  return (
    env.some((other) => other.name === meant || other.value?.value.includes(name)) ||
    [...command, ...args].some(({ value }) => value.includes(name)) ||
    scripts.some(({ text }) => text.includes(name))
  );
}
