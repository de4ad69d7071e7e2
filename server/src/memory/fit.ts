import { gpus, migByResource, sliceGiB, usableCardGiB } from '../catalog/index.ts';
import type { Engine } from '../command/engines.ts';
import { acceleratorByName } from '../model/requested-resource.ts';
import type { Served } from '../model/served-model.ts';
import type { AcceleratorRequest, PodSet } from '../model/workload.ts';
import { cacheBytes, longestIn } from './cache-size.ts';
import { tuned } from './engine-buffers.ts';
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
}

/**
 * Whether a model fits into devices with the settings of its server, and also a request of maximum length, with the headroom left free; undefined
 * if its need is unknown.
 */
export function fitOf(served: Served, { eachGiB, count, ...of }: Devices, headroom: number): Fit | undefined {
  const { estimate } = estimateServing(served, { cardGiB: eachGiB, gpus: count, ...of });
  if (estimate === null) return undefined;
  const { weightsGiB, overheadGiB, neededGiB, devices } = estimate;
  const usable = usableGiB(eachGiB, headroom);
  if (devices > count) return 'too-small';
  if (neededGiB <= usable) return 'fits';
  return weightsGiB + overheadGiB <= usable ? 'short-requests' : 'too-small';
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
 * with the CUDA context into the rest.
 */
export function fitOnCard(estimate: MemoryEstimate, haveGiB: number): CardFit {
  const { served, fraction, graphsGiB, neededGiB, cacheGiB, weightsGiB, overheadGiB } = estimate;
  const free = haveGiB - tuned.context;
  const limitGiB = fraction === null ? free : Math.min(haveGiB * fraction, free);
  const inside = neededGiB - (fraction === null ? 0 : graphsGiB);
  const margin = limitGiB - inside;
  const band = 0.015 * weightsGiB + (measured.has(served.engine) ? 0.25 : 0.6) * overheadGiB + 0.01 * cacheGiB;
  // A server that chooses the request length itself fails only if nothing is left for the cache.
  const lacking = served.engine === 'nim' && served.context === null ? margin + cacheGiB : margin;
  const isCertain = served.open.length === 0 && served.extras.length === 0;
  const fits = margin > band ? true : lacking < -band ? false : null;
  // Of a model of a stated size, only the weights are known.
  if (estimate.basis === 'size')
    return { haveGiB, limitGiB, leftGiB: margin + cacheGiB, fits: weightsGiB > haveGiB * 1.05 ? false : null };
  return { haveGiB, limitGiB, leftGiB: margin + cacheGiB, fits: isCertain ? fits : null };
}

/** The longest request that fits on a device, in tokens; 0 if the weights do not fit; null if the length does not matter. */
export function longestContext(estimate: MemoryEstimate, haveGiB: number): number | null {
  const { leftGiB } = fitOnCard(estimate, haveGiB);
  const longest = leftGiB <= 0 ? 0 : longestIn(estimate.shape, (leftGiB * 2 ** 30) / estimate.slots, estimate.layout);
  return longest === null ? null : Math.min(longest, estimate.shape.context);
}

/** The requests of a length that fit on a device at the same time; null if the length does not matter. */
export function sequences(estimate: MemoryEstimate, haveGiB: number, tokens: number = estimate.context): number | null {
  const each = cacheBytes(estimate.shape, tokens, estimate.layout);
  return each === 0 ? null : Math.max(0, Math.floor((fitOnCard(estimate, haveGiB).leftGiB * 2 ** 30) / each));
}

/** The memory of each device or slice that a container requests, in GiB, and their number; null if the device is unknown. */
export function requestedDevices(
  { accelerators }: PodSet,
  { resource, form, count }: AcceleratorRequest,
): Devices | null {
  const inPod = acceleratorByName(accelerators, resource);
  if (form === 'mig') {
    const [size, ...others] = new Set(migByResource(resource).map(({ profile }) => sliceGiB(profile)));
    return others.length === 0 && size !== undefined && count !== null ? { eachGiB: size, count } : null;
  }
  const gpu = gpus.get(inPod?.model ?? '');
  const eachGiB = gpu === undefined ? null : usableCardGiB(gpu);
  const isWhole = form === 'whole' && inPod !== undefined && inPod.devices === inPod.perPod;
  return isWhole && gpu && eachGiB !== null && count !== null ? { eachGiB, count, card: gpu.id } : null;
}
