import { findSharding, type Sharding } from '../command/parallelism.ts';
import { findLocalProcesses } from '../command/processes.ts';
import { plural } from '../cost/format.ts';
import { processInput, wholeGpus } from '../evidence/processes.ts';
import { hasRun } from '../evidence/run-status.ts';
import type { Container, Workload } from '../model/workload.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { type Cursor, getIn, spanOf } from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A model server is split over more, or fewer, GPUs than its container has.
 *
 * ## Why
 *
 * With tensor parallelism each GPU holds a part of every layer, one process a GPU. Told to use more GPUs than there are, the server does
 * not start. Told to use fewer, it leaves the others idle, and they are paid for like those that work. Pipeline and data parallelism
 * multiply the number.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: llm
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/vllm:0.11.0
 *       command: [vllm, serve, /models/llm]
 *       args:
 *         - --tensor-parallel-size
 *         - "4"
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 8
 * ```
 *
 * ```yaml fixed
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: llm
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/vllm:0.11.0
 *       command: [vllm, serve, /models/llm]
 *       args:
 *         - --tensor-parallel-size
 *         - "8"
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 8
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the number of attention heads must be divisible by it, and asking for another number of GPUs is as good an answer.
 *
 * ## When it is silent
 *
 * For servers that span several pods (LeaderWorkerSet, Ray, multi-node KServe, `--nnodes`), for several servers in one container, where
 * CUDA_VISIBLE_DEVICES deals the GPUs out, for shares of cards, and where a part of the product is not known.
 *
 * ## Sources
 *
 * - [vLLM: parallelism and scaling](https://docs.vllm.ai/en/latest/serving/parallelism_scaling/)
 * - [vllm-project/vllm#8908](https://github.com/vllm-project/vllm/issues/8908)
 * - [kserve/kserve#6044](https://github.com/kserve/kserve/issues/6044)
 */
export default defineRule({
  topic: 'parallelism',
  severity: 'error',
  container(container, context) {
    const gpus = wholeGpus(container, context.podSet);
    if (gpus === null || gpus === 0 || container.type === 'init' || spansPods(context.workload)) return;
    const sharding = findSharding(processInput(container));
    if (sharding === undefined || sharding.spansPods || isDealtOut(container)) return;
    const { tensor, devices, text } = sharding;
    const used = Math.max(tensor, devices ?? tensor);
    if (used === gpus || (used < gpus && devices === null)) return;
    // A server that ran has its devices from elsewhere.
    if (used > gpus && hasRun(context.workload.manifest)) return;
    const place = placeOf(sharding, container, context);
    if (place === undefined) return;
    const product = devices !== null && devices !== tensor ? ` makes ${devices} processes` : '';
    const consequence =
      used > gpus
        ? 'the server does not start'
        : `${plural(gpus - used, 'GPU')} ${gpus - used === 1 ? 'is' : 'are'} held and not used`;
    context.report({
      severity: used > gpus ? 'error' : 'warning',
      message: `${shorten(text)}${product} with ${plural(gpus, 'GPU')} in the container: ${consequence}`,
      span: place.span,
      fixes: () => [devices === tensor ? setTensor(place.value, tensor, gpus, context) : undefined],
    });
  },
});

/** Kinds in which several pods serve one model: their sizes are another question. */
function spansPods({ kind, apiVersion, podSets, manifest }: Workload): boolean {
  if (/^(ray\.io|leaderworkerset|jobset|batch\.volcano|orchestration\.aibrix)/.test(apiVersion)) return true;
  if (/^(LLMInferenceService|Dynamo|Roleset|StormService|RayCluster|PodGroup|PodClique)/i.test(kind)) return true;
  if (podSets.some(({ name }) => /worker/i.test(name))) return true;
  return (
    getIn(manifest.root, 'spec', 'multiNode') !== undefined || getIn(manifest.root, 'spec', 'workerSpec') !== undefined
  );
}

/** Somebody has dealt the GPUs out by hand, or a launcher starts several processes that each are told. */
function isDealtOut(container: Container): boolean {
  const { env, command, args } = container;
  const isMask = (text: string) => /(CUDA|HIP|ROCR|HABANA)_VISIBLE_(DEVICES|MODULES)/.test(text);
  if (env.some(({ name }) => isMask(name)) || [...command, ...args].some(({ value }) => isMask(value))) return true;
  return findLocalProcesses(processInput(container)).some(({ kind }) => kind === 'launch');
}

interface Place {
  readonly span: ReturnType<typeof spanOf>;
  /** The scalar that holds the number. */
  readonly value: Cursor | undefined;
}

function placeOf({ words, variable }: Sharding, container: Container, { document }: PodSetContext): Place | undefined {
  if (words === undefined) {
    const value = container.env.find(({ name }) => name === variable)?.value;
    return value && { span: spanOf(value.at), value: value.at };
  }
  const lines = [...container.command, ...container.args];
  const span = spanOfWords(document, lines, words);
  return span && { span, value: lines[words[1].item]?.at };
}

/** Only where the number, or the flag with its number, is a scalar of its own: scripts are left to people. */
function setTensor(value: Cursor | undefined, from: number, to: number, { document }: PodSetContext): Fix | undefined {
  if (value?.node.kind !== 'scalar') return undefined;
  const match = /^(--?[\w-]+=)?(\d+)$/.exec(value.node.source);
  if (match === null || Number(match[2]) !== from) return undefined;
  const text = `${match[1] ?? ''}${to}`;
  const edits = replaceScalar(document, value, typeof value.node.value === 'number' ? to : text);
  return fix(`Split the model over ${plural(to, 'GPU')}`, 'unsafe', edits);
}
