import { gpus, migTable, sliceGiB, usableCardGiB } from '../../catalog/index.ts';
import { otherCards, pricedPod } from '../../cost/levers.ts';
import { migOptions } from '../../cost/mig-options.ts';
import { formatHourly } from '../../cost/money.ts';
import type { Range } from '../../cost/types.ts';
import { platformOf } from '../../model/platform.ts';
import type { ServedModel } from '../../model/served-model.ts';
import type { PodSet } from '../../model/workload.ts';
import { type Edits, type Fix, fix } from '../../rewrite/fix.ts';
import {
  asAmdPartition,
  asAnnotation,
  asHami,
  asSeveral,
  asTimeSlice,
  asVolcano,
  sharesMemory,
} from '../../rewrite/fractions.ts';
import { isOneWholeGpu, rewriteToMig, type SliceForm, sliceForm } from '../../rewrite/mig.ts';
import { moveToCard } from '../../rewrite/select-machine.ts';
import { asText, getIn } from '../../yaml/cursor.ts';
import type { ProofBudget } from './proof.ts';
import { heldBy, inFile, isEnough, perGpu, type Resizable, target } from './resizable.ts';

/** One way to request less of a GPU, or more. */
export interface Fraction {
  /** Identifies it in this list. */
  readonly id: string;
  /** `L4 (g6.xlarge)`, `MIG slice 3g.40gb`. */
  readonly label: string;
  /** What it holds, and what it costs. */
  readonly description: string;
  /** What the nodes need for it; null: they offer it, as far as is known. */
  readonly needs: string | null;
  readonly hourly: Range | null;
  readonly edits: () => Edits;
}

/**
 * Everything on which the model fits, without proofs: what the nodes offer first, then the cheapest first. For a model that does not fit: what is
 * large enough.
 */
export function fractionsOf(place: Resizable): readonly Fraction[] {
  const found = place.direction === 'less' ? [...cards(place), ...fewer(place), ...parts(place)] : larger(place);
  const cost = ({ hourly }: Fraction) => hourly?.min ?? Number.POSITIVE_INFINITY;
  return found.sort((a, b) => Number(a.needs !== null) - Number(b.needs !== null) || cost(a) - cost(b) || 0);
}

/** The edit of a fraction, with offsets in the file; undefined if it cannot be made without damage. */
export function fractionFix(place: Resizable, { label, edits }: Fraction, budget: ProofBudget): Fix | undefined {
  return inFile(place, fix(`Use ${label}`, 'unsafe', edits()), budget);
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
  const prices = otherCards(priced, config.prices, (count, eachGiB) => isEnough(place, served, eachGiB, count));
  const wanted = prices.filter(({ hourly }) => isWanted(hourly, priced.now.hourly)).slice(0, maxCards);
  return wanted.flatMap(({ offer, hourly }): Fraction[] => {
    const gpu = gpus.get(offer.gpu);
    const { provider, instanceType } = offer;
    if (gpu === undefined || provider === null) return [];
    const price = `${formatHourly(hourly)} instead of ${formatHourly(priced.now.hourly)}`;
    return [
      {
        id: `card ${gpu.id}`,
        label: `${gpu.name} (${instanceType})`,
        description: `${heldBy(place, usableCardGiB(gpu) ?? 0)}, ${price}`,
        needs: null,
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
  if (estimate.shape.heads % count !== 0 || !isEnough(place, spread, cardGiB, count)) return [];
  const range = perGpu(place);
  const hourly = range && { min: range.min * count, max: range.max * count };
  return [
    {
      id: `count ${count}`,
      label: `${count} × ${gpu.name}`,
      description: [heldBy(place, cardGiB, spread, count), ...(hourly === null ? [] : [formatHourly(hourly)])].join(
        ', ',
      ),
      needs: null,
      hourly,
      edits: () => asSeveral(target(place), count),
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
  const { gpu, podSet, config, served, document, request, container } = place;
  const form = sliceForm(podSet, config);
  if (form === undefined || migTable(gpu.id) === undefined) return [];
  const isKnown = form === 'gke-label' || config.migStrategy !== null;
  const found = migOptions(gpu.id, perGpu(place)).filter(
    ({ profile, share }) => share < 1 && isEnough(place, served, sliceGiB(profile), 1),
  );
  const [least] = found.map(({ share }) => share);
  // Larger slices than needed only repeat the first.
  return found.flatMap(({ profile, hourly, share }): Fraction[] =>
    share > 2 * (least ?? 1)
      ? []
      : [
          {
            id: `mig ${profile.name}`,
            label: `MIG slice ${profile.name}`,
            description: `${heldBy(place, sliceGiB(profile))}${shareWords(hourly, 'slices')}`,
            needs: isKnown ? null : formNeeds[form],
            hourly,
            edits: () => rewriteToMig(document.document, request, { container, podSet, gpu }, profile, form)?.edits,
          },
        ],
  );
}

const formNeeds: Readonly<Record<SliceForm, string>> = {
  resource: 'nodes with MIG strategy mixed',
  'product-label': 'nodes with MIG strategy single',
  'gke-label': 'a node pool with GPU partitions',
};

function timeSlices(place: Resizable): Fraction[] {
  const { podSet, config, served } = place;
  const { sharing } = config;
  if (!sharesMemory(served.engine)) return [];
  const isGke = platformOf(podSet, config)?.facts.provider === 'gcp';
  const pods = sharing.replicas ?? mostSharers(place, [2, 3, 4, 6, 8]);
  if (pods === undefined || pods < 2 || !holdsShare(place, 1 / pods)) return [];
  const isDeclared = sharing.strategy !== null || sharing.replicas !== null;
  const form = !isGke ? 'shared-resource' : sharing.strategy === 'mps' ? 'gke-mps' : 'gke-time-sharing';
  const method = sharing.strategy === 'mps' ? 'MPS' : 'time slicing';
  return [
    {
      ...shareOf(place, 1 / pods, `1/${pods} of the GPU (${method})`, 'shares'),
      id: 'time slice',
      needs: isDeclared ? null : isGke ? 'a node pool with GPU sharing' : 'nodes that offer nvidia.com/gpu.shared',
      edits: () => asTimeSlice(target(place), pods, form),
    },
  ];
}

/** HAMi and Volcano limit memory and compute of a process. */
function virtual(place: Resizable): Fraction[] {
  const { served, cardGiB } = place;
  const pods = [10, 8, 5, 4, 3, 2].find((count) => isEnough(place, served, cardGiB / count, 1));
  if (pods === undefined) return [];
  const share = 1 / pods;
  const mebibytes = Math.floor((cardGiB * 1024 * share) / 100) * 100;
  const scheduler = schedulerOf(place.podSet);
  return [
    {
      ...shareOf(place, share, `HAMi: ${mebibytes} MiB of the GPU`, 'shares'),
      id: 'hami',
      needs: scheduler === 'hami-scheduler' ? null : 'HAMi on the nodes',
      edits: () => asHami(target(place), mebibytes, Math.floor(100 * share)),
    },
    {
      ...shareOf(place, share, `Volcano: ${mebibytes} MiB of the GPU`, 'shares'),
      id: 'volcano',
      needs: scheduler === 'volcano' ? null : "Volcano's device plugin on the nodes",
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
      ...shareOf(place, 1 / pods, `${name}: gpu-fraction ${1 / pods}`, 'shares'),
      id: 'gpu-fraction',
      needs: null,
      edits: () => asAnnotation(target(place), 1 / pods),
    },
  ];
}

/** Modes of AMD's cards that divide the memory: eight or two partitions. https://instinct.docs.amd.com/projects/amdgpu-docs/en/latest/gpu-partitioning/ */
const amdModes = [
  ['amd.com/cpx_nps4', 8],
  ['amd.com/dpx_nps2', 2],
] as const;

function amdPartitions(place: Resizable): Fraction[] {
  if (!/^mi3[0-9]+x$/.test(place.gpu.id)) return [];
  const [found] = amdModes.filter(([, parts]) => holdsShare(place, 1 / parts));
  if (found === undefined) return [];
  const [resource, parts] = found;
  return [
    {
      ...shareOf(place, 1 / parts, `Partition ${resource}`, 'partitions'),
      id: resource,
      needs: 'nodes with partitioned GPUs under their own names',
      edits: () => asAmdPartition(target(place), resource),
    },
  ];
}

function shareOf(
  place: Resizable,
  share: number,
  label: string,
  others: string,
): Pick<Fraction, 'label' | 'description' | 'hourly'> {
  const all = perGpu(place);
  const hourly = all && { min: all.min * share, max: all.max * share };
  return { label, description: `${heldBy(place, place.cardGiB * share)}${shareWords(hourly, others)}`, hourly };
}

function shareWords(hourly: Range | null, others: string): string {
  return hourly === null ? '' : `, ${formatHourly(hourly)} if the other ${others} are used`;
}

/** Whether the model fits in a share of the card, as the server's part of memory that nothing divides. */
function holdsShare(place: Resizable, share: number): boolean {
  const fraction = place.estimate.fraction === null ? null : 0.95;
  return isEnough(place, { ...place.served, fraction }, place.cardGiB * share, 1);
}

/** The most pods that can share a card on which nothing divides the memory. */
function mostSharers(place: Resizable, counts: readonly number[]): number | undefined {
  return counts.filter((pods) => holdsShare(place, 1 / pods)).at(-1);
}

function schedulerOf({ pod }: PodSet): string | undefined {
  return asText(getIn(pod, 'schedulerName'));
}
