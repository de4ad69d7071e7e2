import { deviceGiB, type GpuModel, gpus, sliceGiB } from '../catalog/index.ts';
import { findSharding } from '../command/parallelism.ts';
import { formatHourly } from '../cost/format.ts';
import { type MigOption, migOptions } from '../cost/mig-options.ts';
import { partSaving } from '../cost/savings.ts';
import { isLatencyCritical } from '../evidence/latency.ts';
import { processInput, wholeGpus } from '../evidence/processes.ts';
import { isExempt, knownRequests, requestSpan } from '../evidence/requests.ts';
import { usableGiB } from '../memory/fit.ts';
import { estimateServing, type MemoryEstimate } from '../memory/serving.ts';
import { acceleratorByName } from '../model/requested-resource.ts';
import { servedModel } from '../model/served-model.ts';
import type { AcceleratorRequest, Container } from '../model/workload.ts';
import type { Fix } from '../rewrite/fix.ts';
import { rewriteToMig, sliceForm } from '../rewrite/mig.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A model server has a whole GPU, and half of one would hold its model.
 *
 * ## Why
 *
 * A small model leaves most of a large card's memory empty, and the card is paid for as a whole. Where the weights, the cache of a request
 * of the longest length and what the server takes beside them fit into half of the card, with `headroom` of it free, a MIG slice, a share of
 * the card or a smaller GPU answers the same requests. More memory is of use for many requests at a time.
 *
 * Servers that share a card in turns (time slices, MPS) have to be told so: vLLM takes nine tenths of the card unless
 * `--gpu-memory-utilization` says less, SGLang and TGI do alike, and then the second one does not start. A MIG slice has a wall of its own.
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
 * Unsafe: a slice answers fewer requests at a time, and needs nodes that are cut that way.
 *
 * ## When it is silent
 *
 * For models and GPUs that are not known, for formats whose size is not known (FP8, AWQ, GPTQ, GGUF), for servers that scale out, are sized for
 * many requests (`--max-num-seqs` and the like) or take less of the card than usual already, for jobs that end, where other processes run beside the
 * server, in templates, where a file, a runtime or a variable may tell more than is read, for groups of pods, for `latency-critical` ones, and for GPUs that
 * are shared already. Of several GPUs only where less than a tenth of their memory is needed: a model is also split to answer faster. `headroom`
 * in the config is the share of memory to keep free: 0.1 unless it is told.
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
    const { request, count, gpu, estimate, hourly } = found;
    const slice = count === 1 ? smallestSlice(found, context) : undefined;
    const held = `${count * (gpu.memoryGiB ?? 0)} GB (${count === 1 ? '' : `${count} × `}${gpu.name})`;
    const price =
      slice?.hourly && hourly !== null ? `, ${formatHourly(slice.hourly)} instead of ${formatHourly(hourly)}` : '';
    const sharding = findSharding(processInput(container));
    const alone = sharding === undefined ? '' : `, without ${shorten(sharding.text, 30)}`;
    const enough = slice ? `MIG slice ${slice.profile.name}` : 'a share of the card';
    context.report({
      message: `${shorten(estimate.name)} needs about ${Math.ceil(estimate.neededGiB)} GiB of ${held}: ${count > 1 ? `one GPU would do${alone}` : `${enough} would do${price}`}`,
      span: requestSpan([request], container),
      fixes: () => [slice && toSlice(found, slice, container, context)],
      saving: savingOf(found, slice),
    });
  },
});

interface LonelyModel {
  readonly estimate: MemoryEstimate;
  readonly request: AcceleratorRequest;
  /** GPUs of the container. */
  readonly count: number;
  readonly gpu: GpuModel;
  /** US dollars an hour of all its GPUs; null where no price is known. */
  readonly hourly: number | null;
}

/** A model that would fit into half of the first of its GPUs. */
function lonelyModel(container: Container, context: PodSetContext): LonelyModel | undefined {
  const { workload, podSet, options } = context;
  if (workload.partial || isExempt(workload) || !runsAlone(context)) return undefined;
  const [request, ...others] = knownRequests(container);
  const count = wholeGpus(container, podSet);
  // Only NVIDIA's cards are cut and shared in ways that every cluster knows.
  if (request?.resource !== 'nvidia.com/gpu' || others.length > 0 || count === null) return undefined;
  const gpu = gpus.get(acceleratorByName(podSet.accelerators, request.resource)?.model ?? '');
  const memory = gpu === undefined ? null : deviceGiB(gpu);
  const { estimate } = estimateServing(servedModel(container, workload));
  if (gpu === undefined || memory === null || estimate === null || estimate.tuned) return undefined;
  const most = Math.min(memory / 2, count === 1 ? memory : (memory * count) / 10);
  if (!(estimate.neededGiB <= usableGiB(most, options.headroom))) return undefined;
  const amount = context.costOf(workload).podSets.find(({ name }) => name === podSet.name)?.hourly;
  const isHolder = podSet.containers.filter((other) => knownRequests(other).length > 0).length === 1;
  const hourly = isHolder && amount !== undefined && amount.min === amount.max ? amount.min : null;
  return { estimate, request, count, gpu, hourly };
}

/** One pod that stays up: who runs several needs the speed of each, and one part of a group holds a part of the model. */
function runsAlone({ workload, podSet, document }: PodSetContext): boolean {
  const ends = podSet.restartPolicy !== undefined && podSet.restartPolicy.value !== 'Always';
  // A template has lines for scalers and flags that only some of its values bring.
  if (document.template || ends || isLatencyCritical(workload)) return false;
  return podSet.pods.max === 1 && workload.podSets.length === 1;
}

function smallestSlice(
  { estimate, gpu, hourly }: LonelyModel,
  { podSet, options }: PodSetContext,
): MigOption | undefined {
  if (sliceForm(podSet, options) === undefined) return undefined;
  return migOptions(gpu.id, hourly === null ? null : { min: hourly, max: hourly }).find(
    ({ profile, share }) => share <= 1 / 2 && usableGiB(sliceGiB(profile), options.headroom) >= estimate.neededGiB,
  );
}

function savingOf({ count, hourly }: LonelyModel, slice: MigOption | undefined): number | undefined {
  if (hourly === null) return undefined;
  if (count > 1) return partSaving(hourly, 1 / count);
  return slice && partSaving(hourly, slice.share);
}

function toSlice(
  { request, gpu }: LonelyModel,
  { profile }: MigOption,
  container: Container,
  { document, podSet, options }: PodSetContext,
): Fix | undefined {
  const form = sliceForm(podSet, options);
  return form && rewriteToMig(document, request, { container, podSet, gpu }, profile, form);
}
