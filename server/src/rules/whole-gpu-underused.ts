import { gpus, sliceGiB } from '../catalog/index.ts';
import { findSharding } from '../command/parallelism.ts';
import { formatHourly } from '../cost/format.ts';
import { estimateServing, type MemoryEstimate, usableGiB } from '../memory/serving.ts';
import type { Container, PodSet } from '../model/workload.ts';
import { type MigOption, migOptions, rewriteToMig, sliceForm } from '../rewrite/mig.ts';
import { rewriteToShared, sharedForm } from '../rewrite/shared.ts';
import { asked, askedSpan, isNoWorkload } from './asked.ts';
import { isLatencyCritical } from './latency.ts';
import { processInput, wholeGpus } from './process-input.ts';
import { hasRole } from './role.ts';
import { defineRule, type Fix, type PodSetContext } from './rule.ts';
import { shorten } from './shorten.ts';

/**
 * A model server has a whole GPU, and half of one would hold its model.
 *
 * ## Why
 *
 * A small model leaves most of a large card's memory empty, and the card is paid for as a whole. Where the weights, the cache of a request
 * of the longest length and what CUDA takes fit into half of the card, with `headroom` of it free, a MIG slice, a share of the card
 * or a smaller GPU serves the same requests. More memory is of use only for many requests at a time.
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
 * Unsafe: a part of a card answers fewer requests at a time, and needs nodes that are cut or shared that way.
 *
 * ## When it is silent
 *
 * For models and GPUs that are not known, for formats whose size is not known (AWQ, GPTQ, GGUF), for servers that scale out or are sized for many
 * requests (`--max-num-seqs` and the like), for those that span pods, where somebody says `latency-critical`, and for GPUs that are
 * shared already. `headroom` in the config is the share of memory to keep free: 0.1 unless it is told.
 *
 * ## Sources
 *
 * - [NVIDIA: MIG user guide](https://docs.nvidia.com/datacenter/tesla/mig-user-guide/)
 * - [LitGPT: the shapes of the models](https://github.com/Lightning-AI/litgpt/blob/main/litgpt/config.py)
 * - [vLLM: conserving memory](https://docs.vllm.ai/en/latest/configuration/conserving_memory/)
 */
export default defineRule({
  topic: 'sharing',
  severity: 'info',
  container(container, context) {
    const found = lonelyModel(container, context);
    if (found === undefined) return;
    const { count, gpu, memoryGiB, estimate, hourly } = found;
    const slice = count === 1 ? smallestSlice(found, context) : undefined;
    const held = `${count * memoryGiB} GB (${count === 1 ? '' : `${count} × `}${gpu})`;
    const enough = slice ? `MIG slice ${slice.profile.name}` : 'a share of the card or a smaller GPU';
    const price = slice?.hourly && hourly ? `, ${formatHourly(slice.hourly)} instead of ${formatHourly(hourly)}` : '';
    const [request] = asked(container);
    if (request === undefined) return;
    context.report({
      message: `${shorten(estimate.name)} needs about ${Math.ceil(estimate.neededGiB)} of ${held}: ${count > 1 ? 'one GPU' : enough} would do${price}`,
      span: askedSpan([request], container),
      fixes: () => (count === 1 ? [toSlice(slice, container, context), toShare(found, container, context)] : []),
      saving: savingOf(found, slice),
    });
  },
});

interface LonelyModel {
  readonly estimate: MemoryEstimate;
  /** GPUs of the container. */
  readonly count: number;
  readonly gpu: string;
  readonly gpuId: string;
  /** Of one GPU. */
  readonly memoryGiB: number;
  /** US dollars an hour of all its GPUs; null where no price is known. */
  readonly hourly: number | null;
}

/** A model that would fit into half of the first of its GPUs. */
function lonelyModel(container: Container, context: PodSetContext): LonelyModel | undefined {
  const { workload, podSet, options } = context;
  if (container.type !== 'app' || workload.partial || isNoWorkload(workload) || !hasRole(workload, 'serving')) return;
  // Who runs several needs the speed of each, and one part of a group holds a part of the model.
  if (podSet.pods.max !== 1 || workload.podSets.length > 1 || isLatencyCritical(workload)) return;
  const count = wholeGpus(container, podSet);
  if (count === null || count === 0 || findSharding(processInput(container))?.spansPods === true) return;
  const told = podSet.accelerators.find(({ resource }) => resource === asked(container)[0]?.resource)?.model;
  const gpu = gpus.get(told ?? '');
  if (gpu === undefined || gpu.memoryGiB === null || /all|memoryGiB/.test(gpu.unsourced.join(' '))) return;
  const estimate = estimateServing(container, workload);
  if (estimate === undefined || estimate.tuned) return;
  if (estimate.neededGiB > usableGiB(gpu.memoryGiB / 2, options.headroom)) return;
  const amount = context.costOf(workload).podSets.find(({ name }) => name === podSet.name)?.hourly;
  const alone = podSet.containers.filter((other) => asked(other).length > 0).length === 1;
  const hourly = alone && amount !== undefined && amount.min === amount.max ? amount.min : null;
  return { estimate, count, gpu: gpu.name, gpuId: gpu.id, memoryGiB: gpu.memoryGiB, hourly };
}

function smallestSlice({ estimate, gpuId, hourly }: LonelyModel, { podSet, options }: PodSetContext) {
  if (sliceForm(podSet, options) === undefined) return undefined;
  return migOptions(gpuId, hourly === null ? null : { min: hourly, max: hourly }).find(
    ({ profile, share }) => share <= 1 / 2 && usableGiB(sliceGiB(profile), options.headroom) >= estimate.neededGiB,
  );
}

function savingOf({ count, hourly }: LonelyModel, slice: MigOption | undefined): number | undefined {
  if (hourly === null) return undefined;
  if (count > 1) return hourly * (1 - 1 / count);
  return slice && hourly * (1 - slice.share);
}

function toSlice(slice: MigOption | undefined, container: Container, context: PodSetContext): Fix | undefined {
  const { document, podSet, options } = context;
  const form = sliceForm(podSet, options);
  const [request] = asked(container);
  if (slice === undefined || form === undefined || request === undefined) return undefined;
  return rewriteToMig(
    document,
    request,
    { container, podSet, gpu: gpuOf(podSet, request.resource) },
    slice.profile,
    form,
  );
}

function gpuOf({ accelerators }: PodSet, wanted: string) {
  return gpus.get(accelerators.find(({ resource }) => resource === wanted)?.model ?? '');
}

/** Where the project says among how many pods its nodes share a GPU, and the model fits into the share. */
function toShare({ estimate, memoryGiB }: LonelyModel, container: Container, context: PodSetContext): Fix | undefined {
  const { document, podSet, options } = context;
  const [request] = asked(container);
  const { replicas } = options.sharing;
  if (request === undefined || replicas === null) return undefined;
  if (usableGiB(memoryGiB / replicas, options.headroom) < estimate.neededGiB) return undefined;
  return rewriteToShared(document, request, podSet, options.sharing, sharedForm(podSet, options));
}
