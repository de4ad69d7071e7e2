import { formatOfName, type GpuModel, gpus, knownAccelerator, usableCardGiB } from '../catalog/index.ts';
import { shapeNames } from '../catalog/model-shapes.ts';
import { partOf, wordSet } from '../catalog/word-patterns.ts';
import { findSharding } from '../command/parallelism.ts';
import { cacheBytes } from '../memory/cache-size.ts';
import { type CardFit, type Devices, estimateOn, fitOnCard, requestedDevices } from '../memory/fit.ts';
import { estimateServing, type MemoryEstimate } from '../memory/serving.ts';
import { acceleratorByName } from '../model/requested-resource.ts';
import { type ServedModel, servedModel } from '../model/served-model.ts';
import { isValues } from '../model/values.ts';
import type { AcceleratorRequest, Container, PodAccelerator, PodSet, Workload } from '../model/workload.ts';
import { lazy, oncePerName } from '../yaml/lazy.ts';
import { mayBeCompleted } from './chart-pods.ts';
import { mayUseOtherGpus, spansPods } from './gpu-assignment.ts';
import { processInput } from './launch.ts';
import { isExempt, knownRequests } from './requested-accelerators.ts';
import { hasRun } from './run-status.ts';

/** A model server that does not start with the devices of its container. */
export interface Misfit {
  /** `weights`: no division of the weights fits; `device`: weights and buffers do not fit; `cache`: the longest request does not fit. */
  readonly kind: 'weights' | 'device' | 'cache';
  /** Model, format and card are certain. */
  readonly certain: boolean;
  /** The weights with the least bits per parameter (`leastBits`), because their format is unknown. GiB. */
  readonly leastGiB: number | null;
  readonly estimate: MemoryEstimate;
  readonly fit: CardFit;
  readonly request: AcceleratorRequest;
  readonly devices: Devices;
  /** Undefined: a slice, or the largest card that it can be. */
  readonly gpu: GpuModel | undefined;
  readonly served: ServedModel;
  /** The few cards on which the weights fit, if the card is unknown and most cards are too small. */
  readonly cards?: readonly string[];
}

/** Vendors whose devices model servers divide the weights among. */
const judged = wordSet('nvidia amd aws');

/** What exceeds the memory by less may be an error of the estimate, or of what is known of the card. */
export const margin = 1.05;
/** Of a publisher's own weights on a card that the manifest names: both are known to about a hundredth. */
const exactMargin = 1.02;

/** Engines that load all weights on the GPU. Others leave a part in the node's memory, or choose a format by the device. */
export const loadsAll: ReadonlySet<string> = new Set(['vllm', 'sglang', 'tgi', 'tensorrt-llm', 'lmdeploy']);

/** Why a container's model server cannot start with its devices; undefined if it starts, or if that is unknown or too close to decide. */
export function misfitOf(container: Container, workload: Workload, podSet: PodSet): Misfit | undefined {
  if (!mayBeCompleted(workload)) return findMisfit(container, workload, podSet);
  if (requestInField(container, podSet) !== undefined) {
    const misfit = findMisfit(container, workload, podSet);
    // The command line may name other cards.
    return misfit && { ...misfit, certain: false };
  }
  // What the template adds to a chart's values changes buffers and cache, but the weights only if it names another format or another memory.
  const misfit = isValues(workload) ? findMisfit(container, workload, podSet) : undefined;
  if (misfit?.kind !== 'weights' || changesWeights.test(workload.manifest.document.text)) return undefined;
  return { ...misfit, certain: false };
}

/** Words for a format of weights, or for weights in the memory of the node. */
const changesWeights = partOf('quant offload load[-_]?in', '[48][-_]?bit fp[48] int[48] gguf awq gptq');

function findMisfit(container: Container, workload: Workload, podSet: PodSet): Misfit | undefined {
  if (isExempt(workload) || container.type !== 'app') return undefined;
  const [own, ...others] = knownRequests(container);
  const inField = own === undefined ? requestInField(container, podSet) : undefined;
  const request = own ?? inField?.request;
  const vendor = request && knownAccelerator(request.resource)?.vendor;
  if (request === undefined || others.length > 0 || vendor == null || !judged.has(vendor)) return undefined;
  const served = servedModel(container, workload).model;
  if (served === null || served.open.length > 0) return undefined;
  // In a group of pods, only stated sizes say on how many GPUs the weights are.
  if (spansPods(workload) && (served.tensor === null || served.data !== 1)) return undefined;
  if (!loadsAll.has(served.engine) && served.engine !== 'nim' && !keepsLayers(served, container)) return undefined;
  if (mayUseOtherGpus(container) || hasRun(workload.manifest)) return undefined;
  const inPod = inField?.inPod ?? acceleratorByName(podSet.accelerators, request.resource);
  const known = inPod?.modelHint === undefined ? requestedDevices(inPod, request) : null;
  // Parallel sizes count the cores of Neuron devices.
  const isNeuron = vendor === 'aws';
  const devices = known ?? (isNeuron ? null : largestDevices(request, inPod));
  if (devices === null || devices.count === 0) return undefined;
  if (!isNeuron && spansMore(served, container, devices.count)) return undefined;
  const estimate = estimateOn(served, devices);
  if (estimate === null || served.offloadGiB !== 0) return undefined;
  const isGguf = served.engine === 'llama-cpp';
  if (isGguf ? estimate.basis !== 'name' || !hasAllLayers(estimate) : served.gpuLayers !== null) return undefined;
  const gpu = known === null || request.form === 'mig' ? undefined : gpus.get(inPod?.model ?? '');
  const found = { estimate, request, devices, gpu, served, fit: fitOnCard(estimate, devices.eachGiB) };
  const name = nameOf(estimate);
  // NIM chooses FP8 where 16 bits have no room; it has 4 bits only for Blackwell and in images for workstations.
  const isNim = served.engine === 'nim';
  if (isNim && (!(Number(gpu?.computeCapability) < 10) || /rtx/i.test(container.image?.value ?? ''))) return undefined;
  if ((name === 'derived' && !isGguf) || isNim) {
    // Some models are published with fewer bits.
    const ofBits = (estimate.shape.parameters * leastBits(served)) / 8 / 2 ** 30;
    const leastGiB = isNim ? Math.min(ofBits, estimate.weightsGiB) : ofBits;
    const exceeds = leastGiB > devices.eachGiB * devices.count * margin;
    return exceeds ? { ...found, kind: 'weights', certain: false, leastGiB } : undefined;
  }
  const isStated =
    known !== null && inField === undefined && inPod?.modelFrom !== 'config' && inPod?.modelFrom !== 'hint';
  const certain = isStated && name === 'published' && !isGguf && !isNeuron;
  const least = 1 - estimate.weightsError;
  const share = dividedGiB(served, devices.count);
  if (share > devices.eachGiB * (certain ? exactMargin : margin) && share * least > devices.eachGiB)
    return { ...found, kind: 'weights', certain, leastGiB: null };
  if (isNeuron) {
    if (served.tensor === null || served.data !== 1 || setsNeuron(container)) return undefined;
    // The cache of the longest request is allocated at the start.
    const exceeds =
      estimate.weightsGiB + estimate.cacheGiB > devices.eachGiB * (name === 'published' ? exactMargin : margin);
    return exceeds ? { ...found, kind: 'device', certain, leastGiB: null } : undefined;
  }
  if (isGguf) {
    // llama.cpp adjusts only what no flag sets: https://github.com/ggml-org/llama.cpp/blob/master/common/fit.cpp
    const isOwnLength = estimate.contextFrom === 'flag' && estimate.context <= estimate.shape.context;
    const isSet = isStated && isOwnLength && !movesCache(container);
    const haveGiB = devices.eachGiB * devices.count;
    const neededGiB = (estimate.weightsGiB * least + estimate.cacheGiB) * estimate.devices;
    const exceeds = isSet && neededGiB > haveGiB * margin;
    return exceeds ? { ...found, kind: 'cache', certain: false, leastGiB: null } : undefined;
  }
  const cards =
    known === null && inPod?.model === null && inPod.modelHint === undefined && inPod.candidates.length === 0
      ? fewCards(served, devices.count, vendor)
      : [];
  if (cards.length > 0) return { ...found, kind: 'weights', certain: false, leastGiB: null, cards };
  // Unused devices are another problem, and some servers use all without a flag.
  if (known === null || estimate.devices * served.data !== devices.count) return undefined;
  const common = { ...found, certain: false, leastGiB: null };
  if (estimate.weightsGiB > devices.eachGiB) return { ...common, kind: 'device' };
  if (vendor !== 'nvidia' || !['vllm', 'sglang'].includes(served.engine)) return undefined;
  const { cacheGiB, neededGiB } = estimate;
  const bare = fitOnCard({ ...estimate, cacheGiB: 0, neededGiB: neededGiB - cacheGiB }, devices.eachGiB);
  if (bare.fits === false) return { ...common, kind: 'device' };
  // A copy may state a shorter context, but not much shorter.
  const quarter = cacheBytes(estimate.shape, estimate.context / 4, estimate.layout) / 2 ** 30;
  const isOwnLength =
    estimate.contextFrom === 'flag' || name === 'published' || quarter > found.fit.limitGiB - estimate.weightsGiB;
  const refuses = served.engine === 'vllm' && isOwnLength && served.cacheGiB === null && !sizesCache(container);
  // What the buffers take is the least certain part.
  const isCertain = bare.fits === true || cacheGiB > found.fit.limitGiB - estimate.weightsGiB;
  return refuses && isCertain && found.fit.fits === false ? { ...common, kind: 'cache' } : undefined;
}

/** Whether a container says which cores its ranks use, how its model is compiled, or how long its requests are. */
function setsNeuron({ command, args, env }: Container): boolean {
  const words = [...command, ...args].map(({ value }) => value).join(' ');
  return /neuron-config|additional-config/.test(words) || env.some(({ name }) => /^NEURON_RT_/.test(name));
}

/** The cards that a field of the kind names for its only container, as a request for them. */
function requestInField(
  { accelerators: own }: Container,
  { accelerators, containers }: PodSet,
): { readonly request: AcceleratorRequest; readonly inPod: PodAccelerator } | undefined {
  const [inPod, ...others] = accelerators;
  if (inPod?.at === undefined || others.length > 0 || own.length > 0 || containers.length > 1) return undefined;
  const { requested, at, form, perPod, candidates } = inPod;
  if (form !== 'whole') return undefined;
  const [vendor, ...vendors] = new Set(candidates.map((id) => gpus.get(id)?.vendor));
  const isField = requested.kind === 'field' && requested.system === 'field' && vendors.length === 0;
  const ofVendor = isField && (vendor === 'nvidia' || vendor === 'amd') ? `${vendor}.com/gpu` : undefined;
  const resource = requested.kind === 'resource' ? requested.name : ofVendor;
  if (resource === undefined) return undefined;
  const limit = { at, text: '', value: perPod, templated: false, empty: false };
  return { request: { resource, form, limit, request: undefined, count: perPod }, inPod };
}

/**
 * Whether llama.cpp must load a file of a stated format on the GPU: it moves layers to the node's memory only if no flag sets their number.
 * https://github.com/ggml-org/llama.cpp/blob/master/common/fit.cpp
 */
function keepsLayers({ engine, gpuLayers, name }: ServedModel, container: Container): boolean {
  const format = formatOfName(name);
  const isStated = format !== null && format !== 'unknown' && format.id === 'gguf';
  return engine === 'llama-cpp' && gpuLayers !== null && isStated && !movesTensors(container);
}

/** All layers are on the GPU; larger numbers mean the same. */
function hasAllLayers({ served: { gpuLayers }, shape }: MemoryEstimate): boolean {
  return gpuLayers !== null && gpuLayers >= shape.layers;
}

/** Tensors in the node's memory by their names, other devices, or memory that the driver moves. */
function movesTensors({ command, args, env, configEnv = [] }: Container): boolean {
  const flag = /^(?:-ot|-cmoe|-ncmoe|-dev|--(?:override-tensor|cpu-moe|n-cpu-moe|device|rpc))(?:=|$)/;
  const words = [...command, ...args].flatMap(({ value }) => value.split(/\s+/));
  const names = [...env, ...configEnv].map(({ name }) => name);
  return (
    words.some((word) => flag.test(word)) ||
    names.some((name) => /UNIFIED_MEMORY|^LLAMA_ARG_(?!CTX|HOST|PORT|MODEL|N_GPU)/.test(name))
  );
}

/** The cache is in the node's memory, or has a format that the words name elsewhere. */
function movesCache({ command, args, env }: Container): boolean {
  const words = [...command, ...args].flatMap(({ value }) => value.split(/\s+/));
  return (
    words.some((word) => /^(?:-nkvo|--no-kv-offload|--swa-full|--kv-unified)(?:=|$)/.test(word)) ||
    env.some(({ name }) => /^LLAMA_ARG_(?:NO_)?(?:KV|CACHE)/.test(name))
  );
}

/** The least bits per parameter of weights in a format that their name leaves open. vLLM and SGLang load no others than FP8 with this flag. */
export function leastBits({ engine, quantization }: ServedModel): 4 | 8 {
  return engine === 'nim' || (/^(?:vllm|sglang)$/.test(engine) && quantization?.toLowerCase() === 'fp8') ? 8 : 4;
}

/** The least that the weights take on each of several GPUs: at 4 bits per parameter if nothing states their format. GiB. */
export function leastWeights(
  estimate: MemoryEstimate,
  served: ServedModel,
  count: number,
): { readonly weightsGiB: number; readonly format: string | null } {
  if (nameOf(estimate) === 'derived')
    return { weightsGiB: (estimate.shape.parameters * 0.5) / 2 ** 30 / count, format: null };
  return { weightsGiB: dividedGiB(served, count), format: estimate.format };
}

/** The cards of a vendor that hold their part of the weights, if they are few and larger than those of most clouds; else none. */
function fewCards(served: ServedModel, count: number, vendor: string): readonly string[] {
  const least = dividedGiB(served, count);
  if (least < commonGiB) return [];
  const roomy = [...gpus.values()].filter((gpu) => gpu.vendor === vendor && (usableCardGiB(gpu) ?? 0) > least);
  return roomy.map(({ name }) => name);
}

/** More than an H100 NVL or a GH200 has. */
const commonGiB = 96;

/** The weights on each of several GPUs that share all of them: llama.cpp divides the layers, without a flag. */
function dividedGiB(served: ServedModel, tensor: number): number {
  const divided = { ...served, tensor, pipeline: 1, data: 1 };
  return estimateServing({ model: divided, unknown: null }, { cardGiB: null, gpus: tensor }).estimate?.weightsGiB ?? 0;
}

/** `published`: a name of a publisher; `copy`: the same model of another organization; `derived`: a path or a name that leaves the format open. */
function nameOf({ served: { name }, basis }: MemoryEstimate): 'published' | 'copy' | 'derived' {
  const [, organization = ''] = /^(?:hf:\/\/)?([\w-][\w.-]*)\/[\w.-]+$/.exec(name) ?? [];
  const owner = organization.toLowerCase();
  if (owner === '' || folders.has(owner) || basis !== 'name') return 'derived';
  return publishers().has(owner) ? 'published' : 'copy';
}

/** Directories, which are no organizations. */
const folders = wordSet('model models weights checkpoint checkpoints data storage', 'mnt workspace opt root home var');

/** The organizations that publish models of the catalog, each under names that state the format unless it is 16 bits. */
const publishers = lazy(() => new Set(shapeNames().map((name) => name.split('/')[0]?.toLowerCase() ?? '')));

/** Whether the server is a part of a group, or uses more devices than the container has, which is another problem. */
function spansMore({ tensor, pipeline }: ServedModel, container: Container, count: number): boolean {
  return (tensor ?? 1) * pipeline > count || findSharding(processInput(container))?.spansPods === true;
}

/** vLLM chooses a length that fits, or its check of the cache is off. */
function sizesCache({ command, args }: Container): boolean {
  return /max[-_]model[-_]len[= ](?:-1|auto)|num-gpu-blocks-override/.test(
    [...command, ...args].map(({ value }) => value).join(' '),
  );
}

/** The devices with the most memory that a request for whole devices can get. */
function largestDevices(request: AcceleratorRequest, inPod: PodAccelerator | undefined): Devices | null {
  if (request.form !== 'whole' || request.count === null || inPod === undefined || inPod.model !== null) return null;
  if (inPod.devices !== null && inPod.devices !== inPod.perPod) return null;
  const { vendor } = knownAccelerator(request.resource) ?? {};
  const listed = inPod.candidates.flatMap((id) => gpus.get(id) ?? []);
  const sizes = listed.map((gpu) => usableCardGiB(gpu) ?? Number.POSITIVE_INFINITY);
  return { eachGiB: sizes.length > 0 ? Math.max(...sizes) : largestCardGiB(vendor ?? ''), count: request.count };
}

/** The memory of a vendor's largest card. */
const largestCardGiB = oncePerName((vendor) =>
  Math.max(...[...gpus.values()].flatMap((gpu) => (gpu.vendor === vendor ? (usableCardGiB(gpu) ?? 0) : []))),
);
