import type { FileAnalysis } from '../../analysis.ts';
import { type GpuModel, gpus, usableCardGiB } from '../../catalog/index.ts';
import type { ProjectConfig } from '../../config.ts';
import { gpuPrices, priceRange } from '../../cost/gpu-prices.ts';
import { formatGiB } from '../../cost/money.ts';
import type { Range } from '../../cost/types.ts';
import { fitOf, fitOnCard } from '../../memory/fit.ts';
import { estimateServing, type MemoryEstimate } from '../../memory/serving.ts';
import { acceleratorByName } from '../../model/requested-resource.ts';
import { isWhole, type Served, type ServedModel, servedModel } from '../../model/served-model.ts';
import type { AcceleratorRequest, Container, PodSet, Workload } from '../../model/workload.ts';
import type { Fix } from '../../rewrite/fix.ts';
import type { FractionPlace } from '../../rewrite/fractions.ts';
import { keySpanOf, spanOf } from '../../yaml/cursor.ts';
import { type Span, shiftSpan, touches } from '../../yaml/span.ts';
import { leverFix, tightLevers } from '../serving-levers.ts';
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

/** For a model that does not certainly fit: flags with which it needs less, with offsets in the file. */
export function smallerFlags(place: Resizable, budget: ProofBudget): readonly Fix[] {
  const { estimate, cardGiB, podSet, request, document, container } = place;
  const fit = fitOnCard(estimate, cardGiB);
  if (fit.fits === true) return [];
  return tightLevers(estimate, fit, podSet, request).flatMap((lever): Fix[] => {
    const made = leverFix(lever, document.document, container);
    const proven = inFile(place, made, budget);
    return proven === undefined ? [] : [proven];
  });
}

/** A proven fix with offsets in the file. */
export function inFile(place: Resizable, made: Fix | undefined, budget: ProofBudget): Fix | undefined {
  if (made === undefined || provenTogether(place, [{ edits: made.edits }], budget).length === 0) return undefined;
  const { base } = place.document;
  return { ...made, edits: made.edits.map(({ span, newText }) => ({ span: shiftSpan(span, base), newText })) };
}

/** `Qwen3-4B needs 11 of 19.5 GiB`. */
export function heldBy({ served, estimate }: Resizable, eachGiB: number, as: ServedModel = served, count = 1): string {
  const { estimate: on } = estimateServing({ model: as, unknown: null }, { cardGiB: eachGiB, gpus: count });
  return `${estimate.name} needs ${formatGiB(on?.neededGiB ?? estimate.neededGiB)} of ${formatGiB(eachGiB)} GiB${count > 1 ? ' per GPU' : ''}`;
}

/** Whether the model fits with the headroom left free, and certainly: by more than the error of the estimate. */
export function isEnough({ config }: Resizable, model: ServedModel, eachGiB: number, count: number): boolean {
  const served: Served = { model, unknown: null };
  if (fitOf(served, { eachGiB, count }, config.headroom) !== 'fits') return false;
  const { estimate } = estimateServing(served, { cardGiB: eachGiB, gpus: count });
  return estimate !== null && fitOnCard(estimate, eachGiB).fits === true;
}

/** US dollars per hour for one of its GPUs; null: unknown. */
export function perGpu({ gpu, podSet, config }: Resizable): Range | null {
  return priceRange(gpuPrices(gpu, podSet.placement, config.prices));
}

/** What the rewrites need of it. */
export function target({ document, request, container, podSet, gpu, served }: Resizable): FractionPlace {
  return { document: document.document, request, container, podSet, gpu, engine: served.engine };
}
