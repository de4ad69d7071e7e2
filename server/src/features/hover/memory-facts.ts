import { deviceGiB, gpus, migByResource, sliceGiB } from '../../catalog/index.ts';
import type { ProjectConfig } from '../../config.ts';
import { formatNumber } from '../../cost/format.ts';
import { estimateServing, type MemoryEstimate, usableGiB } from '../../memory/serving.ts';
import type { AcceleratorRequest, Container, PodSet, Workload } from '../../model/workload.ts';
import type { Block } from './markdown.ts';

/** What a hover says of memory. */
export interface MemoryFacts {
  /** The sum, in a line. */
  readonly sum: readonly Block[];
  /** What it rests on. */
  readonly basis: readonly Block[];
}

/** What the model of a container needs of the memory that a request of it is for; nothing where the model is not known. */
export function memoryFacts(
  workload: Workload,
  podSet: PodSet,
  container: Container,
  request: AcceleratorRequest,
  config: ProjectConfig,
): MemoryFacts {
  const estimate = estimateServing(container, workload);
  if (estimate === undefined) return { sum: [], basis: [] };
  const { model, name, weightsGiB, cacheGiB, context, contextFrom, bits, overheadGiB, neededGiB } = estimate;
  const memory = memoryOf(podSet, request);
  const share = memory === null ? '' : ` of ${tenth(memory)} (${Math.round((neededGiB / memory) * 100)} %)`;
  const text = `${name} needs about ${tenth(neededGiB)} GiB${share}: ${tenth(weightsGiB)} for weights, ${tenth(cacheGiB)} for the cache of a request, ${overheadGiB} for the server`;
  const items = [
    `Weights at ${bits} bits, from ${sourceName(model.source)}, as of ${model.date ?? 'date unknown'}`,
    `One request of ${formatNumber(context)} tokens (${contextFrom === 'flag' ? 'as its flag says' : 'the longest of the model'}); more at a time take more cache`,
    `${overheadGiB} GiB for the runtime and the buffers of the server, assumed`,
    `${Math.round(config.headroom * 100)} % of a part of a GPU is kept free (headroom, ${config.origins?.headroom ?? 'default'})`,
  ];
  return { sum: [{ kind: 'text', text }], basis: [{ kind: 'list', title: 'Memory', items }] };
}

/** How a model fits into a part of a card. */
export type Fit = 'fits' | 'short-requests' | 'too-small';

/** Whether the weights fit into so much memory, and a request of the longest length beside them, with the headroom left free. */
export function fitOf(
  { weightsGiB, overheadGiB, neededGiB }: MemoryEstimate,
  memoryGiB: number,
  headroom: number,
): Fit {
  const usable = usableGiB(memoryGiB, headroom);
  if (neededGiB <= usable) return 'fits';
  return weightsGiB + overheadGiB <= usable ? 'short-requests' : 'too-small';
}

/** Of all devices that are asked for together, in GiB; null where the device is not known. No server is split over several slices. */
function memoryOf({ accelerators }: PodSet, { resource, form, count }: AcceleratorRequest): number | null {
  const inPod = accelerators.find((accelerator) => accelerator.resource === resource);
  if (form === 'mig') {
    const [size, ...others] = new Set(migByResource(resource).map(({ profile }) => sliceGiB(profile)));
    return others.length === 0 && count === 1 ? (size ?? null) : null;
  }
  const gpu = gpus.get(inPod?.model ?? '');
  const memory = gpu === undefined ? null : deviceGiB(gpu);
  const isWhole = form === 'whole' && inPod !== undefined && inPod.devices === inPod.perPod;
  return isWhole && memory !== null && count !== null ? memory * count : null;
}

function tenth(gib: number): string {
  return formatNumber(Math.round(gib * 10) / 10);
}

/** `Lightning-AI/litgpt` of `Lightning-AI/litgpt@commit:path (date)`. */
function sourceName(source: string): string {
  return /^[^@\s]+/.exec(source)?.[0] ?? source;
}
