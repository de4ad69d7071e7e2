import type { GpuModel, Vendor } from '../catalog/index.ts';
import {
  gpus,
  gpusByLabel,
  isGpuLabel,
  isInstanceTypeLabel,
  labelCandidates,
  nodeLabelMeaning,
} from '../catalog/index.ts';
import { isTemplated } from '../yaml/cursor.ts';
import type { ModelOptions } from './options.ts';
import type { ModelFrom, Selector } from './workload.ts';

/** The models that a pod's node selectors leave. */
export interface SelectedModels {
  readonly candidates: readonly GpuModel[];
  readonly from: ModelFrom;
}

export interface Resolved {
  /** Catalogue ids; more than one where what is told fits several. */
  readonly candidates: readonly string[];
  readonly modelFrom: ModelFrom | null;
}

/**
 * The models that each selector allows, intersected. A selector that names a card or a machine which the catalogue does not know leaves
 * none: something is told, so the config must not stand in for it.
 */
export function selectedModels(selectors: readonly Selector[]): SelectedModels | undefined {
  let selected: SelectedModels | undefined;
  let unknown: SelectedModels | undefined;
  for (const selector of selectors) {
    const models = modelsOf(selector);
    if (models.length === 0) {
      if (namesModel(selector)) unknown ??= { candidates: [], from: selector.from };
      continue;
    }
    const from: ModelFrom = isOfInstance(selector.key) ? 'instance-type' : selector.from;
    const both = selected?.candidates.filter((model) => models.includes(model));
    // Contradicting selectors are a rule's business; here the first one stands.
    if (both === undefined) selected = { candidates: models, from };
    else if (both.length > 0 && selected !== undefined) selected = { candidates: both, from: selected.from };
  }
  return selected ?? unknown;
}

function namesModel({ key, values }: Selector): boolean {
  const written = values.some(({ at }) => at.node.kind !== 'scalar' || !at.node.templated);
  return written && (isInstanceTypeLabel(key) || (isGpuLabel(key) && labelCandidates(key).length > 0));
}

/**
 * What a request can be on: what the selectors say, else what the config says, else every card with such slices.
 * @param cuttable catalogue ids of the cards that have the slice that is asked for; none for whole cards
 */
export function resolveModel(
  vendor: Vendor | null,
  cuttable: readonly string[],
  selected: SelectedModels | undefined,
  options: ModelOptions,
): Resolved {
  const fits = (model: GpuModel) =>
    (vendor === null || model.vendor === vendor) && (cuttable.length === 0 || cuttable.includes(model.id));
  const candidates = selected?.candidates.filter(fits) ?? [];
  if (selected !== undefined && candidates.length > 0)
    return { candidates: candidates.map(({ id }) => id), modelFrom: selected.from };
  // A selector that names another GPU than this resource can be on is a contradiction; the config must not paper over it.
  if (selected !== undefined) return { candidates: [], modelFrom: null };
  const configured = options.gpu === null ? undefined : gpus.get(options.gpu);
  if (configured !== undefined && fits(configured)) return { candidates: [configured.id], modelFrom: 'config' };
  if (cuttable.length > 0) return { candidates: [...new Set(cuttable)], modelFrom: 'resource-name' };
  return { candidates: [], modelFrom: null };
}

function isOfInstance(key: string): boolean {
  const names = nodeLabelMeaning(key);
  return names === 'instance-type' || names === 'instance-family';
}

/** The models that one selector allows; empty where it says nothing of them, or where an alternative is not understood. */
export function modelsOf(selector: Selector): readonly GpuModel[] {
  const models = new Set<GpuModel>();
  for (const { value, at } of selector.values) {
    if (isTemplated(at)) return [];
    const found = gpusByLabel(selector.key, value);
    if (found.length === 0) return [];
    for (const model of found) models.add(model);
  }
  return [...models];
}
