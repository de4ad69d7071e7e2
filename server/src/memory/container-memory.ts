import { gpus, usableCardGiB } from '../catalog/index.ts';
import { servedModel } from '../model/served-model.ts';
import type { AcceleratorRequest, Container, PodSet, Workload } from '../model/workload.ts';
import { type CardFit, type Devices, fitOnCard, requestedDevices } from './fit.ts';
import { estimateServing, type MemoryEstimate, type NoMemoryEstimate } from './serving.ts';

/** What a container's model needs of the devices that the container requests. */
export type ContainerMemory =
  | { readonly estimate: MemoryEstimate; readonly unknown: null; readonly fit: CardFit | null }
  | { readonly estimate: null; readonly unknown: NoMemoryEstimate; readonly fit: null };

/**
 * The memory that a container's model needs, and how it fits on the devices of a request.
 * @param request the request for devices; undefined: another object requests them, or none
 */
export function containerMemory(
  workload: Workload,
  podSet: PodSet,
  container: Container,
  request: AcceleratorRequest | undefined,
): ContainerMemory {
  const devices = request === undefined ? devicesOfPod(podSet) : requestedDevices(podSet, request);
  const hardware = {
    cardGiB: devices?.eachGiB ?? null,
    gpus: devices?.count ?? request?.count ?? podSet.accelerators[0]?.perPod ?? null,
  };
  const { estimate, unknown } = estimateServing(servedModel(container, workload), hardware);
  if (estimate === null) return { estimate, unknown, fit: null };
  const fit = devices === null ? null : fitOnCard(estimate, devices.eachGiB);
  return {
    estimate,
    unknown,
    fit: fit !== null && isCounted(estimate, hardware.gpus) ? fit : fit && { ...fit, fits: null },
  };
}

/** Whether the pod has the devices that the server's flags name: other pods may hold the rest. */
function isCounted({ devices, pipeline }: MemoryEstimate, gpus: number | null): boolean {
  return gpus === null || devices <= gpus || devices / pipeline <= gpus;
}

/** The devices that a pod gets from a field of its kind. */
function devicesOfPod({ accelerators }: PodSet): Devices | null {
  const [only, ...others] = accelerators;
  const gpu = gpus.get(only?.model ?? '');
  const eachGiB = gpu === undefined ? null : usableCardGiB(gpu);
  const isWhole = only?.form === 'whole' && only.devices === only.perPod && others.length === 0;
  return isWhole && eachGiB !== null && only.perPod !== null ? { eachGiB, count: only.perPod } : null;
}
