import {
  type AcceleratorForm,
  acceleratorResource,
  gpus,
  migByResource,
  migShare,
  migTable,
} from '../catalog/index.ts';
import { table } from '../yaml/table.ts';
import { countIn } from './count.ts';
import type { Selector } from './workload.ts';

// The share of a card that one unit of a resource takes, in devices; null if unknown.

/** The share of a card that a MIG slice takes; null if it differs among the candidate models. */
export function sliceShare(resource: string, candidates: readonly string[]): number | null {
  const shares = migByResource(resource)
    .filter(({ gpu }) => candidates.includes(gpu.id))
    .map(({ table, profile }) => migShare(table, profile));
  return same(shares);
}

/**
 * The share of a card that one `nvidia.com/gpu` takes on the selected nodes: 1, a time slice, a MIG slice under the single strategy, or null if
 * the nodes share their cards in an unknown way.
 * @param configured pods per card according to the config
 */
export function nodeSharing(
  selectors: readonly Selector[],
  configured: number | null,
): (model: string | null) => number | null {
  return sharingByLabels(valueIn(selectors), configured);
}

/** The same, from the labels that nodes have. */
export function sharingByLabels(
  value: LabelValueOf,
  configured: number | null,
): (model: string | null) => number | null {
  const partition = sliceByLabels(value);
  const counted = podsByLabels(value);
  const pods = counted ?? (areShared(value) ? configured : 1);
  // Slices can also be shared.
  if (partition !== undefined) return (model) => partOfSlice(partitionShare(model, partition), pods);
  if (counted === null && (value(migConfig) ?? 'all-disabled') !== 'all-disabled') return () => null;
  return () => (pods === null ? null : 1 / pods);
}

/** How many pods share a card, or its slice, according to labels; null if they do not say. */
function podsByLabels(value: LabelValueOf): number | null {
  const keys = ['cloud.google.com/gke-max-shared-clients-per-gpu', 'nvidia.com/gpu.replicas'];
  return keys.map((key) => countIn(value(key)) ?? 0).find((count) => count >= 1) ?? null;
}

function areShared(value: LabelValueOf): boolean {
  return (
    /-SHARED$/.test(value('nvidia.com/gpu.product') ?? '') ||
    value('cloud.google.com/gke-gpu-sharing-strategy') !== undefined ||
    (value('nvidia.com/gpu.sharing-strategy') ?? 'none') !== 'none'
  );
}

/** The MIG profile that one `nvidia.com/gpu` is on the selected nodes, `2g.20gb`; undefined unless the labels name one. */
export function selectedSlice(selectors: readonly Selector[]): string | undefined {
  return sliceByLabels(valueIn(selectors));
}

/** The same, from the labels that nodes have. */
export function sliceByLabels(value: LabelValueOf): string | undefined {
  return (
    value(partitionSize) ??
    /-MIG-(\S+?)(?:-SHARED)?$/.exec(value('nvidia.com/gpu.product') ?? '')?.[1] ??
    /^all-(\d.*)$/.exec(value(migConfig) ?? '')?.[1]
  );
}

/** The cards that GKE cuts into slices of the selected size. https://cloud.google.com/kubernetes-engine/docs/how-to/gpus-multi */
export function cardsCutBy(selectors: readonly Selector[]): readonly string[] {
  const size = valueIn(selectors)(partitionSize);
  if (size === undefined) return [];
  return migByResource(`nvidia.com/mig-${size}`).flatMap(({ gpu }) =>
    gpu.labels[gkeCard] === undefined ? [] : gpu.id,
  );
}

/** The label of GKE's nodes with slices. */
export const partitionSize = 'cloud.google.com/gke-gpu-partition-size';
const gkeCard = 'cloud.google.com/gke-accelerator';
const migConfig = 'nvidia.com/mig.config';

/** The value of a label, if it is known. */
type LabelValueOf = (key: string) => string | undefined;

function valueIn(selectors: readonly Selector[]): LabelValueOf {
  if (selectors.length === 0) return () => undefined;
  return (key) => selectors.find((selector) => selector.key === key)?.values[0]?.value ?? undefined;
}

function partitionShare(model: string | null, profileName: string): number | null {
  const table = model === null ? undefined : migTable(model);
  const profile = table?.profiles.find(({ name }) => name === profileName);
  return table === undefined || profile === undefined ? null : migShare(table, profile);
}

/** Cores per Neuron device. Trainium2 has 4 or 8, depending on the node's logical core configuration. https://awsdocs-neuron.readthedocs-hosted.com/ */
const neuronCores = table<number>({ inferentia1: 4, inferentia2: 2, trainium1: 2 });

/**
 * The part of a device that one `aws.amazon.com/neuroncore` is; null if the models differ in it or have no fixed number.
 * @param candidates ids of models
 */
export function neuronCoreShare(candidates: readonly string[]): number | null {
  return same(candidates.map((model) => 1 / (neuronCores[model] ?? Number.NaN)));
}

/** Compute partitions of an AMD card by mode; CPX makes one of each compute die. https://instinct.docs.amd.com/projects/amdgpu-docs/en/latest/gpu-partitioning/ */
const amdModes = table<number>({ spx: 1, dpx: 2, tpx: 3, qpx: 4 });
const amdDies = table<number>({ mi300x: 8, mi325x: 8, mi350x: 8, mi355x: 8 });

/**
 * Modes of AMD's cards that divide the memory with the dies, smallest partition first: CDNA 3 has up to four domains of memory, CDNA 4 two.
 * https://github.com/ROCm/gpu-operator, the partition profiles of the config manager
 */
export function amdPartitionModes(model: string): readonly string[] {
  if (amdDies[model] === undefined) return [];
  return /^mi35/.test(model) ? ['cpx_nps2', 'qpx_nps2', 'dpx_nps2'] : ['cpx_nps4', 'dpx_nps2'];
}

/**
 * The part of a card that one partition is (`amd.com/cpx_nps4`); null if the mode or the number of dies is unknown.
 * @param candidates ids of models
 */
export function amdPartitionShare(resource: string, candidates: readonly string[]): number | null {
  const mode = /^amd\.com\/([a-z]+)_nps/.exec(resource)?.[1] ?? '';
  if (mode === 'cpx') return same(candidates.map((model) => 1 / (amdDies[model] ?? Number.NaN)));
  const parts = amdModes[mode];
  return parts === undefined ? null : 1 / parts;
}

/**
 * The share of a card that one unit of a resource takes on nodes; null if unknown.
 * @param sharing how the nodes share their cards, by model
 * @param configured pods per card according to the config
 * @param podsPerSlice pods that share a MIG slice; null: unknown
 */
export function unitShare(
  resource: string,
  form: AcceleratorForm,
  models: readonly string[],
  sharing: (model: string | null) => number | null,
  configured: number | null,
  podsPerSlice: (resource: string) => number | null = () => null,
): number | null {
  switch (form) {
    case 'whole':
      return sharing(models.length === 1 ? (models[0] ?? null) : null);
    case 'mig':
      return partOfSlice(sliceShare(resource, models), podsPerSlice(resource) ?? 1);
    case 'core':
      // A chip of TPU v2 and v3 has two cores. https://cloud.google.com/tpu/docs/v3
      return resource.startsWith('cloud-tpus.google.com/') ? 1 / 2 : neuronCoreShare(models);
    case 'shared':
      if (resource.startsWith('nvidia.com/mig-'))
        return partOfSlice(sliceShare(resource, models), podsPerSlice(resource.replace(/\.shared$/, '')));
      return resource.startsWith('amd.com/')
        ? amdPartitionShare(resource, models)
        : renamed(resource, sharing, configured);
    default:
      return null;
  }
}

function partOfSlice(share: number | null, pods: number | null): number | null {
  return share === null || pods === null ? null : share / pods;
}

/** The pods that share a MIG slice on the selected nodes, by its resource; null if their labels do not say. */
export function slicePods(selectors: readonly Selector[]): (resource: string) => number | null {
  return (resource) => countIn(valueIn(selectors)(`${resource}.replicas`)) || null;
}

/** `nvidia.com/gpu.shared` is a time slice; the number per card is known only from node labels or the config. */
function renamed(
  resource: string,
  sharing: (model: string | null) => number | null,
  configured: number | null,
): number | null {
  const share = resource === 'nvidia.com/gpu.shared' ? sharing(null) : null;
  if (share !== 1) return share;
  return configured === null ? null : 1 / configured;
}

/** The share of a card that an amount of memory corresponds to. */
export function memoryShare(mebibytes: number | undefined, candidates: readonly string[]): number | null {
  if (mebibytes === undefined) return null;
  return same(candidates.map((model) => Math.min(1, mebibytes / ((gpus.get(model)?.memoryGiB ?? Number.NaN) * 1024))));
}

/**
 * The share of a card that one virtual GPU takes: the larger of its shares of memory and cores. Without a memory request it is unknown,
 * because the cluster sets the default (https://project-hami.io/docs/), unless the cores are shares of cards.
 */
export function virtualShare(
  counters: readonly { readonly resource: string; readonly perPod: number | null }[],
  candidates: readonly string[],
): number | null {
  let memory: number | null = null;
  let compute = 0;
  let cards: number | null = null;
  let isKnown = true;
  for (const { resource, perPod } of counters) {
    const unit = acceleratorResource(resource)?.unit;
    if (perPod === null) isKnown = false;
    if (unit === undefined || perPod === null) continue;
    if (unit.of === 'compute') {
      compute = perPod * unit.share;
      if (unit.alone === true) cards = compute;
    } else if ('share' in unit) {
      memory = perPod * unit.share;
      if (unit.total === true) cards = Math.max(cards ?? 0, memory);
    } else memory ??= memoryShare(perPod * unit.mebibytes, candidates);
  }
  // Several cards are whole ones, so their memory does not matter.
  if (cards !== null && cards >= 1) return cards;
  if (!isKnown) return null;
  if (memory === null || !Number.isFinite(memory)) return cards;
  return Math.min(1, Math.max(memory, compute));
}

/** The memory in MiB that one virtual GPU takes of its card; 0 if none is requested. */
export function virtualMiB(counters: readonly { readonly resource: string; readonly perPod: number | null }[]): number {
  const sizes = counters.map(({ resource, perPod }) => {
    const unit = acceleratorResource(resource)?.unit;
    return unit?.of === 'memory' && 'mebibytes' in unit ? unit.mebibytes * (perPod ?? 0) : 0;
  });
  return Math.max(0, ...sizes);
}

/** The value that all candidates share; null if there are none, if they differ or if one is unknown. */
function same(values: readonly number[]): number | null {
  const [first] = values;
  return first !== undefined && Number.isFinite(first) && values.every((value) => value === first) ? first : null;
}
