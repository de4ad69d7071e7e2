import { deviceGiB, gpus, migByResource, sliceGiB } from '../catalog/index.ts';
import type { ProjectConfig } from '../config.ts';
import { formatNumber } from '../cost/format.ts';
import { estimateServing, type MemoryEstimate, usableGiB } from '../memory/serving.ts';
import type { AcceleratorRequest, Container, PodSet, Workload } from '../model/workload.ts';
import type { Block } from './markdown.ts';

/** What the model of a container needs of the memory that a request of it is for; nothing where the model is not known. */
export function memoryFacts(
  workload: Workload,
  podSet: PodSet,
  container: Container,
  request: AcceleratorRequest,
  config: ProjectConfig,
): readonly Block[] {
  const estimate = estimateServing(container, workload);
  if (estimate === undefined) return [];
  const { model, name, weightsGiB, cacheGiB, context, contextFrom, bits, overheadGiB, neededGiB } = estimate;
  const of = contextFrom === 'flag' ? 'as its flag says' : 'the longest of the model';
  const memory = memoryOf(podSet, request);
  const share = memory === null ? '' : ` of ${tenth(memory)} (${Math.round((neededGiB / memory) * 100)} %)`;
  return [
    {
      kind: 'list',
      title: `Memory for ${name}`,
      items: [
        `About ${tenth(neededGiB)} GiB${share}, for one request at a time; more requests take more cache`,
        `Weights: ${tenth(weightsGiB)} GiB at ${bits} bits, from ${sourceName(model.source)}, as of ${model.date ?? 'date unknown'}`,
        `Cache of one request of ${formatNumber(context)} tokens (${of}): ${tenth(cacheGiB)} GiB`,
        `Runtime and buffers of the server: ${overheadGiB} GiB, assumed`,
        `Kept free when parts of a GPU are offered: ${Math.round(config.headroom * 100)} % (headroom, ${config.origins?.headroom ?? 'default'})`,
      ],
    },
  ];
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
