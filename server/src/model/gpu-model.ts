import type { GpuModel, Vendor } from '../catalog/index.ts';
import {
  gpus,
  gpusByLabel,
  gpusNamed,
  isGpuLabel,
  isInstanceTypeLabel,
  labelCandidates,
  nodeLabelMeaning,
} from '../catalog/index.ts';
import { isTemplated } from '../yaml/cursor.ts';
import { isOneCard, modelsInLabel, type NamedModels, namesMachine } from './named-models.ts';
import { type ModelOptions, modelKey } from './options.ts';
import type { ModelFrom, ModelHint, Selector } from './workload.ts';

/** The models that a pod's node selectors allow. */
export interface SelectedModels {
  readonly candidates: readonly GpuModel[];
  readonly from: ModelFrom;
  /** What the value of the selector means outside the catalog: an object called `h100` says no more than a label `H100`. */
  readonly inWords?: readonly GpuModel[];
}

export interface Resolved {
  /** Catalog ids; more than one if several models fit. */
  readonly candidates: readonly string[];
  readonly modelFrom: ModelFrom | null;
  readonly modelHint?: ModelHint;
}

/** What names a model apart from the labels of nodes. */
export interface OtherNames {
  /** Annotations, node pools and queues that state it. */
  readonly stated: () => readonly NamedModels[];
  readonly hints: () => readonly NamedModels[];
}

export const noOtherNames: OtherNames = { stated: () => [], hints: () => [] };

/**
 * The intersection of the models that each selector allows. A selector that names an unknown card or machine allows none, so that the config
 * does not replace it.
 */
export function selectedModels(selectors: readonly Selector[]): SelectedModels | undefined {
  let selected: SelectedModels | undefined;
  let unknown: SelectedModels | undefined;
  // A machine or a card says more than the name of a pool.
  const exact = selectors.length > 1 ? selectors.filter(namesExactly) : [];
  for (const selector of [...exact, ...selectors.filter((one) => !exact.includes(one))]) {
    const models = modelsInWords(selector);
    if (models.length === 0) {
      if (namesModel(selector)) unknown ??= { candidates: [], from: selector.from };
      continue;
    }
    const from: ModelFrom = isOfInstance(selector) ? 'instance-type' : selector.from;
    const both = selected?.candidates.filter((model) => models.includes(model));
    // A rule reports contradicting selectors; here the first one applies.
    const values = selector.values.map(({ value }) => value);
    const inWords = models.length > 1 ? modelsInLabel(selector.key, values) : [];
    if (both === undefined) selected = { candidates: models, from, inWords };
    else if (both.length > 0 && selected !== undefined) selected = { ...selected, candidates: both };
  }
  return selected ?? unknown;
}

/** Whether a selector names a model by the label of a card or a machine, not only in words. */
export function namesExactly(selector: Selector): boolean {
  return modelsOf(selector).length > 0 || namesModel(selector);
}

function namesModel({ key, values }: Selector): boolean {
  const written = values.some(({ at }) => at.node.kind !== 'scalar' || !at.node.templated);
  return written && (isInstanceTypeLabel(key) || (isGpuLabel(key) && labelCandidates(key).length > 0));
}

/**
 * The models that a request can be for: those of the selectors, else those stated elsewhere, else that of the config, else what a name or a
 * comment suggests, else every card with the requested slices.
 * @param cuttable catalog ids of the cards with the requested slices; empty for whole cards
 */
export function resolveModel(
  vendor: Vendor | null,
  cuttable: readonly string[],
  selected: SelectedModels | undefined,
  options: ModelOptions,
  { stated, hints }: OtherNames,
): Resolved {
  const fits = (model: GpuModel) =>
    (vendor === null || model.vendor === vendor) && (cuttable.length === 0 || cuttable.includes(model.id));
  const candidates = selected?.candidates.filter(fits) ?? [];
  if (selected !== undefined && candidates.length > 0) {
    const machines =
      candidates.length === 1 ? [] : stated().filter(({ from }) => from === 'node-pool' || from === 'instance-type');
    const left = machines.reduce((before, { candidates: some }) => {
      const both = before.filter((model) => some.includes(model));
      return both.length > 0 ? both : before;
    }, candidates);
    return narrowed(left, selected.from, hints, selected.inWords);
  }
  // A selector for a GPU without this resource is a contradiction, which the config must not hide.
  if (selected !== undefined) return { candidates: [], modelFrom: null };
  const firstOf = (named: readonly NamedModels[]) =>
    named.map((one) => ({ ...one, candidates: one.candidates.filter(fits) })).find((one) => one.candidates.length > 0);
  const elsewhere = firstOf(stated());
  if (elsewhere !== undefined) return narrowed(elsewhere.candidates, elsewhere.from, hints);
  const configured = gpus.get(options[modelKey(vendor)] ?? options.gpu ?? '');
  if (configured !== undefined && fits(configured)) return { candidates: [configured.id], modelFrom: 'config' };
  if (options.gpu !== null && !gpus.has(options.gpu)) {
    const meant = gpusNamed(options.gpu).filter(fits);
    if (meant.length > 0) return { candidates: meant.map(({ id }) => id), modelFrom: 'config' };
    // A GPU that the catalog lacks is the user's own.
    if (cuttable.length === 0 && isGpuVendor(vendor)) return { candidates: [options.gpu], modelFrom: 'config' };
  }
  const suggested = firstOf(hints());
  if (suggested?.hint !== undefined)
    return { modelHint: suggested.hint, ...narrowed(suggested.candidates, suggested.from, hints) };
  if (cuttable.length > 0) return { candidates: [...new Set(cuttable)], modelFrom: 'resource-name' };
  return { candidates: [], modelFrom: null };
}

function isGpuVendor(vendor: Vendor | null): boolean {
  return vendor === null || vendor === 'nvidia' || vendor === 'amd' || vendor === 'intel';
}

/** The required models or, if they are several, those among them that a hint names: `a100` may be 40 or 80 GB, `vllm-a100-80gb` is not. */
function narrowed(
  models: readonly GpuModel[],
  modelFrom: ModelFrom,
  hints: OtherNames['hints'],
  inWords: readonly GpuModel[] = [],
): Resolved {
  const all = { candidates: models.map(({ id }) => id), modelFrom };
  if (models.length < 2) return all;
  for (const { candidates, hint } of hints()) {
    if (candidates.every((model) => inWords.includes(model)) && candidates.length === inWords.length) continue;
    const same = models.filter((model) => candidates.includes(model));
    // `a100` alone does not mean the rarer form, which a machine may have.
    const both =
      same.length === 0 && candidates.length === 1 && isOneCard([...models, ...candidates]) ? candidates : same;
    if (both.length > 0 && both.length < models.length && hint !== undefined)
      return { candidates: both.map(({ id }) => id), modelFrom, modelHint: hint };
  }
  return all;
}

function isOfInstance({ key, values }: Selector): boolean {
  return (
    nodeLabelMeaning(key) === 'instance-family' ||
    namesMachine(
      key,
      values.map(({ value }) => value),
    )
  );
}

/** The models that one selector allows, by a value of the catalog or by any other spelling of a name. */
function modelsInWords(selector: Selector): readonly GpuModel[] {
  const exact = modelsOf(selector);
  if (exact.length > 0 || selector.values.some(({ at }) => isTemplated(at))) return exact;
  return modelsInLabel(
    selector.key,
    selector.values.map(({ value }) => value),
  );
}

/** The models that one selector allows; empty if it is not about models or if one of its values is unknown. */
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
