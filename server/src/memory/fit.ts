import { type GpuModel, gpus, migByResource, sliceGiB, usableCardGiB } from '../catalog/index.ts';
import type { Engine } from '../command/engines.ts';
import type { Served, ServedModel } from '../model/served-model.ts';
import type { AcceleratorRequest, PodAccelerator } from '../model/workload.ts';
import { cacheBytes, longestIn } from './cache-size.ts';
import { type Hardware, reservesGraphs, tuned } from './engine-buffers.ts';
import { type OwnChoice, ownChoiceOf } from './own-choices.ts';
import { estimateServing, type MemoryEstimate } from './serving.ts';

/** How a model fits into the memory of each of its devices. */
export type Fit = 'fits' | 'short-requests' | 'too-small';

/** Devices or slices of one kind. */
export interface Devices {
  /** The memory that a process sees on each. */
  readonly eachGiB: number;
  readonly count: number;
  /** The catalog's id of their model; undefined for slices. */
  readonly card?: string;
  /** The memory of the whole card, if they are shares without a size of their own. */
  readonly seenGiB?: number;
}

/** Whole cards of a model; null if their memory is unknown. */
export function wholeCards(gpu: GpuModel, count = 1): Devices | null {
  const eachGiB = usableCardGiB(gpu);
  return eachGiB === null ? null : { eachGiB, count, card: gpu.id };
}

/** What a model needs on devices; null if unknown. The one way to ask, so that a need has one figure. */
export function estimateOn(model: ServedModel, devices: Devices): MemoryEstimate | null {
  return estimateServing({ model, unknown: null }, hardwareOf(devices)).estimate;
}

function hardwareOf({ eachGiB, count, ...of }: Devices): Hardware {
  return { cardGiB: eachGiB, gpus: count, ...of };
}

/**
 * Whether a model fits into devices with the settings of its server, and also a request of maximum length, with the headroom left free; undefined
 * if its need is unknown.
 */
export function fitOf(served: Served, devices: Devices, headroom: number): Fit | undefined {
  const { estimate } = estimateServing(served, hardwareOf(devices));
  if (estimate === null) return undefined;
  const { weightsGiB, overheadGiB, neededGiB, basis } = estimate;
  const usable = usableGiB(devices.eachGiB, headroom);
  if (estimate.devices > devices.count) return 'too-small';
  // Cache and buffers of a model of a stated size are those of another.
  if (basis === 'size' || basis === 'sizeInName') return weightsGiB > usable ? 'too-small' : undefined;
  if (neededGiB <= usable) return 'fits';
  return weightsGiB + overheadGiB <= usable ? 'short-requests' : 'too-small';
}

/**
 * Whether devices are enough for a model: it fits with the headroom left free, and certainly, by more than the error of the estimate. The one test
 * behind each advice to use less.
 */
export function isEnough(model: ServedModel, devices: Devices, headroom: number): boolean {
  if (fitOf({ model, unknown: null }, devices, headroom) !== 'fits') return false;
  const estimate = estimateOn(model, devices);
  return estimate !== null && fitOnCard(estimate, devices.eachGiB).fits === true;
}

/**
 * The memory that a server can use if the headroom stays free.
 * @param memoryGiB of the device or the slice
 * @param headroom 0.1 leaves 10% free
 */
export function usableGiB(memoryGiB: number, headroom: number): number {
  return memoryGiB * (1 - headroom);
}

/** What a server finds on a device, and whether it starts there with a request of maximum length. GiB. */
export interface CardFit {
  readonly haveGiB: number;
  /** For weights, cache, activations and libraries: the part that the engine reserves, or all except the CUDA context. */
  readonly limitGiB: number;
  /** What is left of the limit for the cache; negative if the weights do not fit. */
  readonly leftGiB: number;
  /** null: too close to decide, by the errors of the estimate. */
  readonly fits: boolean | null;
}

/** The engines whose buffers are compared with measurements. */
const measured: ReadonlySet<Engine> = new Set(['vllm', 'ollama', 'llama-cpp']);

/**
 * Whether a model fits on a device: weights, buffers and the cache of one request must fit into the part that the engine reserves, and the graphs
 * with the CUDA context into the rest, if the engine does not reserve their memory too.
 */
export function fitOnCard(estimate: MemoryEstimate, haveGiB: number): CardFit {
  const { served, fraction, graphsGiB, neededGiB, cacheGiB, weightsGiB, weightsError, overheadGiB } = estimate;
  const free = haveGiB - tuned.context;
  const limitGiB = fraction === null ? free : Math.min(haveGiB * fraction, free);
  const inside = neededGiB - (fraction === null || reservesGraphs(served) ? 0 : graphsGiB);
  const margin = limitGiB - inside;
  const buffersError = measured.has(served.engine) ? 0.25 : 0.6;
  const band = weightsError * weightsGiB + buffersError * overheadGiB + 0.01 * cacheGiB;
  const own = ownChoiceOf(served);
  // A server that chooses the request length itself fails only if nothing is left for the cache.
  const lacking = own === null ? margin : margin + cacheGiB;
  const isCertain = served.open.length === 0 && served.extras.length === 0;
  const fits =
    margin > band + picturesGiB(estimate) ? true : lacking < -band && !adapts(own, estimate, haveGiB) ? false : null;
  const known = { haveGiB, limitGiB, leftGiB: margin + cacheGiB };
  // Only the weights of a model with a stated size are known; a size in a name leaves their format open.
  if (estimate.basis === 'size')
    return { ...known, fits: weightsGiB > haveGiB * 1.05 && own !== 'layers' ? false : null };
  if (estimate.basis === 'sizeInName') return { ...known, fits: adapts('format', estimate, haveGiB) ? null : false };
  return { ...known, fits: isCertain ? fits : null };
}

/**
 * What vLLM can take for the largest picture in addition, by measurements of three models: these accept 16,384 tokens in one.
 * https://huggingface.co/Qwen/Qwen2.5-VL-7B-Instruct/blob/main/preprocessor_config.json
 */
function picturesGiB({ served, shape }: MemoryEstimate): number {
  const reads = served.engine === 'vllm' && served.textOnly !== true;
  return reads && /\/Qwen2(?:\.5)?-VL-/i.test(shape.name) ? 2 : 0;
}

/** Whether a server whose weights do not fit may load less: layers stay in the node's memory, or 4 bits per parameter are enough. */
function adapts(own: OwnChoice | null, { shape, devices }: MemoryEstimate, haveGiB: number): boolean {
  return own === 'layers' || (own === 'format' && (shape.parameters * 0.5) / 2 ** 30 / devices <= haveGiB);
}

/** The longest request that fits on a device, in tokens; 0 if the weights do not fit; null if the length does not matter. */
export function longestContext(estimate: MemoryEstimate, haveGiB: number): number | null {
  const { leftGiB } = fitOnCard(estimate, haveGiB);
  const longest =
    leftGiB <= 0
      ? 0
      : longestIn(estimate.shape, (leftGiB * 2 ** 30) / estimate.slots / estimate.ranks, estimate.layout);
  return longest === null ? null : Math.min(longest, estimate.shape.context);
}

/** The requests of a length that fit on a device at the same time; null if the length does not matter. */
export function sequences(estimate: MemoryEstimate, haveGiB: number, tokens: number = estimate.context): number | null {
  const each = cacheBytes(estimate.shape, tokens, estimate.layout) * estimate.ranks;
  return each === 0 ? null : Math.max(0, Math.floor((fitOnCard(estimate, haveGiB).leftGiB * 2 ** 30) / each));
}

/** The memory of each device or slice that a container requests, in GiB, and their number; null if the device is unknown. */
export function requestedDevices(
  inPod: PodAccelerator | undefined,
  { resource, form, count }: AcceleratorRequest,
): Devices | null {
  if (form === 'mig') {
    const [size, ...others] = new Set(migByResource(resource).map(({ profile }) => sliceGiB(profile)));
    return others.length === 0 && size !== undefined && count !== null ? { eachGiB: size, count } : null;
  }
  const gpu = gpus.get(inPod?.model ?? '');
  const eachGiB = gpu === undefined ? null : usableCardGiB(gpu);
  const isWhole = form === 'whole' && inPod !== undefined && inPod.devices === inPod.perPod;
  return isWhole && gpu && eachGiB !== null && count !== null ? { eachGiB, count, card: gpu.id } : null;
}
