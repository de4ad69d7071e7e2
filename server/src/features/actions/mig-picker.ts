import type { FileAnalysis } from '../../analysis.ts';
import type { GpuModel, MigProfile } from '../../catalog/index.ts';
import { gpus, migTable, sliceGiB } from '../../catalog/index.ts';
import type { ProjectConfig } from '../../config.ts';
import { gpuPrices, priceRange } from '../../cost/gpu-prices.ts';
import { type MigOption, migOptions } from '../../cost/mig-options.ts';
import { formatHourly } from '../../cost/money.ts';
import { type Fit, fitOf, isEnough } from '../../memory/fit.ts';
import { estimateServing } from '../../memory/serving.ts';
import { acceleratorByName } from '../../model/requested-resource.ts';
import { type ServedModel, servedModel } from '../../model/served-model.ts';
import type { Fix } from '../../rewrite/fix.ts';
import { isOneWholeGpu, rewriteToMig, sliceForm } from '../../rewrite/mig.ts';
import { rewriteToShared, sharedForm } from '../../rewrite/shared.ts';
import { shorten } from '../../yaml/shorten.ts';
import type { Span } from '../../yaml/span.ts';
import { formatShare } from '../hover/gpu-words.ts';
import type { ProofBudget } from './proof.ts';
import { type RequestPlace, requestsAt } from './requests-at.ts';
import { provenInFile } from './resizable.ts';

/** A request for a whole GPU that could be a request for a slice. */
export interface Sliceable extends RequestPlace {
  readonly config: ProjectConfig;
  /** The GPU model, if the file or the config determines it. */
  readonly gpu: GpuModel | undefined;
}

/** The requests in a span of the file for whole GPUs that support MIG, or whose model is unknown. */
export function sliceableRequests(file: FileAnalysis, span: Span): readonly Sliceable[] {
  return requestsAt(file, span).flatMap((place): readonly Sliceable[] => {
    const { podSet, request } = place;
    if (!isOneWholeGpu(request)) return [];
    const inPod = acceleratorByName(podSet.accelerators, request.resource);
    const gpu = inPod?.model == null ? undefined : gpus.get(inPod.model);
    if (gpu !== undefined && migTable(gpu.id) === undefined) return [];
    // Nodes that offer parts of GPUs under the plain name (time slicing, MIG single) offer no slices by name.
    if (inPod?.perPod === 1 && inPod.devices !== 1) return [];
    return [{ ...place, config: file.config, gpu }];
  });
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
  return form && provenInFile(sliceable, rewriteToMig(document.document, request, place, profile, form), budget);
}

/** The rewrite to a shared GPU, if the config declares GPU sharing on the nodes. */
export function sharedFix(sliceable: Sliceable, budget: ProofBudget): Fix | undefined {
  const { document, request, podSet, container, workload, config } = sliceable;
  const form = sharedForm(podSet, config);
  const place = { podSet, container, engine: servedModel(container, workload).model?.engine };
  return provenInFile(sliceable, rewriteToShared(document.document, request, place, config.sharing, form), budget);
}

/** `10 GB, 1/7 of the GPU, $0.98/h`, and whether the container's model fits, if that is known: `fits gemma-2b-it`. */
export function describeSlice({ profile, share, hourly }: MigOption, held?: HeldModel, ofGpu = ' of the GPU'): string {
  const price = hourly === null ? [] : [formatHourly(hourly)];
  const part = share === 1 ? 'the whole GPU' : `${formatShare(share)}${ofGpu}`;
  const model = held === undefined ? [] : [fitWords[held.fit(profile)](shorten(held.name))];
  return [`${profile.memoryGiB} GB`, part, ...price, ...model].join(', ');
}

/** `close`: it fits by less than the error of the estimate. */
export type SliceFit = Fit | 'close';

const fitWords: Readonly<Record<SliceFit, (model: string) => string>> = {
  fits: (model) => `fits ${model}`,
  close: (model) => `may just fit ${model}`,
  'short-requests': (model) => `fits ${model} for short requests only`,
  'too-small': (model) => `too small for ${model}`,
};

/** A model to find a slice for. */
export interface HeldModel {
  readonly name: string;
  readonly fit: (profile: MigProfile) => SliceFit;
}

/** The model that the container serves; undefined if unknown. */
export function heldModel({ container, workload, config }: Sliceable): HeldModel | undefined {
  const { estimate } = estimateServing(servedModel(container, workload));
  if (estimate === null || estimate.basis === 'size') return undefined;
  const model: ServedModel = { ...estimate.served, tensor: 1, pipeline: 1 };
  const fit = (profile: MigProfile): SliceFit => {
    const slice = { eachGiB: sliceGiB(profile), count: 1 };
    const found = fitOf({ model, unknown: null }, slice, config.headroom) ?? 'too-small';
    return found === 'fits' && !isEnough(model, slice, config.headroom) ? 'close' : found;
  };
  return { name: estimate.name, fit };
}

/** GPUs that support MIG. */
export function migGpus(): readonly GpuModel[] {
  return [...gpus.values()].filter(({ id }) => migTable(id) !== undefined);
}
