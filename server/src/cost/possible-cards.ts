import {
  cardLabel,
  deviceGiB,
  type GpuModel,
  gpus,
  hasArmHost,
  isCardLabel,
  isCurrent,
  isGpuLabel,
  memoryLabel,
  migByResource,
  sliceGiB,
} from '../catalog/index.ts';
import { leastServedGiB } from '../memory/least-served.ts';
import { isGroupKind } from '../model/kinds/index.ts';
import { namesOnly } from '../model/machine-terms.ts';
import type { NodeRequirement, NodeTerm } from '../model/node-terms.ts';
import { resourceName } from '../model/requested-resource.ts';
import type { OpenModel, PodAccelerator, PodSet, Workload } from '../model/workload.ts';
import { lazy } from '../yaml/lazy.ts';

// The cards on which pods can run, if nothing names the card.

/** A request whose model nothing names. */
export interface OpenAccelerator extends PodAccelerator {
  readonly open: OpenModel;
}

/** Whether nothing names the model of the request. */
export function isOpen(accelerator: PodAccelerator): accelerator is OpenAccelerator {
  return accelerator.open !== undefined;
}

/** The cards of the catalog that a request can be for: of its vendors, with its slices, and supported by current software. */
export function cardsFor({ open: { vendors, among, memoryMiB } }: OpenAccelerator): readonly GpuModel[] {
  const current = currentCards().filter((gpu) => vendors.includes(gpu.vendor));
  if (among.length === 0 && memoryMiB === 0) return current;
  return current.filter(
    (gpu) =>
      (among.length === 0 || among.includes(gpu.id)) &&
      // Vendors round the memory of their cards up; a card whose memory no source states may be too small.
      (deviceGiB(gpu) ?? 0) * 1024 >= memoryMiB * 0.95,
  );
}

const currentCards = lazy(() => [...gpus.values()].filter(isCurrent));

/** The node selector terms that nodes with a card can meet; empty if the pods cannot run on it. Only nodes with ARM processors need `kubernetes.io/arch`. */
export function termsOn(gpu: GpuModel, { placement: { terms } }: PodSet): readonly NodeTerm[] {
  const all = terms.length === 0 ? [[]] : terms;
  return all
    .filter((term) => {
      const about = term.filter(({ key }) => isCardLabel(key));
      const namesArch = about.some(({ key }) => key === 'kubernetes.io/arch');
      return (namesArch || !hasArmHost(gpu)) && about.every((requirement) => mayMeet(requirement, gpu));
    })
    .map((term) => term.filter(({ key }) => !isCardLabel(key)));
}

/** A label without a known value may have any. */
function mayMeet({ key, operator, values }: NodeRequirement, gpu: GpuModel): boolean {
  const known = cardLabel(gpu, key);
  if (known.length === 0) {
    const excludes = operator === 'NotIn' && isGpuLabel(key);
    return !excludes || !values.some((value) => namesOnly(key, value, gpu));
  }
  switch (operator) {
    case 'In':
      return known.some((value) => values.some((one) => one === value || (key === memoryLabel && isNear(one, value))));
    case 'NotIn':
      return !known.every((value) => values.includes(value));
    case 'Gt':
      return known.some((value) => !(Number(value) <= Number(values[0])));
    case 'Lt':
      return known.some((value) => !(Number(value) >= Number(values[0])));
    case 'Exists':
      return true;
    case 'DoesNotExist':
      return false;
  }
}

/** Drivers report some MiB more or less than the marketed memory, in GB or GiB. */
function isNear(written: string, known: string): boolean {
  const ratio = Number(written) / Number(known);
  return ratio > 0.93 && ratio < 1.08;
}

/** The least memory in GiB that the models of one pod need on all its devices; 0 if no model is known. */
export function leastGiB(podSet: PodSet, workload: Workload): number {
  return Math.max(0, ...podSet.containers.map((container) => leastServedGiB(container, workload)));
}

/**
 * Whether the weights of the models fit: on the devices of one pod, or of all pods if they serve one model together.
 * @param neededGiB the result of `leastGiB`
 */
export function holds(gpu: GpuModel, accelerator: OpenAccelerator, neededGiB: number, workload: Workload): boolean {
  if (neededGiB === 0 || accelerator.open.memoryMiB > 0) return true;
  const slice = migByResource(resourceName(accelerator.requested) ?? '').find((one) => one.gpu.id === gpu.id);
  // No server spans several slices.
  if (slice !== undefined) return neededGiB <= sliceGiB(slice.profile);
  const devices = accelerator.open.devicesOn(gpu.id);
  const memory = deviceGiB(gpu);
  if (devices === null || memory === null) return true;
  return neededGiB <= memory * Math.ceil(devices) * podsPerModel(workload);
}

function podsPerModel(workload: Workload): number {
  if (!isGroupKind(workload)) return 1;
  return workload.podSets.reduce((sum, { pods }) => sum + (pods.max ?? Infinity), 0);
}

/**
 * Whether a variable makes ROCm treat the card as another one of the RDNA generations (gfx10 to gfx12), which only cards need that it does not support: a
 * desktop's or a processor's own. https://github.com/ROCm/TheRock/issues/1719
 */
export function overridesCard({ containers }: PodSet): boolean {
  return containers.some(({ env }) =>
    env.some(({ name, value }) => name === 'HSA_OVERRIDE_GFX_VERSION' && /^1[0-2]\./.test(value?.value ?? '')),
  );
}
