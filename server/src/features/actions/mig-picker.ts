import type { FileAnalysis } from '../../analysis.ts';
import type { GpuModel, MigProfile } from '../../catalog/index.ts';
import { gpus, migTable, sliceGiB } from '../../catalog/index.ts';
import type { ProjectConfig } from '../../config.ts';
import { gpuPrices, priceRange } from '../../cost/gpu-prices.ts';
import { type MigOption, migOptions } from '../../cost/mig-options.ts';
import { formatHourly } from '../../cost/money.ts';
import { type Fit, fitOf } from '../../memory/fit.ts';
import { estimateServing } from '../../memory/serving.ts';
import { acceleratorByName } from '../../model/requested-resource.ts';
import { type Served, servedModel } from '../../model/served-model.ts';
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

/** A request for a whole GPU that could be a request for a slice. */
export interface Sliceable extends Place {
  readonly config: ProjectConfig;
  readonly workload: Workload;
  readonly podSet: PodSet;
  readonly container: Container;
  readonly request: AcceleratorRequest;
  /** The GPU model, if the file or the config determines it. */
  readonly gpu: GpuModel | undefined;
  /** The entry in the file. */
  readonly span: Span;
}

/** The requests in a span of the file for whole GPUs that support MIG, or whose model is unknown. */
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
            const inPod = acceleratorByName(podSet.accelerators, request.resource);
            const gpu = inPod?.model == null ? undefined : gpus.get(inPod.model);
            if (gpu !== undefined && migTable(gpu.id) === undefined) continue;
            // Nodes that offer parts of GPUs under the plain name (time slicing, MIG single) offer no slices by name.
            if (inPod?.perPod === 1 && inPod.devices !== 1) continue;
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

/** The slices of a GPU, at the prices for the pods' placement. */
export function slicesOf(gpu: GpuModel, { podSet, config }: Sliceable): readonly MigOption[] {
  return migOptions(gpu.id, priceRange(gpuPrices(gpu, podSet.placement, config.prices)));
}

/** The rewrite to a slice, with offsets in the file. Undefined if the text cannot be edited without damage or the nodes do not use MIG. */
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

/** The rewrite to a shared GPU, if the config declares GPU sharing on the nodes. */
export function sharedFix(sliceable: Sliceable, budget: ProofBudget): Fix | undefined {
  const { document, request, podSet, container, workload, config } = sliceable;
  const form = sharedForm(podSet, config);
  const place = { podSet, container, engine: servedModel(container, workload).model?.engine };
  return provenInFile(rewriteToShared(document.document, request, place, config.sharing, form), sliceable, budget);
}

function provenInFile(fix: Fix | undefined, place: Place, budget: ProofBudget): Fix | undefined {
  if (fix === undefined || provenTogether(place, [{ edits: fix.edits }], budget).length === 0) return undefined;
  const edits = fix.edits.map(({ span, newText }) => ({ span: shiftSpan(span, place.document.base), newText }));
  return { ...fix, edits };
}

/** `10 GB, 1/7 of the GPU, $0.98/h`, and whether the container's model fits, if that is known: `fits gemma-2b-it`. */
export function describeSlice({ profile, share, hourly }: MigOption, held?: HeldModel, ofGpu = ' of the GPU'): string {
  const price = hourly === null ? [] : [formatHourly(hourly)];
  const part = share === 1 ? 'the whole GPU' : `${formatShare(share)}${ofGpu}`;
  const model = held === undefined ? [] : [fitWords[held.fit(profile)](shorten(held.name))];
  return [`${profile.memoryGiB} GB`, part, ...price, ...model].join(', ');
}

const fitWords: Readonly<Record<Fit, (model: string) => string>> = {
  fits: (model) => `fits ${model}`,
  'short-requests': (model) => `fits ${model} for short requests only`,
  'too-small': (model) => `too small for ${model}`,
};

/** A model to find a slice for. */
export interface HeldModel {
  readonly name: string;
  readonly fit: (profile: MigProfile) => Fit;
}

/** The model that the container serves; undefined if unknown. */
export function heldModel({ container, workload, config }: Sliceable): HeldModel | undefined {
  const { estimate } = estimateServing(servedModel(container, workload));
  if (estimate === null) return undefined;
  const one: Served = { model: { ...estimate.served, tensor: 1, pipeline: 1 }, unknown: null };
  const fit = (profile: MigProfile) =>
    fitOf(one, { eachGiB: sliceGiB(profile), count: 1 }, config.headroom) ?? 'too-small';
  return { name: estimate.name, fit };
}

/** GPUs that support MIG. */
export function migGpus(): readonly GpuModel[] {
  return [...gpus.values()].filter(({ id }) => migTable(id) !== undefined);
}

function entrySpan(cursor: Cursor): Span {
  return { start: keySpanOf(cursor).start, end: spanOf(cursor).end };
}
