import { deviceGiB, gpus, migByResource, sliceGiB } from '../catalog/index.ts';
import { acceleratorByName } from '../model/requested-resource.ts';
import type { AcceleratorRequest, PodSet } from '../model/workload.ts';
import type { MemoryEstimate } from './serving.ts';

/** How a model fits into a part of a GPU. */
export type Fit = 'fits' | 'short-requests' | 'too-small';

/** Whether the weights fit into the memory, and also a request of maximum length, with the headroom left free. */
export function fitOf(
  { weightsGiB, overheadGiB, neededGiB }: MemoryEstimate,
  memoryGiB: number,
  headroom: number,
): Fit {
  const usable = usableGiB(memoryGiB, headroom);
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

/** The memory of all devices that a container requests, in GiB; null if the device is unknown. No server spans several slices. */
export function requestedGiB({ accelerators }: PodSet, { resource, form, count }: AcceleratorRequest): number | null {
  const inPod = acceleratorByName(accelerators, resource);
  if (form === 'mig') {
    const [size, ...others] = new Set(migByResource(resource).map(({ profile }) => sliceGiB(profile)));
    return others.length === 0 && count === 1 ? (size ?? null) : null;
  }
  const gpu = gpus.get(inPod?.model ?? '');
  const memory = gpu === undefined ? null : deviceGiB(gpu);
  const isWhole = form === 'whole' && inPod !== undefined && inPod.devices === inPod.perPod;
  return isWhole && memory !== null && count !== null ? memory * count : null;
}
