import type { FileAnalysis } from '../../analysis.ts';
import {
  acceleratorResource,
  type GpuModel,
  gpus,
  type MigProfile,
  migByResource,
  migTable,
  sliceGiB,
  usableCardGiB,
} from '../../catalog/index.ts';
import type { ProjectConfig } from '../../config.ts';
import { gpuPrices, priceRange } from '../../cost/gpu-prices.ts';
import { formatGiB, formatNumber } from '../../cost/money.ts';
import type { Range } from '../../cost/types.ts';
import { type Devices, estimateOn, fitOnCard, isEnough } from '../../memory/fit.ts';
import type { MemoryEstimate } from '../../memory/serving.ts';
import { acceleratorByName } from '../../model/requested-resource.ts';
import { isWhole, type ServedModel, servedModel } from '../../model/served-model.ts';
import type { AcceleratorRequest, Container, PodAccelerator, PodSet, Workload } from '../../model/workload.ts';
import type { Fix } from '../../rewrite/fix.ts';
import type { FractionPlace } from '../../rewrite/fractions.ts';
import { countersOf, sharedClientsLabel } from '../../rewrite/larger.ts';
import { asText, getIn } from '../../yaml/cursor.ts';
import { type Span, shiftSpan } from '../../yaml/span.ts';
import { leverFix, tightLevers } from '../serving-levers.ts';
import { type Place, type ProofBudget, provenTogether } from './proof.ts';
import { entryAt, podSetsIn } from './requests-at.ts';

/** A request of a model server for whole GPUs that can be smaller or must be larger, or for a part of one that must be larger. */
export interface Resizable extends Sized {
  readonly request: AcceleratorRequest;
  readonly count: number;
  /** The part of a GPU that it is for, if it is one. */
  readonly part: Part | null;
}

/** A part of a GPU. */
export interface Part {
  /**
   * `mig`: a MIG slice; `shared`: a share of a GPU whose memory nothing divides; `counted`: the request or a claim states the memory; `annotated`: an
   * annotation does, and nothing divides it; `partition`: of an AMD GPU.
   */
  readonly kind: 'mig' | 'shared' | 'counted' | 'annotated' | 'partition';
  /** `MIG slice 1g.10gb`, `1/4 of L4`. */
  readonly label: string;
  readonly memoryGiB: number;
  /** The cards that can have it; the first of them counts as its GPU. */
  readonly cards: readonly GpuModel[];
}

/** A model server on whole GPUs or a part of one. */
export interface Sized extends Place {
  readonly config: ProjectConfig;
  readonly workload: Workload;
  readonly podSet: PodSet;
  readonly container: Container;
  readonly gpu: GpuModel;
  /** What a process finds on each GPU, or its part of one. */
  readonly cardGiB: number;
  readonly served: ServedModel;
  readonly estimate: MemoryEstimate;
  /** `larger`: the model does not fit. */
  readonly direction: 'less' | 'larger';
  /** The entry in the file. */
  readonly span: Span;
}

/** The first such request in a span of the file. */
export function resizableIn(file: FileAnalysis, span: Span): Resizable | undefined {
  for (const [place, inside] of podSetsIn(file, span)) {
    const { document, workload, podSet } = place;
    for (const container of podSet.containers) {
      for (const written of [...container.accelerators, ...annotated(podSet, container)]) {
        const entry = entryAt(written, inside);
        const found = entry && sizeOf(counted(written, container), container, podSet, workload, file.config);
        if (found) return { ...found, file, document, span: shiftSpan(entry, document.base) };
      }
    }
  }
  return undefined;
}

/** The request that a counter next to it belongs to. */
function counted(written: AcceleratorRequest, container: Container): AcceleratorRequest {
  const counters = countersOf(container);
  return counters.includes(written)
    ? (container.accelerators.find((one) => !counters.includes(one)) ?? written)
    : written;
}

/** The annotation of KAI or Run:ai that requests a part of a GPU for the pod's only container, as a request. */
function annotated({ accelerators, containers }: PodSet, container: Container): readonly AcceleratorRequest[] {
  const [only, ...others] = accelerators;
  if (only?.requested.kind !== 'annotation' || others.length > 0 || containers.length > 1 || !only.at) return [];
  const text = asText(only.at) ?? '';
  const request = { at: only.at, text, value: null, templated: false, empty: false };
  return container.type === 'app'
    ? [{ resource: only.requested.name, form: 'shared', limit: undefined, request, count: 1 }]
    : [];
}

function sizeOf(
  request: AcceleratorRequest,
  container: Container,
  podSet: PodSet,
  workload: Workload,
  config: ProjectConfig,
): Omit<Resizable, 'file' | 'document' | 'span'> | undefined {
  const inPod =
    acceleratorByName(podSet.accelerators, request.resource) ??
    podSet.accelerators.find(({ requested }) => requested.kind === 'annotation');
  const part =
    sliceOf(request, inPod) ?? shareOf(request, inPod, podSet, config) ?? statedPart(request, inPod, container);
  const gpu = part?.cards[0] ?? gpus.get(inPod?.model ?? '');
  const cardGiB = part?.memoryGiB ?? (gpu === undefined ? null : usableCardGiB(gpu));
  const { count } = request;
  if (gpu === undefined || cardGiB === null || count === null || count < 1) return undefined;
  if (part === null && (request.form !== 'whole' || inPod?.devices !== inPod?.perPod)) return undefined;
  const counters = part?.kind === 'counted' ? countersOf(container).length : 0;
  if (container.accelerators.length - counters > 1 || (part !== null && count > 1)) return undefined;
  const { model } = servedModel(container, workload);
  // On a shared GPU, its fraction is what the share leaves.
  const served = model !== null && isUndivided(part?.kind) ? { ...model, fraction: model.fraction && 0.95 } : model;
  // Without all settings, nobody knows what fits.
  if (served === null || !isWhole(served)) return undefined;
  const estimate = estimateOn(served, devicesOf(gpu, part?.kind, cardGiB, count));
  if (estimate === null || estimate.devices > count) return undefined;
  const { fits } = fitOnCard(estimate, cardGiB);
  if (part !== null && fits === true) return undefined;
  const direction = part !== null || fits === false ? 'larger' : 'less';
  return { config, workload, podSet, container, request, count, part, gpu, cardGiB, served, estimate, direction };
}

/** The slice that a request is for, by its resource or by a label of the nodes; null for other requests. */
function sliceOf({ form, resource }: AcceleratorRequest, inPod: PodAccelerator | undefined): Part | null {
  if (inPod === undefined || resource.endsWith('.shared')) return null;
  const name = form === 'mig' ? migByResource(resource)[0]?.profile.name : inPod.slice;
  const ids = inPod.model === null ? inPod.candidates : [inPod.model];
  const cards = ids.flatMap((id) => gpus.get(id) ?? []);
  const profiles = cards.map(({ id }) => migTable(id)?.profiles.find((one) => one.name === name));
  const [profile] = profiles;
  return name === undefined || profile === undefined || profiles.includes(undefined)
    ? null
    : { kind: 'mig', label: `MIG slice ${name}`, cards, memoryGiB: sliceGiB(profile) };
}

/** The share of a GPU among a number of pods that GKE's labels state, or the config. */
function shareOf(
  { form, resource }: AcceleratorRequest,
  inPod: PodAccelerator | undefined,
  { pod }: PodSet,
  { sharing }: ProjectConfig,
): Part | null {
  const gpu = gpus.get(inPod?.model ?? '');
  const cardGiB = gpu === undefined ? null : usableCardGiB(gpu);
  const isLabeled = form === 'whole' && getIn(pod, 'nodeSelector', sharedClientsLabel) !== undefined;
  const devices = inPod?.devices ?? null;
  const pods =
    resource === 'nvidia.com/gpu.shared' ? sharing.replicas : isLabeled && devices !== null ? 1 / devices : null;
  if (gpu === undefined || cardGiB === null || pods === null || pods < 2) return null;
  return { kind: 'shared', label: `1/${pods} of ${gpu.name}`, cards: [gpu], memoryGiB: cardGiB / pods };
}

/** The part of a GPU whose memory counters or an annotation state. */
function statedPart(
  { count, resource }: AcceleratorRequest,
  inPod: PodAccelerator | undefined,
  container: Container,
): Part | null {
  const gpu = gpus.get(inPod?.model ?? '');
  const cardGiB = gpu === undefined ? null : usableCardGiB(gpu);
  if (gpu === undefined || cardGiB === null || count !== 1) return null;
  const found = (kind: Part['kind'], gib: number): Part | null =>
    gib > 0 && gib < cardGiB * 0.95
      ? { kind, label: `${formatNumber(Math.round(gib * 1024))} MiB of ${gpu.name}`, cards: [gpu], memoryGiB: gib }
      : null;
  if (inPod?.requested.kind === 'annotation' && inPod.requested.name === resource)
    return found('annotated', inPod.memoryMiB === undefined ? (inPod.devices ?? 0) * cardGiB : inPod.memoryMiB / 1024);
  if (resource.startsWith('amd.com/'))
    return inPod?.form === 'shared' ? found('partition', (inPod.devices ?? 0) * cardGiB) : null;
  const [memory, ...others] = countersOf(container).flatMap(({ resource: name, count: units }) => {
    const unit = acceleratorResource(name)?.unit;
    if (unit?.of !== 'memory' || units === null) return [];
    return 'mebibytes' in unit ? (unit.mebibytes * units) / 1024 : unit.share * units * cardGiB;
  });
  return memory === undefined || others.length > 0 ? null : found('counted', memory);
}

/** For a model that does not certainly fit: flags with which it needs less, with offsets in the file. */
export function smallerFlags(place: Resizable, budget: ProofBudget): readonly Fix[] {
  const { estimate, cardGiB, podSet, request, document, container } = place;
  const fit = fitOnCard(estimate, cardGiB);
  if (fit.fits === true) return [];
  return tightLevers(estimate, fit, podSet, request).flatMap((lever): Fix[] => {
    const made = leverFix(lever, document.document, container);
    const proven = provenInFile(place, made, budget);
    return proven === undefined ? [] : [proven];
  });
}

/** A proven fix with offsets in the file. */
export function provenInFile(place: Place, made: Fix | undefined, budget: ProofBudget): Fix | undefined {
  if (made === undefined || provenTogether(place, [{ edits: made.edits }], budget).length === 0) return undefined;
  const { base } = place.document;
  return { ...made, edits: made.edits.map(({ span, newText }) => ({ span: shiftSpan(span, base), newText })) };
}

/** `needs 11 of 19.5 GiB`. */
export function heldBy({ served, estimate }: Sized, devices: Devices, as: ServedModel = served): string {
  const { eachGiB, count } = devices;
  const { neededGiB } = estimateOn(as, devices) ?? estimate;
  return `needs ${formatGiB(neededGiB)} of ${formatGiB(eachGiB)} GiB${count > 1 ? ' per GPU' : ''}`;
}

/** Whether devices are enough for the model. */
export function holds({ config }: Sized, model: ServedModel, devices: Devices): boolean {
  return isEnough(model, devices, config.headroom);
}

/** Whether nothing divides the memory of such parts. */
export function isUndivided(kind: Part['kind'] | undefined): boolean {
  return kind === 'shared' || kind === 'annotated';
}

/** Whole GPUs or a part of one, as a server finds them: where nothing divides the memory, it reads the size of the whole card. */
export function devicesOf(gpu: GpuModel, kind: Part['kind'] | undefined, eachGiB: number, count = 1): Devices {
  if (kind === 'mig') return { eachGiB, count };
  const seenGiB = isUndivided(kind) ? usableCardGiB(gpu) : null;
  return { eachGiB, count, card: gpu.id, ...(seenGiB !== null && { seenGiB }) };
}

/** One MIG slice. */
export function oneSlice(profile: MigProfile): Devices {
  return { eachGiB: sliceGiB(profile), count: 1 };
}

/** US dollars per hour for one of its GPUs, or for a pod with several; null: unknown. */
export function perGpu({ gpu, podSet, config }: Sized, count = 1): Range | null {
  return priceRange(gpuPrices(gpu, podSet.placement, config.prices, count));
}

/** What the rewrites need of it. */
export function target({ document, request, container, podSet, gpu, served }: Resizable): FractionPlace {
  return { document: document.document, request, container, podSet, gpu, engine: served.engine };
}
