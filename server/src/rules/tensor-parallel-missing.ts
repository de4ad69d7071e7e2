import { imageParts } from '../catalog/images.ts';
import { titleOf } from '../catalog/program-records.ts';
import { either, partOf } from '../catalog/word-patterns.ts';
import { findSingleDevice, type SingleDeviceServer } from '../command/parallelism.ts';
import { plural } from '../cost/money.ts';
import { hasAllContainers, mayBeCompleted } from '../evidence/chart-pods.ts';
import { withoutComments } from '../evidence/device-words.ts';
import { assignsGpus, spansPods } from '../evidence/gpu-assignment.ts';
import {
  mayHaveVariables,
  mayRunMore,
  processInput,
  servedFlags,
  serverOfImage,
  wholeGpus,
} from '../evidence/launch.ts';
import { mayMountMore } from '../evidence/volume-lifetime.ts';
import { isValues } from '../model/values.ts';
import type { Container, Workload } from '../model/workload.ts';
import { addItem } from '../rewrite/add-item.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { mountMemory } from '../rewrite/memory-volume.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { asBoolean, asText, entries, getIn, isIncomplete, isTemplated, keyOf, spanOf } from '../yaml/cursor.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { once } from '../yaml/once.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A model server uses one of several GPUs because its tensor parallel size is 1 by default.
 *
 * ## Why
 *
 * vLLM, SGLang, LMDeploy and TensorRT-LLM load the whole model onto one GPU unless a flag spreads it over several. The other GPUs of the
 * container stay idle at full price, and a model that needs them all does not fit. Text Embeddings Inference always uses one.
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
 *       command: [vllm, serve]
 *       args:
 *         - /models/llm
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 4
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
 *       command: [vllm, serve]
 *       args:
 *         - /models/llm
 *         - "--tensor-parallel-size=4"
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 4
 *       volumeMounts:
 *         - name: shm
 *           mountPath: /dev/shm
 *   volumes:
 *     - name: shm
 *       emptyDir:
 *         medium: Memory
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the number of attention heads must be divisible by the size, and requesting one GPU is an equally valid fix.
 *
 * ## When it is silent
 *
 * For servers that use all GPUs by default (Text Generation Inference, llama.cpp, Ollama); with pipeline or data parallelism; for servers
 * that span several pods (LeaderWorkerSet, Ray); for several servers in one container; if a variable, a settings file or a word without a
 * known value may contain the flag; and for definitions and Helm values, except those that have all containers (app-template) and models of
 * vLLM's production stack. Values of other charts with a command line and a model, but nothing for a size, are **information**: a template may
 * add the flag. That of llm-d does not add it to a custom command.
 *
 * ## Sources
 *
 * - [vLLM: parallelism and scaling](https://docs.vllm.ai/en/latest/serving/parallelism_scaling/)
 * - [SGLang: server arguments](https://docs.sglang.ai/advanced_features/server_arguments.html)
 * - [llm-d/llm-d#1101](https://github.com/llm-d/llm-d/issues/1101)
 * - [huggingface/text-embeddings-inference#349](https://github.com/huggingface/text-embeddings-inference/issues/349)
 */
export default defineRule({
  topic: 'parallelism',
  severity: 'warning',
  wasteful: true,
  container(container, context) {
    const { workload, podSet, document } = context;
    const gpus = wholeGpus(container, podSet);
    // A list of values is replaced as a whole, so nothing adds to an item of which a known template makes the container.
    const isWhole = isJudged(workload) || container.fromTemplate === true || hasOwnCommand(container, context);
    const isOpen = !isWhole && namesModelAlone(container, context);
    if (gpus === null || gpus < 2 || container.type !== 'app' || !(isOpen || isWhole)) return;
    if (mayHaveVariables(container) || assignsGpus(container)) return;
    const lines = [...container.command, ...container.args];
    if (lines.some(({ at }) => isTemplated(at)) || mayRunMore(container)) return;
    // A line that is not read may have the arguments.
    if (container.args.length === 0 && isIncomplete(container.at)) return;
    const server = findSingleDevice(processInput(container), serverOfImage(container), isOriginal(container));
    const bare = lines.length === 0 ? container.image?.at : undefined;
    const span = server?.words === undefined ? bare && spanOf(bare) : spanOfWords(document, lines, server.words);
    if (server === undefined || span === undefined) return;
    const { program, flag, ignored } = server;
    const idle = gpus - 1;
    const title = titleOf(program);
    const without = flag === '' ? '' : ` without ${flag}`;
    const cause = ignored === undefined ? title : `${title} does not read ${shorten(ignored, 40)} and`;
    context.report({
      // Another image may have its own entrypoint.
      severity: !isOpen && (bare === undefined || isOriginal(container)) ? 'warning' : 'info',
      message: `${cause}${without} uses 1 of the container's ${gpus} GPUs: ${plural(idle, 'GPU')} ${idle === 1 ? 'stays' : 'stay'} idle`,
      // A whole command may have dozens of lines.
      span: { start: span.start, end: Math.min(span.end, endOfLine(document.text, span.start)) },
      fixes: () => (flag === '' ? [] : [addFlag(server, gpus, container, context)]),
    });
  },
});

/** Other objects add flags to definitions and patches, and operators to kinds with their own fields. */
function isJudged(workload: Workload): boolean {
  const { role, byShape } = workload;
  return role !== 'definition' && !mayBeCompleted(workload) && !byShape && !spansPods(workload);
}

/**
 * Whether llm-d's chart adds no arguments to those of a container of one pod, as it does with other commands.
 * https://github.com/llm-d-incubation/llm-d-modelservice/blob/main/charts/llm-d-modelservice/templates/_helpers.tpl
 */
function hasOwnCommand({ at, command }: Container, { podSet, workload }: PodSetContext): boolean {
  const sizes = getIn(podSet.pod, 'parallelism');
  return (
    isValues(workload) &&
    command.length > 0 &&
    asText(getIn(at, 'modelCommand')) === 'custom' &&
    entries(sizes).every((size) => keyOf(size) === 'tensor')
  );
}

/** Whether values have a command line with its model, to which a template hardly adds a size that no value is for. */
function namesModelAlone(container: Container, { workload, document }: PodSetContext): boolean {
  if (!isValues(workload) || hasAllContainers(workload)) return false;
  if (hasSize(document)) return false;
  const model = servedFlags(container)?.model?.value;
  const { command, args } = container;
  // Settings under the names of flags are not in a list. A well-known chart makes the word of an address.
  return [...command, ...args].some(
    ({ value, at }) => value === model && (typeof at.step === 'number' || asText(at) !== value),
  );
}

const hasSize = once(({ text }: YamlDocument) => mayHaveSize.test(withoutComments(text)));

const mayHaveSize = either(partOf('parallel tensor shard', 'values-?from values-?files?'), /\btp\b|_size\b/);

/** Whether the image is the one that the project of the server publishes, whose entrypoint is the server itself. */
function isOriginal({ image }: Container): boolean {
  return image !== undefined && /(?:^|\/)vllm\/vllm-(?:openai|tpu)$/.test(imageParts(image.value).repository);
}

function endOfLine(text: string, from: number): number {
  const end = text.slice(from).search(/\r?\n/);
  return end < 0 ? text.length : from + end;
}

/** Appends the flag to a list of words. A script is left alone. */
function addFlag(
  { flag, words }: SingleDeviceServer,
  gpus: number,
  container: Container,
  context: PodSetContext,
): Fix | undefined {
  const { command, args } = container;
  const lines = [...command, ...args];
  const isList = lines.every(({ value }, index) => index === 0 || !/\s/.test(value));
  if (!isList || (words?.[1].item ?? -1) !== lines.length - 1) return undefined;
  const key = args.length > 0 || command.length === 0 ? 'args' : 'command';
  const { document, podSet, workload } = context;
  // The part of values that has the list, and whether the chart reads volumes, are unknown.
  const isOpen = isValues(workload) && !hasAllContainers(workload);
  if (isOpen && getIn(container.at, key) === undefined) return undefined;
  // Its processes exchange tensors through shared memory.
  const hasMemory =
    isOpen ||
    mayMountMore(container) ||
    container.volumeMounts.some(({ mountPath }) => /^\/dev(?:\/shm)?\/?$/.test(mountPath)) ||
    asBoolean(getIn(podSet.pod, 'hostIPC')) === true;
  // Charts have volumes in other places than pods.
  if (!hasMemory && isValues(workload)) return undefined;
  return fix(
    `Add ${flag}=${gpus}${hasMemory ? '' : ' and a volume at /dev/shm'}`,
    'unsafe',
    addItem(document, container.at, key, `${flag}=${gpus}`),
    ...(hasMemory ? [] : mountMemory(document, container, podSet)),
  );
}
