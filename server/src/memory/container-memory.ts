import { gpus, usableCardGiB } from '../catalog/index.ts';
import { parametersStated, type StatedSizes } from '../model/model-params.ts';
import { acceleratorByName } from '../model/requested-resource.ts';
import { servedModel } from '../model/served-model.ts';
import type { AcceleratorRequest, Container, PodSet, Workload } from '../model/workload.ts';
import { type CardFit, type Devices, fitOnCard, requestedDevices } from './fit.ts';
import { ownChoiceOf } from './own-choices.ts';
import { estimateServing, type MemoryEstimate, type NoMemoryEstimate } from './serving.ts';

/** What a container's model needs of the devices that the container requests. */
export type ContainerMemory =
  | { readonly estimate: MemoryEstimate; readonly unknown: null; readonly fit: CardFit | null }
  | { readonly estimate: null; readonly unknown: NoMemoryEstimate; readonly fit: null };

/**
 * The memory that a container's model needs, and how it fits on the devices of a request.
 * @param options the config, which may state the sizes of models
 * @param request the request for devices; undefined: another object requests them, or none
 */
export function containerMemory(
  workload: Workload,
  podSet: PodSet,
  container: Container,
  request: AcceleratorRequest | undefined,
  options: StatedSizes,
): ContainerMemory {
  const devices =
    request === undefined
      ? devicesOfPod(podSet)
      : requestedDevices(acceleratorByName(podSet.accelerators, request.resource), request);
  const served = servedModel(container, workload);
  const parameters = parametersStated(workload.manifest, podSet, options, served.model?.name);
  const hardware = {
    ...(parameters !== undefined && { parameters }),
    ...(devices?.card !== undefined && { card: devices.card }),
    bySizeInName: true as const,
    cardGiB: devices?.eachGiB ?? null,
    gpus: devices?.count ?? request?.count ?? podSet.accelerators[0]?.perPod ?? null,
  };
  const { estimate, unknown } = estimateServing(served, hardware);
  if (estimate === null) return { estimate, unknown, fit: null };
  const fit = devices === null ? null : fitOnCard(estimate, devices.eachGiB);
  // The figure is that of the published format, which a server that chooses takes only if it fits.
  const isOther = fit !== null && fit.fits === null && fit.leftGiB < 0 && ownChoiceOf(estimate.served) === 'format';
  if (isOther) return { estimate: null, unknown: { kind: 'ownFormat', engine: estimate.served.engine }, fit: null };
  const isJudged = isCounted(estimate, hardware.gpus) && isCertain(podSet, devices?.card);
  return { estimate, unknown, fit: isJudged ? fit : fit && { ...fit, fits: null } };
}

/** Whether the card is named, not only suggested, and of a vendor whose cards the formulas are for. */
function isCertain({ accelerators }: PodSet, card: string | undefined): boolean {
  const vendor = gpus.get(card ?? '')?.vendor;
  const isHint = accelerators.some(({ model, modelHint }) => model === (card ?? null) && modelHint !== undefined);
  return card === undefined || ((vendor === 'nvidia' || vendor === 'amd') && !isHint);
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
  return isWhole && gpu && eachGiB !== null && only.perPod !== null
    ? { eachGiB, count: only.perPod, card: gpu.id }
    : null;
}
