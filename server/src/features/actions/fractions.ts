import type { FileAnalysis } from '../../analysis.ts';
import { type GpuModel, gpus, migTable, sliceGiB, usableCardGiB } from '../../catalog/index.ts';
import type { ProjectConfig } from '../../config.ts';
import { gpuPrices, priceRange } from '../../cost/gpu-prices.ts';
import { otherCards, pricedPod } from '../../cost/levers.ts';
import { migOptions } from '../../cost/mig-options.ts';
import { formatGiB, formatHourly } from '../../cost/money.ts';
import type { Range } from '../../cost/types.ts';
import { fitOf, fitOnCard } from '../../memory/fit.ts';
import { estimateServing, type MemoryEstimate } from '../../memory/serving.ts';
import { platformOf } from '../../model/platform.ts';
import { acceleratorByName } from '../../model/requested-resource.ts';
import { isWhole, type Served, type ServedModel, servedModel } from '../../model/served-model.ts';
import type { AcceleratorRequest, Container, PodSet, Workload } from '../../model/workload.ts';
import { type Edits, type Fix, fix } from '../../rewrite/fix.ts';
import {
  asAmdPartition,
  asAnnotation,
  asHami,
  asSeveral,
  asTimeSlice,
  asVolcano,
  type FractionPlace,
  sharesMemory,
} from '../../rewrite/fractions.ts';
import { isOneWholeGpu, rewriteToMig, type SliceForm, sliceForm } from '../../rewrite/mig.ts';
import { moveToCard } from '../../rewrite/select-machine.ts';
import { asText, getIn, keySpanOf, spanOf } from '../../yaml/cursor.ts';
import { type Span, shiftSpan, touches } from '../../yaml/span.ts';
import { type Place, type ProofBudget, provenTogether } from './proof.ts';

/** A request of a model server for whole GPUs that can be smaller, or must be larger. */
export interface Resizable extends Place {
  readonly config: ProjectConfig;
  readonly workload: Workload;
  readonly podSet: PodSet;
  readonly container: Container;
  readonly request: AcceleratorRequest;
  readonly count: number;
  readonly gpu: GpuModel;
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
  for (const document of file.hasAccelerators ? file.documents : []) {
    const inside = shiftSpan(span, -document.base);
    for (const workload of document.workloads) {
      for (const podSet of workload.podSets) {
        for (const container of podSet.containers) {
          for (const request of container.accelerators) {
            const at = [request.limit, request.request].find((one) => one && touches(entrySpan(one.at), inside))?.at;
            const found = at && sizeOf(request, container, podSet, workload, file.config);
            if (found) return { ...found, file, document, span: shiftSpan(entrySpan(at), document.base) };
          }
        }
      }
    }
  }
  return undefined;
}

function entrySpan(at: Parameters<typeof spanOf>[0]): Span {
  return { start: keySpanOf(at).start, end: spanOf(at).end };
}

function sizeOf(
  request: AcceleratorRequest,
  container: Container,
  podSet: PodSet,
  workload: Workload,
  config: ProjectConfig,
): Omit<Resizable, 'file' | 'document' | 'span'> | undefined {
  const inPod = acceleratorByName(podSet.accelerators, request.resource);
  const gpu = gpus.get(inPod?.model ?? '');
  const cardGiB = gpu === undefined ? null : usableCardGiB(gpu);
  const { count } = request;
  if (request.form !== 'whole' || gpu === undefined || cardGiB === null || count === null || count < 1)
    return undefined;
  if (container.accelerators.length > 1 || inPod?.devices !== inPod?.perPod) return undefined;
  const served = servedModel(container, workload).model;
  // Without all settings, nobody knows what fits.
  if (served === null || !isWhole(served)) return undefined;
  const { estimate } = estimateServing({ model: served, unknown: null }, { cardGiB, gpus: count });
  if (estimate === null || estimate.devices > count) return undefined;
  const direction = fitOnCard(estimate, cardGiB).fits === false ? 'larger' : 'less';
  return { config, workload, podSet, container, request, count, gpu, cardGiB, served, estimate, direction };
}

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
  const made = fix(`Use ${label}`, 'unsafe', edits());
  if (made === undefined || provenTogether(place, [{ edits: made.edits }], budget).length === 0) return undefined;
  const { base } = place.document;
  return { ...made, edits: made.edits.map(({ span, newText }) => ({ span: shiftSpan(span, base), newText })) };
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

/** `Qwen3-4B needs 11 of 19.5 GiB`. */
function heldBy({ served, estimate }: Resizable, eachGiB: number, as: ServedModel = served, count = 1): string {
  const { estimate: on } = estimateServing({ model: as, unknown: null }, { cardGiB: eachGiB, gpus: count });
  return `${estimate.name} needs ${formatGiB(on?.neededGiB ?? estimate.neededGiB)} of ${formatGiB(eachGiB)} GiB${count > 1 ? ' per GPU' : ''}`;
}

/** Whether the model fits with the headroom left free, and certainly: by more than the error of the estimate. */
function isEnough({ config }: Resizable, model: ServedModel, eachGiB: number, count: number): boolean {
  const served: Served = { model, unknown: null };
  if (fitOf(served, { eachGiB, count }, config.headroom) !== 'fits') return false;
  const { estimate } = estimateServing(served, { cardGiB: eachGiB, gpus: count });
  return estimate !== null && fitOnCard(estimate, eachGiB).fits === true;
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

function perGpu({ gpu, podSet, config }: Resizable): Range | null {
  return priceRange(gpuPrices(gpu, podSet.placement, config.prices));
}

function schedulerOf({ pod }: PodSet): string | undefined {
  return asText(getIn(pod, 'schedulerName'));
}

function target({ document, request, container, podSet, gpu, served }: Resizable): FractionPlace {
  return { document: document.document, request, container, podSet, gpu, engine: served.engine };
}
