import { readFlags } from '../command/flags.ts';
import { allCommands, readCommandLine } from '../command/shell.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { groupOf } from '../model/manifest.ts';
import { useOf } from '../model/process-input.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { asNumber, asText, type Cursor, getIn, spanOf } from '../yaml/cursor.ts';
import { removeKey } from '../yaml/edit.ts';
import { defineRule } from './rule.ts';

/**
 * A model server handles one request at a time.
 *
 * ## Why
 *
 * A GPU answers many requests of a language model in nearly the time of one, because it reads the weights once for the whole batch. A limit of
 * one concurrent request (`containerConcurrency: 1`, `--max-num-seqs=1`) leaves most of the GPU idle, and each further request waits or starts
 * another replica with its own GPU.
 *
 * ```yaml invalid
 * apiVersion: serving.kserve.io/v1beta1
 * kind: InferenceService
 * metadata:
 *   name: chat
 * spec:
 *   predictor:
 *     containerConcurrency: 1
 *     model:
 *       modelFormat:
 *         name: huggingface
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml fixed
 * apiVersion: serving.kserve.io/v1beta1
 * kind: InferenceService
 * metadata:
 *   name: chat
 * spec:
 *   predictor:
 *     model:
 *       modelFormat:
 *         name: huggingface
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: a server that cannot handle concurrent requests would receive them.
 *
 * ## When it is silent
 *
 * For servers of images and other tasks, whose requests may need the whole GPU, unless they are language model servers by their image or
 * their model format.
 *
 * ## Sources
 *
 * - [Knative: concurrency](https://knative.dev/docs/serving/autoscaling/concurrency/)
 * - [vLLM: optimization and tuning](https://docs.vllm.ai/en/latest/configuration/optimization/)
 */
export default defineRule({
  topic: 'cost',
  severity: 'info',
  podSet(podSet, { workload, document, report }) {
    if (!requestsAccelerators(podSet)) return;
    const limit = concurrencyOf(podSet, workload);
    if (limit === undefined || asNumber(limit) !== 1 || !servesLanguageModel(podSet)) return;
    report({
      message:
        'containerConcurrency 1 sends one request at a time to the GPU: the server cannot batch, and the GPU is mostly idle',
      span: spanOf(limit),
      fixes: () => [fix('Remove containerConcurrency', 'unsafe', removeKey(document, limit))],
    });
  },
  container(container, { document, report }) {
    if (container.type !== 'app' || !requestsAccelerators(container)) return;
    const lines = [...container.command, ...container.args];
    const { statements } = readCommandLine(
      container.command.map(({ value }) => value),
      container.args.map(({ value }) => value),
    );
    for (const { words } of allCommands(statements)) {
      for (const flag of readFlags(words)) {
        if (!oneAtATime.has(flag.name) || flag.value !== '1' || flag.dynamic) continue;
        if (!batching.has(useOf(container).program ?? '')) continue;
        const span = spanOfWords(document, lines, [flag.word, flag.valueWord ?? flag.word]);
        if (span === undefined) continue;
        report({
          message: `--${flag.written} 1 makes the server answer one request at a time: the GPU is mostly idle`,
          span,
        });
      }
    }
  },
});

/** https://docs.vllm.ai/en/latest/cli/serve/ https://docs.sglang.io/advanced_features/server_arguments.html */
const oneAtATime = new Set(['max-num-seqs', 'max-running-requests', 'max-concurrent-requests', 'max-batch-size']);
const batching = new Set(['vllm', 'sglang', 'text-generation-launcher', 'huggingfaceserver', 'kserve', 'trtllm-serve']);

function concurrencyOf({ name, pod }: PodSet, { kind, apiVersion, manifest }: Workload): Cursor | undefined {
  if (kind === 'InferenceService') return getIn(manifest.root, 'spec', name, 'containerConcurrency');
  if (groupOf(apiVersion) !== 'serving.knative.dev') return undefined;
  return getIn(pod, 'containerConcurrency');
}

function servesLanguageModel({ containers, pod }: PodSet): boolean {
  if (containers.some((container: Container) => batching.has(useOf(container).program ?? ''))) return true;
  const format = getIn(pod, 'model', 'modelFormat', 'name');
  const runtime = asText(getIn(pod, 'model', 'runtime')) ?? '';
  if (/(?:^|[^a-z])(?:vllm|sglang|tgi|huggingfaceserver)(?:[^a-z]|$)/i.test(runtime)) return true;
  return format?.node.kind === 'scalar' && /^(?:huggingface|vllm)$/i.test(String(format.node.value));
}
