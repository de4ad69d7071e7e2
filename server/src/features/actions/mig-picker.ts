import type { FileAnalysis } from '../../analysis.ts';
import type { GpuModel, MigProfile } from '../../catalog/index.ts';
import { gpus, migTable, sliceGiB } from '../../catalog/index.ts';
import type { ProjectConfig } from '../../config.ts';
import { formatHourly } from '../../cost/format.ts';
import { gpuPrices, priceRange } from '../../cost/gpu-prices.ts';
import { type MigOption, migOptions } from '../../cost/mig-options.ts';
import { type Fit, fitOf } from '../../memory/fit.ts';
import { estimateServing } from '../../memory/serving.ts';
import { acceleratorByName } from '../../model/requested-resource.ts';
import { servedModel } from '../../model/served-model.ts';
import type { AcceleratorRequest, Container, PodSet, Workload } from '../../model/workload.ts';
import type { Fix } from '../../rewrite/fix.ts';
import { isOneWholeGpu, rewriteToMig, sliceForm } from '../../rewrite/mig.ts';
import { rewriteToShared, sharedForm } from '../../rewrite/shared.ts';
import type { Cursor } from '../../yaml/cursor.ts';
import { keySpanOf, spanOf } from '../../yaml/cursor.ts';
import { shorten } from '../../yaml/shorten.ts';
import { type Span, shiftSpan, touches } from '../../yaml/span.ts';
import { formatShare } from '../hover/gpu-words.ts';
import { type Place, type ProofBudget, provenTogether } from './proof.ts';

/** A whole-GPU request that could ask for a slice instead. */
export interface Sliceable extends Place {
  readonly config: ProjectConfig;
  readonly workload: Workload;
  readonly podSet: PodSet;
  readonly container: Container;
  readonly request: AcceleratorRequest;
  /** The GPU, where the file or the config tells it. */
  readonly gpu: GpuModel | undefined;
  /** Of the entry in the file. */
  readonly span: Span;
}

/** The requests in a span of the file that ask for whole GPUs which can be cut, or may be such for all that is told. */
export function sliceableRequests(file: FileAnalysis, span: Span): readonly Sliceable[] {
  const found: Sliceable[] = [];
  for (const document of file.hasAccelerators ? file.documents : []) {
    const inside = shiftSpan(span, -document.base);
    for (const workload of document.workloads) {
      for (const podSet of workload.podSets) {
        for (const container of podSet.containers) {
          for (const request of container.accelerators) {
            const place = [request.limit, request.request].find(
              (quantity) => quantity && touches(entrySpan(quantity.at), inside),
            );
            if (place === undefined || !isOneWholeGpu(request)) continue;
            const told = acceleratorByName(podSet.accelerators, request.resource);
            const gpu = told?.model == null ? undefined : gpus.get(told.model);
            if (gpu !== undefined && migTable(gpu.id) === undefined) continue;
            // Nodes that hand out parts under the plain name (time slices, MIG single) have no slices by name.
            if (told?.perPod === 1 && told.devices !== 1) continue;
            found.push({
              file,
              document,
              config: file.config,
              workload,
              podSet,
              container,
              request,
              gpu,
              span: shiftSpan(entrySpan(place.at), document.base),
            });
          }
        }
      }
    }
  }
  return found;
}

/** The slices of a GPU, at the prices of the place where the pods run. */
export function slicesOf(gpu: GpuModel, { podSet, config }: Sliceable): readonly MigOption[] {
  return migOptions(gpu.id, priceRange(gpuPrices(gpu, podSet.placement, config.prices)));
}

/** Edits carry offsets of the file. Undefined where the text cannot be edited without damage, or the nodes are not cut. */
export function sliceFix(
  sliceable: Sliceable,
  profile: MigProfile,
  chosen: GpuModel | undefined,
  budget: ProofBudget,
): Fix | undefined {
  const { document, request, container, podSet, config } = sliceable;
  const form = sliceForm(podSet, config);
  const place = { container, podSet, gpu: chosen };
  return form && provenInFile(rewriteToMig(document.document, request, place, profile, form), sliceable, budget);
}

/** The request for a part of a GPU that pods share in turns, where the project says that its nodes do so. */
export function sharedFix(sliceable: Sliceable, budget: ProofBudget): Fix | undefined {
  const { document, request, podSet, config } = sliceable;
  const form = sharedForm(podSet, config);
  return provenInFile(rewriteToShared(document.document, request, podSet, config.sharing, form), sliceable, budget);
}

function provenInFile(fix: Fix | undefined, place: Place, budget: ProofBudget): Fix | undefined {
  if (fix === undefined || provenTogether(place, [{ edits: fix.edits }], budget).length === 0) return undefined;
  const edits = fix.edits.map(({ span, newText }) => ({ span: shiftSpan(span, place.document.base), newText }));
  return { ...fix, edits };
}

/** `10 GB, 1/7 of the card, $0.98/h`, and how the container's model fits, where that is known: `holds gemma-2b-it`. */
export function describeSlice(
  { profile, share, hourly }: MigOption,
  held?: HeldModel,
  ofCard = ' of the card',
): string {
  const price = hourly === null ? [] : [formatHourly(hourly)];
  const part = share === 1 ? 'the whole card' : `${formatShare(share)}${ofCard}`;
  const model = held === undefined ? [] : [fitWords[held.fit(profile)](shorten(held.name))];
  return [`${profile.memoryGiB} GB`, part, ...price, ...model].join(', ');
}

const fitWords: Readonly<Record<Fit, (model: string) => string>> = {
  fits: (model) => `holds ${model}`,
  'short-requests': (model) => `holds ${model}, short requests only`,
  'too-small': (model) => `too small for ${model}`,
};

/** A model that slices are looked through for. */
export interface HeldModel {
  readonly name: string;
  readonly fit: (profile: MigProfile) => Fit;
}

/** The model that the container serves; undefined where it is not known. */
export function heldModel({ container, workload, config }: Sliceable): HeldModel | undefined {
  const { estimate } = estimateServing(servedModel(container, workload));
  return estimate === null
    ? undefined
    : { name: estimate.name, fit: (profile) => fitOf(estimate, sliceGiB(profile), config.headroom) };
}

/** GPUs that can be cut into slices. */
export function migGpus(): readonly GpuModel[] {
  return [...gpus.values()].filter(({ id }) => migTable(id) !== undefined);
}

function entrySpan(cursor: Cursor): Span {
  return { start: keySpanOf(cursor).start, end: spanOf(cursor).end };
}
