import type { FileAnalysis } from '../../analysis.ts';
import type { GpuModel, InstanceType } from '../../catalog/index.ts';
import { acceleratorResource, gpus, instanceType, migByResource } from '../../catalog/index.ts';
import { formatCount, formatNumber, plural } from '../../cost/money.ts';
import { mostAtOnce, rangeOf, timesCount } from '../../cost/range.ts';
import { requestedWords } from '../../cost/requested-words.ts';
import type { Range } from '../../cost/types.ts';
import { isCounter, isRequested } from '../../model/accelerators.ts';
import { plus } from '../../model/count.ts';
import { times } from '../../model/kinds/pod-sets.ts';
import { cardsOfMachines } from '../../model/machine-terms.ts';
import { knownResource, resourceName } from '../../model/requested-resource.ts';
import type { PodAccelerator, PodSet, Workload } from '../../model/workload.ts';
import { getIn, keySpanOf } from '../../yaml/cursor.ts';
import type { Span } from '../../yaml/span.ts';

// GPUs as lenses, hovers, pickers and the status bar name them.

/** `1–3 × H100 80GB SXM`, `2 GPUs`, `4 × MIG 1g.10gb of A100 80GB SXM + 1 × L4`; an empty string without a request. */
export function describeAccelerators(workload: Workload): string {
  const sets = new Map<string, CountedDevices[]>();
  const isKnown = new Map<string, boolean>();
  for (const podSet of workload.podSets) {
    for (const accelerator of requestedDevices(podSet)) {
      const { name, known } = nameOfAccelerator(accelerator, partOfCard(podSet, accelerator));
      const { min, max } = perPodOf(accelerator);
      const { pods } = podSet;
      const all = sets.get(name) ?? [];
      all.push({ pods, min: times(pods, min).min, max: times(pods, max).max });
      sets.set(name, all);
      isKnown.set(name, isKnown.get(name) ?? known);
    }
  }
  return [...sets]
    .map(([name, all]) => (isKnown.get(name) ? `${formatCount(atOnce(all))} × ${name}` : plural(atOnce(all), name)))
    .join(' + ')
    .concat(sets.size > 0 && workload.per ? ` per ${workload.per}` : '');
}

interface CountedDevices extends Count {
  readonly pods: PodSet['pods'];
}

/** The devices of several pod sets, as many as they use at once. */
function atOnce(all: readonly CountedDevices[]): Count {
  const known = all.flatMap(({ pods, max }) => (max === null ? [] : [{ pods, amount: max }]));
  const min = all.reduce<number | null>((sum, one) => plus(sum, one.min), 0);
  return { min, max: known.length < all.length ? null : Math.max(mostAtOnce(known), min ?? 0) };
}

/** The devices of one pod as written; a range if alternatives differ in their number. */
export function perPodOf({ perPod, between }: PodAccelerator): Count {
  return between ?? { min: perPod, max: perPod };
}

/** The accelerators of a pod set that stand for devices; counters of cores and memory only refine others. */
export function requestedDevices(podSet: PodSet): readonly PodAccelerator[] {
  const requested = podSet.accelerators.filter(isRequested);
  const devices = requested.filter(({ form }) => form === 'whole' || form === 'mig' || form === 'shared');
  return devices.length > 0 ? devices : requested.slice(0, 1).map(asCards);
}

/** A counter that states the share of cards, as these cards. */
function asCards(one: PodAccelerator): PodAccelerator {
  const { devices } = one;
  return devices === null || !isCounter(one)
    ? one
    : { ...one, perPod: devices, form: Number.isInteger(devices) ? 'whole' : 'shared' };
}

/** The workloads of a file that request an accelerator and run on their own or have a price per replica, each with its document. */
export function acceleratedWorkloads(file: FileAnalysis): readonly {
  readonly workload: Workload;
  readonly document: FileAnalysis['documents'][number];
}[] {
  return workloadsOf(file, (workload) => workload.replica ?? workload);
}

/** The same workloads with their numbers of pods: those that run on their own, and those of releases of values. */
export function runningWorkloads(file: FileAnalysis): ReturnType<typeof acceleratedWorkloads> {
  return workloadsOf(file, (workload) => workload.release ?? workload);
}

function workloadsOf(
  file: FileAnalysis,
  shown: (workload: Workload) => Workload,
): readonly { readonly workload: Workload; readonly document: FileAnalysis['documents'][number] }[] {
  if (!file.hasAccelerators) return [];
  return file.documents.flatMap((document) =>
    document.costed
      .map(shown)
      .filter(
        ({ role, podSets }) => role !== 'definition' && podSets.some((podSet) => requestedDevices(podSet).length > 0),
      )
      .map((workload) => ({ workload, document })),
  );
}

/** Where the hover with the details opens: at the kind, or at the first request without one. In the document. */
export function detailsAt({ manifest, podSets }: Workload): Span {
  const [request] = podSets.flatMap(({ containers }) => containers.flatMap(({ accelerators }) => accelerators));
  return keySpanOf(getIn(manifest.root, 'kind') ?? (request?.limit ?? request?.request)?.at ?? manifest.root);
}

/** The noun for requested devices: not all are GPUs. */
export function nounOfDevices(accelerators: readonly PodAccelerator[]): string {
  return deviceNoun(accelerators.map(({ requested, model }) => ({ resource: resourceName(requested) ?? '', model })));
}

/** The same, from resource names. */
export function deviceNoun(
  accelerators: readonly { readonly resource: string; readonly model: string | null }[],
): string {
  const nouns = new Set(accelerators.map(({ resource, model }) => nounOf(resource, model)));
  return nouns.size > 1 ? 'accelerator' : ([...nouns][0] ?? 'GPU');
}

function nounOf(resource: string, model: string | null): string {
  switch (acceleratorResource(resource)?.vendor ?? gpus.get(model ?? '')?.vendor) {
    case 'google':
      return 'TPU chip';
    case 'aws':
      return 'Neuron device';
    case 'nvidia':
    case 'amd':
    case 'intel':
    case 'biren':
    case 'iluvatar':
    case 'metax':
    case 'moore-threads':
      return 'GPU';
    case undefined:
    case null:
      return resource === '' || /gpu/i.test(resource) ? 'GPU' : 'accelerator';
    default:
      return 'accelerator';
  }
}

/** `Deployment/llama`, `Pod`. */
export function describeWorkload({ kind, name }: Workload): string {
  return name === null ? kind : `${kind}/${name}`;
}

/** `Hopper, 80 GB, 3,350 GB/s, 989 bf16 TFLOPS, MIG`; without values that have no source. */
export function describeGpu(gpu: GpuModel): string {
  const sourced = <T>(field: string, value: T): T | null => (gpu.unsourced.includes(field) ? null : value);
  const memory = sourced('memoryGiB', gpu.memoryGiB);
  const bandwidth = sourced('memoryBandwidth', gpu.memoryBandwidth);
  const tflops = sourced('tflops', gpu.tflops.bf16);
  return [
    sourced('architecture', gpu.architecture),
    memory === null ? null : `${formatNumber(memory)} GB`,
    bandwidth === null ? null : `${formatNumber(bandwidth)} GB/s`,
    tflops === null ? null : `${formatNumber(tflops)} dense bf16 TFLOPS`,
    gpu.migCapable ? 'MIG' : null,
  ]
    .filter((part) => part !== null && part !== '')
    .join(', ');
}

/** `Lightning-AI/litgpt` for `Lightning-AI/litgpt@commit:path (date)`, `learn.microsoft.com` for a page: a name, not an address to type. */
export function sourceName(source: string): string {
  return /^[\w.-]+\/[\w.-]+(?=@)/.exec(source)?.[0] ?? /^https?:\/\/([^/]+)/.exec(source)?.[1] ?? source;
}

/** Some providers have one price for all regions; the catalog then names no region. */
export function isRegion(region: string): boolean {
  return region !== '' && region !== 'all' && region !== 'global';
}

function sliceOf(gpu: string | undefined, profile: string): string {
  return gpu === undefined ? `MIG ${profile}` : `MIG ${profile} of ${gpu}`;
}

/** `1/8`, `3/7`, `37.7%`; in percent with more parts than `maxParts`. */
export function formatShare(share: number, maxParts = 16): string {
  for (let parts = 1; parts <= maxParts; parts += 1) {
    const numerator = share * parts;
    if (Math.abs(numerator - Math.round(numerator)) < 1e-6 && numerator >= 0.5)
      return parts === 1 ? formatNumber(numerator) : `${Math.round(numerator)}/${parts}`;
  }
  return `${formatNumber(share * 100)}%`;
}

interface Count {
  readonly min: number | null;
  readonly max: number | null;
}

/** The part of a card that one device of the selected machines is: 0.5 on a g4-standard-24, a range if they differ. */
function partOnMachine({ placement }: PodSet): Range {
  const named = instanceType(placement.instanceType ?? '')?.gpuCount;
  const counts = named == null ? cardsOfMachines(placement.terms) : [named];
  const parts = counts.map((count) => (count < 1 ? 1 / Math.round(1 / count) : 1));
  return parts.every((part) => part < 1) ? (rangeOf(parts) ?? oneCard) : oneCard;
}

const oneCard: Range = { min: 1, max: 1 };

/** The part of a card that one requested device is: on a machine with a part of one, and of a card that pods share. */
export function partOfCard(podSet: PodSet, { form, perPod, devices }: PodAccelerator): Range {
  const shared = form === 'whole' && perPod !== null && devices !== null && devices < perPod ? devices / perPod : 1;
  return timesCount(partOnMachine(podSet), shared);
}

/** `1/2 of L4`, `1/8–1/2 of L4`; the name alone for a whole card. */
export function partWords({ min, max }: Range, name: string): string {
  if (max >= 1) return name;
  return `${min === max ? formatShare(min) : `${formatShare(min)}–${formatShare(max)}`} of ${name}`;
}

/** `8 × A100 40GB SXM`, `1/8 of L4` for a machine with a part of a card. */
export function cardsOfMachine({ gpu, gpuCount: count }: Pick<InstanceType, 'gpu' | 'gpuCount'>): string {
  const name = gpus.get(gpu ?? '')?.name ?? 'GPU';
  return count !== null && count < 1 ? partWords({ min: count, max: count }, name) : `${count ?? '?'} × ${name}`;
}

/** @param part of a card that one requested device is */
function nameOfAccelerator(
  { requested, form, model, candidates, slice }: PodAccelerator,
  part: Range,
): { name: string; known: boolean } {
  // Counters of memory or percent do not count devices.
  if (form === 'memory' || form === 'percent') return { name: requestedWords(requested), known: true };
  const gpu = model === null ? undefined : gpus.get(model)?.name;
  if (form === 'mig') {
    const resource = resourceName(requested) ?? '';
    return {
      name: sliceOf(gpu, migByResource(resource)[0]?.profile.name ?? resource.replace(/^.*mig-/, '')),
      known: true,
    };
  }
  // AMD has no MIG.
  if (slice !== undefined)
    return { name: slice.includes('_nps') ? `${slice} of ${gpu ?? 'a GPU'}` : sliceOf(gpu, slice), known: true };
  if (gpu !== undefined) {
    if (form === 'core') {
      const core = knownResource(requested)?.vendor === 'aws' ? 'NeuronCore' : 'core';
      return { name: `${core} of ${gpu}`, known: true };
    }
    return { name: form === 'shared' ? `shared ${gpu}` : partWords(part, gpu), known: true };
  }
  const alternatives = candidates.map((id) => gpus.get(id)?.name ?? id);
  if (form === 'shared') return { name: 'shared GPU', known: false };
  if (alternatives.length > 1 && alternatives.length <= 3) return { name: alternatives.join(' or '), known: true };
  // A claim that several pods share.
  if (part.max < 1) return { name: partWords(part, 'a GPU'), known: true };
  const vendor = knownResource(requested)?.vendor;
  if (vendor === 'google') return { name: 'TPU chip', known: false };
  if (vendor === 'aws') return { name: form === 'core' ? 'NeuronCore' : 'Neuron device', known: false };
  return { name: /gpu|^amd\.com|^nvidia\.com/.test(requested.name) ? 'GPU' : 'accelerator', known: false };
}
