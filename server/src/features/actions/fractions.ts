import { gpus } from '../../catalog/index.ts';
import { otherCards, pricedPod } from '../../cost/levers.ts';
import { formatHourly, formatNumber } from '../../cost/money.ts';
import { type Devices, wholeCards } from '../../memory/fit.ts';
import { platformOf } from '../../model/platform.ts';
import type { ServedModel } from '../../model/served-model.ts';
import { amdPartitionModes, amdPartitionShare } from '../../model/shares.ts';
import type { PodSet } from '../../model/workload.ts';
import { type Fix, fix } from '../../rewrite/fix.ts';
import {
  asAmdPartition,
  asAnnotation,
  asHami,
  asTensorParallel,
  asTimeSlice,
  asVolcano,
  sharesMemory,
} from '../../rewrite/fractions.ts';
import { isOneWholeGpu, rewriteToMig, type SliceForm, sliceForm } from '../../rewrite/mig.ts';
import { moveToCard } from '../../rewrite/select-machine.ts';
import { asText, getIn } from '../../yaml/cursor.ts';
import { type Fraction, fittingSlices, shareWords, sliceSign, sliceWords } from './fraction.ts';
import { largerParts } from './larger-parts.ts';
import { offeredForm } from './offered.ts';
import type { Place, ProofBudget } from './proof.ts';
import {
  devicesOf,
  heldBy,
  holds,
  type Part,
  perGpu,
  provenInFile,
  type Resizable,
  type Sized,
  target,
} from './resizable.ts';

/**
 * Everything on which the model fits, without proofs: what the connected cluster and the config offer first, then the cheapest first. For a model that does not fit: what is
 * large enough.
 */
export function fractionsOf(place: Resizable): readonly Fraction[] {
  const { part } = place;
  const found =
    part !== null
      ? largerParts(place, part)
      : place.direction === 'less'
        ? [...cards(place), ...fewer(place), ...parts(place)]
        : larger(place);
  return ranked(place, found);
}

/** What the connected cluster and the config offer first, then the cheapest first. */
export function ranked<One extends Omit<Fraction, 'edits'>>(
  place: Pick<Place, 'document'>,
  found: readonly One[],
): readonly One[] {
  const cost = ({ hourly }: One) => hourly?.min ?? Number.POSITIVE_INFINITY;
  const rank = ({ offered, needs }: One) => (offered === true ? 0 : needs === null ? 1 : 2);
  return found.map((one) => inCluster(place, one)).sort((a, b) => rank(a) - rank(b) || cost(a) - cost(b) || 0);
}

/** With what the connected cluster offers: it knows better than the config. */
function inCluster<One extends Omit<Fraction, 'edits'>>({ document }: Pick<Place, 'document'>, one: One): One {
  const offered = one.sign && offeredForm(document, one.sign);
  if (offered === undefined) return one;
  if (offered.is) return { ...one, offered: true, needs: null };
  return { ...one, needs: `${one.needs ?? 'such nodes'}, which ${offered.cluster} does not have` };
}

/** The edit of a fraction, with offsets in the file; undefined if it cannot be made without damage. */
export function fractionFix(place: Resizable, { label, edits }: Fraction, budget: ProofBudget): Fix | undefined {
  return provenInFile(place, fix(`Use ${label}`, 'unsafe', edits()), budget);
}

/** More choices only repeat the first ones. */
const maxCards = 4;

/** Other whole GPUs of the provider, if they are cheaper. */
function cards(
  place: Resizable,
  isWanted: (hourly: number, now: number) => boolean = (a, b) => a < 0.95 * b,
): Fraction[] {
  const { podSet, config, document, served } = place;
  const priced = pricedPod(podSet, config.prices);
  if (priced === undefined || podSet.containers.filter(({ accelerators }) => accelerators.length > 0).length > 1)
    return [];
  const prices = otherCards(priced, config.prices, (devices) => holds(place, served, devices));
  const wanted = prices.filter(({ hourly }) => isWanted(hourly, priced.now.hourly)).slice(0, maxCards);
  return wanted.flatMap(({ offer, hourly }): Fraction[] => {
    const gpu = gpus.get(offer.gpu);
    const { provider, instanceType } = offer;
    const card = gpu === undefined ? null : wholeCards(gpu);
    if (gpu === undefined || card === null || provider === null) return [];
    const price = `${formatHourly(hourly)} instead of ${formatHourly(priced.now.hourly)}`;
    return [
      {
        id: `card ${gpu.id}`,
        label: `${gpu.name} (${instanceType})`,
        description: `${heldBy(place, card)}, ${price}`,
        needs: null,
        sign: { label: 'node.kubernetes.io/instance-type', end: instanceType },
        hourly: { min: hourly, max: hourly },
        edits: () => moveToCard(document.document, podSet, gpu, { provider, instanceType }),
      },
    ];
  });
}

/** Another number of the same GPU, with tensor parallelism. */
function fewer(place: Resizable): Fraction[] {
  const counts = [1, 2, 4].filter((count) => count < place.count);
  return counts.flatMap((count) => several(place, count)).slice(0, 1);
}

function several(place: Resizable, count: number): Fraction[] {
  const { served, gpu, cardGiB, estimate } = place;
  const spread: ServedModel = { ...served, tensor: count, pipeline: 1 };
  const cards: Devices = { eachGiB: cardGiB, count, card: gpu.id };
  if (estimate.shape.heads % count !== 0 || !holds(place, spread, cards)) return [];
  const hourly = perGpu(place, count);
  return [
    {
      id: `count ${count}`,
      label: `${count} × ${gpu.name}`,
      description: [heldBy(place, cards, spread), ...(hourly === null ? [] : [formatHourly(hourly)])].join(', '),
      needs: null,
      hourly,
      edits: () => asTensorParallel(target(place), count),
    },
  ];
}

function larger(place: Resizable): Fraction[] {
  const more = [2, 4, 8]
    .filter((count) => count > place.count)
    .flatMap((count) => several(place, count))
    .slice(0, 1);
  return [...more, ...cards(place, () => true)];
}

/** Parts of the one GPU that the container requests. */
function parts(place: Resizable): Fraction[] {
  const { count, gpu, request } = place;
  if (count !== 1) return [];
  if (gpu.vendor === 'amd' && request.resource === 'amd.com/gpu') return amdPartitions(place);
  if (gpu.vendor !== 'nvidia' || !isOneWholeGpu(request)) return [];
  return [...slices(place), ...timeSlices(place), ...virtual(place), ...annotated(place)];
}

function slices(place: Resizable): Fraction[] {
  const { gpu, podSet, config, document, request, container } = place;
  const form = sliceForm(podSet, config);
  if (form === undefined) return [];
  const isKnown = form === 'gke-label' || config.migStrategy !== null;
  return fittingSlices(place).map(({ profile, hourly }) => ({
    ...sliceWords(place, { profile, hourly }),
    needs: isKnown ? null : formNeeds[form],
    sign: sliceSign(form, profile),
    edits: () => rewriteToMig(document.document, request, { container, podSet, gpu }, profile, form)?.edits,
  }));
}

const formNeeds: Readonly<Record<SliceForm, string>> = {
  resource: 'nodes with MIG strategy mixed',
  'product-label': 'nodes with MIG strategy single',
  'gke-label': 'a node pool with GPU partitions',
};

function timeSlices(place: Resizable): Fraction[] {
  const { podSet, config } = place;
  const { sharing } = config;
  const found = timeShare(place);
  if (found === undefined) return [];
  const { pods, isMps } = found;
  const isGke = platformOf(podSet, config)?.facts.provider === 'gcp';
  const isDeclared = sharing.strategy !== null || sharing.replicas !== null;
  const form = !isGke ? 'shared-resource' : isMps ? 'gke-mps' : 'gke-time-sharing';
  const method = isMps ? 'MPS' : 'time slicing';
  return [
    {
      ...shareWordsOf(place, partOfGpu(place, 'shared', 1 / pods), `1/${pods} of the GPU (${method})`, 'shares'),
      id: 'time slice',
      needs: isDeclared ? null : isGke ? 'a node pool with GPU sharing' : 'nodes that offer nvidia.com/gpu.shared',
      sign: isGke
        ? { label: 'cloud.google.com/gke-gpu-sharing-strategy', end: form === 'gke-mps' ? 'mps' : 'time-sharing' }
        : { resource: 'nvidia.com/gpu.shared' },
      edits: () => asTimeSlice(target(place), pods, form),
    },
  ];
}

/** HAMi and Volcano limit memory and compute of a process. */
function virtual(place: Resizable): Fraction[] {
  const { served, cardGiB } = place;
  const pods = [10, 8, 5, 4, 3, 2].find((count) => holds(place, served, partOfGpu(place, 'counted', 1 / count)));
  if (pods === undefined) return [];
  const share = 1 / pods;
  const part = partOfGpu(place, 'counted', share);
  const mebibytes = Math.floor((cardGiB * 1024 * share) / 100) * 100;
  const scheduler = schedulerOf(place.podSet);
  return [
    {
      ...shareWordsOf(place, part, `HAMi: ${formatNumber(mebibytes)} MiB of the GPU`, 'shares'),
      id: 'hami',
      needs: scheduler === 'hami-scheduler' ? null : 'HAMi on the nodes',
      edits: () => asHami(target(place), mebibytes, Math.floor(100 * share)),
    },
    {
      ...shareWordsOf(place, part, `Volcano: ${formatNumber(mebibytes)} MiB of the GPU`, 'shares'),
      id: 'volcano',
      needs: scheduler === 'volcano' ? null : "Volcano's device plugin on the nodes",
      sign: { resource: 'volcano.sh/vgpu-number' },
      edits: () => asVolcano(target(place), mebibytes),
    },
  ];
}

/** KAI and Run:ai, only where the scheduler is theirs. */
function annotated(place: Resizable): Fraction[] {
  const { podSet, served } = place;
  const isTheirs = /^(?:kai|runai)-scheduler/.test(schedulerOf(podSet) ?? '');
  const pods = isTheirs && sharesMemory(served.engine) ? mostSharers(place, [2, 4, 5, 10]) : undefined;
  if (pods === undefined) return [];
  const name = schedulerOf(podSet)?.startsWith('kai') ? 'KAI' : 'Run:ai';
  return [
    {
      ...shareWordsOf(place, partOfGpu(place, 'annotated', 1 / pods), `${name}: gpu-fraction ${1 / pods}`, 'shares'),
      id: 'gpu-fraction',
      needs: null,
      edits: () => asAnnotation(target(place), 1 / pods),
    },
  ];
}

function amdPartitions(place: Resizable): Fraction[] {
  return amdPartition(place).map(({ mode, words }) => ({
    ...words,
    needs: 'nodes with partitioned GPUs under their own names',
    sign: { resource: words.id },
    edits: () => asAmdPartition(target(place), `amd.com/${mode}`),
  }));
}

/** The smallest partition of an AMD GPU on which the model fits. */
export function amdPartition(place: Sized) {
  const modes = amdPartitionModes(place.gpu.id).map((mode) => {
    const resource = `amd.com/${mode}`;
    return { mode, resource, share: amdPartitionShare(resource, [place.gpu.id]) ?? 1 };
  });
  return modes
    .filter(({ share }) => share < 1 && holds(place, place.served, partOfGpu(place, 'partition', share)))
    .slice(0, 1)
    .map(({ mode, resource, share }) => ({
      mode,
      words: {
        ...shareWordsOf(place, partOfGpu(place, 'partition', share), `Partition ${resource}`, 'partitions'),
        id: resource,
      },
    }));
}

/** A share of the GPU that pods take turns on, as many as nothing stops: by time slicing, MPS, or a claim. */
export function timeShare(place: Sized): { readonly pods: number; readonly isMps: boolean } | undefined {
  const { config, served } = place;
  if (!sharesMemory(served.engine)) return undefined;
  const pods = config.sharing.replicas ?? mostSharers(place, [2, 3, 4, 6, 8]);
  const isMps = config.sharing.strategy === 'mps';
  return pods === undefined || pods < 2 || !holdsShare(place, 1 / pods) ? undefined : { pods, isMps };
}

export function shareWordsOf(
  place: Sized,
  devices: Devices,
  label: string,
  others: string,
): Pick<Fraction, 'label' | 'description' | 'hourly'> {
  const all = perGpu(place);
  const share = devices.eachGiB / place.cardGiB;
  const hourly = all && { min: all.min * share, max: all.max * share };
  return { label, description: `${heldBy(place, devices)}${shareWords(hourly, others)}`, hourly };
}

/** A share of the GPU as a part of a kind. */
export function partOfGpu({ gpu, cardGiB }: Sized, kind: Part['kind'], share: number): Devices {
  return devicesOf(gpu, kind, cardGiB * share);
}

/** Whether the model fits in a share that nothing divides, with the part of memory that the rewrite gives the server. */
function holdsShare(place: Sized, share: number): boolean {
  const fraction = place.estimate.fraction === null ? null : 0.95;
  return holds(place, { ...place.served, fraction }, partOfGpu(place, 'shared', share));
}

/** The most pods that can share a card on which nothing divides the memory. */
function mostSharers(place: Sized, counts: readonly number[]): number | undefined {
  return counts.filter((pods) => holdsShare(place, 1 / pods)).at(-1);
}

function schedulerOf({ pod }: PodSet): string | undefined {
  return asText(getIn(pod, 'schedulerName'));
}
