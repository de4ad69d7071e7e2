import { imageParts, isPublishedAs } from '../catalog/images.ts';
import { type GpuModel, gpus, sliceGiB, usableCardGiB } from '../catalog/index.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { findSharding, findSingleDevice } from '../command/parallelism.ts';
import { type MigOption, migOptions } from '../cost/mig-options.ts';
import { formatGiB, formatHourly, formatNumber } from '../cost/money.ts';
import { partSaving } from '../cost/savings.ts';
import { endsByChart, mayBeCompleted, mayBeRendered } from '../evidence/chart-pods.ts';
import { spansPods } from '../evidence/gpu-assignment.ts';
import { isLatencyCritical } from '../evidence/latency.ts';
import { processInput, serverOfImage, wholeGpus } from '../evidence/launch.ts';
import { isExempt, knownRequests, requestSpan } from '../evidence/requested-accelerators.ts';
import { estimateOn, isEnough, usableGiB } from '../memory/fit.ts';
import { estimateServing, type MemoryEstimate } from '../memory/serving.ts';
import { useOf } from '../model/process-input.ts';
import { acceleratorByName } from '../model/requested-resource.ts';
import { isWhole, type ServedModel, servedModel } from '../model/served-model.ts';
import type { AcceleratorRequest, Container } from '../model/workload.ts';
import type { Fix } from '../rewrite/fix.ts';
import { rewriteToMig, sliceForm } from '../rewrite/mig.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A model server requests a whole GPU, but its model fits in half of one.
 *
 * ## Why
 *
 * A small model leaves most of a large GPU's memory empty, but the whole GPU costs money. If the weights, the KV cache of one request of
 * maximum length and the server's own overhead fit in half of the memory, with `headroom` of it free, then a MIG slice, a share of the GPU
 * or a smaller GPU can serve the same requests. More memory helps only with many concurrent requests.
 *
 * Servers that share a GPU through time slicing or MPS must be configured for it. vLLM takes 90% of the memory unless
 * `--gpu-memory-utilization` is lower, and SGLang and TGI behave similarly: the second server does not start. A MIG slice has its own
 * memory.
 *
 * ```yaml invalid
 * apiVersion: apps/v1
 * kind: Deployment
 * metadata:
 *   name: chat
 * spec:
 *   selector:
 *     matchLabels: {app: chat}
 *   template:
 *     metadata:
 *       labels: {app: chat}
 *     spec:
 *       nodeSelector:
 *         nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3
 *       containers:
 *         - name: main
 *           image: registry.example/vllm:0.11.0
 *           command: [vllm, serve, Qwen/Qwen3-4B]
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 1
 * ```
 *
 * ```yaml fixed
 * apiVersion: apps/v1
 * kind: Deployment
 * metadata:
 *   name: chat
 * spec:
 *   selector:
 *     matchLabels: {app: chat}
 *   template:
 *     metadata:
 *       labels: {app: chat}
 *     spec:
 *       nodeSelector:
 *         nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3
 *       containers:
 *         - name: main
 *           image: registry.example/vllm:0.11.0
 *           command: [vllm, serve, Qwen/Qwen3-4B]
 *           resources:
 *             limits:
 *               nvidia.com/mig-1g.20gb: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: a slice serves fewer concurrent requests and needs nodes that are partitioned this way.
 *
 * ## When it is silent
 *
 * For unknown models, except those of Whisper servers, which are all small; for formats of unknown size; on unknown GPUs and with several pods,
 * unless the model is tiny; for servers that are sized for many requests (`--max-num-seqs` and the like) or use less memory than usual, but more than
 * 40% of a GPU that is not known to be shared; for jobs that end; with other processes next to the server; in templates; if a file, a runtime or a variable may add settings that are not
 * read; for groups of pods; for `latency-critical` ones; and for GPUs that are already shared. Several GPUs are reported only if the model
 * needs less than a tenth of their memory, because a model is also split to answer faster, and only if the server uses them. `headroom` in the
 * config is the share of memory to keep free (default 0.1).
 *
 * ## Sources
 *
 * - [NVIDIA: MIG user guide](https://docs.nvidia.com/datacenter/tesla/mig-user-guide/)
 * - [LitGPT: model shapes](https://github.com/Lightning-AI/litgpt/blob/main/litgpt/config.py)
 * - [vLLM: conserving memory](https://docs.vllm.ai/en/latest/configuration/conserving_memory/)
 */
export default defineRule({
  topic: 'sharing',
  severity: 'info',
  container(container, context) {
    const found = findSmallModel(container, context);
    if (found === undefined) {
      reportTinyModel(container, context);
      return;
    }
    const { request, count, gpu, estimate, cardGiB, hourly } = found;
    const slice = count === 1 ? smallestSlice(found, context) : undefined;
    const held = `${formatGiB(count * cardGiB)} GiB (${count === 1 ? '' : `${count} × `}${gpu.name})`;
    const price =
      slice?.hourly && hourly !== null ? `, ${formatHourly(slice.hourly)} instead of ${formatHourly(hourly)}` : '';
    const sharding = findSharding(processInput(container));
    const alone = sharding === undefined ? '' : `, without ${shorten(sharding.text, 30)}`;
    const enough = slice ? sliceWords(found, slice) : 'part of the GPU is enough';
    context.report({
      message: `${shorten(estimate.name)} needs about ${formatGiB(estimate.neededGiB)} of ${held}: ${count > 1 ? `one GPU is enough${alone}` : `${enough}${price}`}`,
      span: requestSpan([request], container),
      fixes: () => [slice && toSlice(found, slice, container, context)],
      saving: savingOf(found, slice),
    });
  },
});

interface SmallModel {
  /** On one GPU. */
  readonly served: ServedModel;
  readonly estimate: MemoryEstimate;
  /** What a process finds on each GPU. */
  readonly cardGiB: number;
  readonly request: AcceleratorRequest;
  /** The container's GPUs. */
  readonly count: number;
  readonly gpu: GpuModel;
  /** US dollars per hour for all of them; null: the price is unknown. */
  readonly hourly: number | null;
}

/** A model that fits in half of one of its GPUs. */
function findSmallModel(container: Container, context: PodSetContext): SmallModel | undefined {
  const { workload, podSet, options } = context;
  if (mayBeCompleted(workload) || isExempt(workload) || !runsAlone(context)) return undefined;
  const [request, ...others] = knownRequests(container);
  const count = wholeGpus(container, podSet);
  // Only NVIDIA GPUs are partitioned and shared in the same way in every cluster.
  if (request?.resource !== 'nvidia.com/gpu' || others.length > 0 || count === null) return undefined;
  // tensor-parallel-missing reports GPUs that the server does not use at all.
  if (count > 1 && findSingleDevice(processInput(container), serverOfImage(container)) !== undefined) return undefined;
  const inPod = acceleratorByName(podSet.accelerators, request.resource);
  // The size of a card that only a name or a comment suggests proves nothing.
  const gpu = inPod?.modelHint === undefined ? gpus.get(inPod?.model ?? '') : undefined;
  const memory = gpu === undefined ? null : usableCardGiB(gpu);
  const { model: served } = servedModel(container, workload);
  if (gpu === undefined || memory === null || served === null || served.tuned || !isWhole(served)) return undefined;
  const alone = { ...served, tensor: 1, pipeline: 1 };
  const estimate = estimateOn(alone, { eachGiB: memory, count: 1, card: gpu.id });
  if (estimate?.basis !== 'name' || !isEnough(alone, { eachGiB: memory / 2, count: 1 }, options.headroom))
    return undefined;
  if (count > 1 && estimate.neededGiB > usableGiB((memory * count) / 10, options.headroom)) return undefined;
  const amount = context.costOf(workload).podSets.find(({ name }) => name === podSet.name)?.hourly;
  const isOnlyHolder = podSet.containers.filter((other) => knownRequests(other).length > 0).length === 1;
  const hourly = isOnlyHolder && amount !== undefined && amount.min === amount.max ? amount.min : null;
  return { served: alone, estimate, cardGiB: memory, request, count, gpu, hourly };
}

/** Memory that every GPU in use for servers has several times. */
const tinyGiB = 4;
/** Several replicas are there for speed, so only models that leave nearly all memory empty are reported. */
const tinyShare = 0.15;

/** GiB that servers need for the largest of their models. https://github.com/openai/whisper#available-models-and-languages */
const smallServers: ReadonlyMap<string, number> = new Map(
  ['whisper', 'wyoming', 'speaches'].map((program) => [program, 10]),
);

/** Whether a container runs a published image without settings by which it loads a model several times or transcribes much at once. */
function isSmallServer({ image, command, args, env }: Container): boolean {
  const { repository } = imageParts(image?.value ?? '');
  const isPublished = isPublishedAs(publishedServers, repository) || /(?:^|\/)wyoming-[a-z-]+$/.test(repository);
  if (command.length > 0 || !isPublished) return false;
  return ![...args.map(({ value }) => value), ...env.map(({ name }) => name)].some((one) =>
    /workers|batch|parallel|engine|diari|whisperx/i.test(one),
  );
}

/** https://github.com/speaches-ai/speaches https://github.com/ahmetoner/whisper-asr-webservice */
const publishedServers = wordSet('speaches faster-whisper faster-whisper-server openai-whisper-asr-webservice');

/** A server that reserves so little of a whole GPU would run on the smaller half of it. */
const littleFraction = 0.4;

/** A small reservation, or a tiny model on each GPU of a replicated or scaled service, or on one of an unknown model. */
function reportTinyModel(container: Container, context: PodSetContext): void {
  const { workload, podSet, report } = context;
  const [request, ...others] = knownRequests(container);
  if (mayBeCompleted(workload) || isExempt(workload) || !keepsRunning(context) || others.length > 0) return;
  if (request?.resource !== 'nvidia.com/gpu' || wholeGpus(container, podSet) !== 1) return;
  const { model: served } = servedModel(container, workload);
  const fraction = served?.fraction ?? 1;
  if (fraction > 0 && fraction <= littleFraction) {
    report({
      message: `The server uses ${formatNumber(fraction * 100)}% of its GPU's memory, and no other pod the rest unless nodes share GPUs: request part of a GPU, or raise the fraction`,
      span: requestSpan([request], container),
    });
    return;
  }
  const inPod = acceleratorByName(podSet.accelerators, request.resource);
  const gpu = gpus.get(inPod?.model ?? '');
  const memory = gpu === undefined ? null : usableCardGiB(gpu);
  const program = useOf(container).program ?? '';
  const isPlain = inPod?.modelHint === undefined && served === null && isSmallServer(container);
  const most = isPlain ? smallServers.get(program) : undefined;
  if (most !== undefined && gpu !== undefined && memory !== null && most <= memory / 3) {
    report({
      message: `The ${program} server needs at most about ${most} of ${formatGiB(memory)} GiB (${gpu.name}): part of the GPU is enough`,
      span: requestSpan([request], container),
    });
    return;
  }
  if (served === null || served.tuned || !isWhole(served) || spansPods(workload)) return;
  const { estimate } = estimateServing(
    { model: served, unknown: null },
    { cardGiB: memory, gpus: 1, ...(gpu && { card: gpu.id }) },
  );
  if (estimate?.basis !== 'name' || (memory !== null && podSet.pods.max === 1)) return;
  const { neededGiB, devices, name } = estimate;
  if (devices > 1 || neededGiB > (memory === null ? tinyGiB : memory * tinyShare)) return;
  const card = gpu === undefined || memory === null ? 'a whole GPU' : `a whole ${gpu.name} (${formatGiB(memory)} GiB)`;
  report({
    message: `${shorten(name)} needs about ${formatGiB(neededGiB)} GiB, but each pod holds ${card}: part of the GPU is enough`,
    span: requestSpan([request], container),
  });
}

/** One pod that keeps running. Several replicas are there for speed, and a member of a group holds only a part of the model. */
function runsAlone(context: PodSetContext): boolean {
  return keepsRunning(context) && context.podSet.pods.max === 1;
}

function keepsRunning({ workload, podSet }: PodSetContext): boolean {
  const ends = (podSet.restartPolicy !== undefined && podSet.restartPolicy.value !== 'Always') || endsByChart(workload);
  // A template may render scalers and flags with some values only.
  if (mayBeRendered(workload) || ends || isLatencyCritical(workload)) return false;
  return workload.podSets.length === 1;
}

function smallestSlice({ served, gpu, hourly }: SmallModel, { podSet, options }: PodSetContext): MigOption | undefined {
  if (sliceForm(podSet, options) === undefined) return undefined;
  return migOptions(gpu.id, hourly === null ? null : { min: hourly, max: hourly }).find(
    ({ profile, share }) =>
      share <= 1 / 2 && isEnough(served, { eachGiB: sliceGiB(profile), count: 1 }, options.headroom),
  );
}

/** What the server needs there differs: on a large GPU it takes larger buffers. */
function sliceWords({ served }: SmallModel, { profile }: MigOption): string {
  const haveGiB = sliceGiB(profile);
  const estimate = estimateOn(served, { eachGiB: haveGiB, count: 1 });
  const need = estimate === null ? '' : ` (${formatGiB(estimate.neededGiB)} of ${formatGiB(haveGiB)} GiB)`;
  return `MIG slice ${profile.name} is enough${need}`;
}

function savingOf({ count, hourly }: SmallModel, slice: MigOption | undefined): number | undefined {
  if (hourly === null) return undefined;
  if (count > 1) return partSaving(hourly, 1 / count);
  return slice && partSaving(hourly, slice.share);
}

function toSlice(
  { request, gpu }: SmallModel,
  { profile }: MigOption,
  container: Container,
  { document, podSet, options }: PodSetContext,
): Fix | undefined {
  const form = sliceForm(podSet, options);
  return form && rewriteToMig(document, request, { container, podSet, gpu }, profile, form);
}
