import { type GpuModel, instanceType, isGpuLabel, isInstanceTypeLabel, type Provider } from '../catalog/index.ts';
import type { PodSet, Selector } from '../model/workload.ts';
import { isTemplated } from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { type Edits, joinEdits } from './fix.ts';
import { selectNodes } from './select-nodes.ts';

/** The selectors that name the instance type of pods, if each names a single one; empty if none does, or if one leaves a choice. */
export function machineSelectors({ selectors }: PodSet): readonly Selector[] {
  const found = selectors.filter(({ key }) => isInstanceTypeLabel(key));
  return found.every(({ values: [value, ...others] }) => value && others.length === 0 && !isTemplated(value.at))
    ? found
    : [];
}

/**
 * Selects nodes of another instance type of the same provider. Undefined if no selector names a single type, if the new one has no name on nodes, or
 * if the text cannot be edited without damage.
 */
export function selectMachine(document: YamlDocument, podSet: PodSet, provider: Provider, name: string): Edits {
  const selectors = machineSelectors(podSet);
  if (selectors.length === 0 || instanceType(name)?.provider !== provider || name.includes(' ')) return undefined;
  return joinEdits(
    ...selectors.flatMap(({ values }) => values.map((value) => replaceScalar(document, value.at, name))),
  );
}

/**
 * Selects nodes with another GPU, by the labels that name the GPU now. Undefined if no label names it, if one leaves a choice, or if the other GPU has
 * no single value for one of them.
 */
export function selectCard(document: YamlDocument, { selectors }: PodSet, gpu: GpuModel): Edits {
  const found = selectors.filter(({ key }) => isGpuLabel(key));
  const edits = found.map(({ key, values: [value, ...others] }): Edits => {
    const [label, ...more] = gpu.labels[key] ?? [];
    if (value === undefined || others.length > 0 || isTemplated(value.at) || label === undefined || more.length > 0)
      return undefined;
    return replaceScalar(document, value.at, label);
  });
  return found.length === 0 ? undefined : joinEdits(...edits);
}

/**
 * Selects nodes with another GPU: by the labels that name the GPU or its machine now, else by a new one. Undefined if one of them cannot be changed
 * without doubt.
 */
export function moveToCard(
  document: YamlDocument,
  podSet: PodSet,
  gpu: GpuModel,
  machine: { readonly provider: Provider; readonly instanceType: string },
): Edits {
  const cards = podSet.selectors.filter(({ key }) => isGpuLabel(key));
  const machines = podSet.selectors.filter(({ key }) => isInstanceTypeLabel(key));
  if (cards.length + machines.length === 0) {
    const key = machine.provider === 'gcp' ? 'cloud.google.com/gke-accelerator' : 'nvidia.com/gpu.product';
    const [label] = gpu.labels[key] ?? [];
    return label === undefined ? undefined : selectNodes(document, podSet, { [key]: label });
  }
  return joinEdits(
    cards.length === 0 ? [] : selectCard(document, podSet, gpu),
    machines.length === 0 ? [] : selectMachine(document, podSet, machine.provider, machine.instanceType),
  );
}

/** Selects nodes of another region. Undefined if no selector names a single region, or if one names a zone. */
export function selectRegion(document: YamlDocument, { selectors }: PodSet, region: string): Edits {
  const found = selectors.filter(({ key }) => key === 'topology.kubernetes.io/region');
  const isSingle = found.every(
    ({ values: [value, ...others] }) => value && others.length === 0 && !isTemplated(value.at),
  );
  if (found.length === 0 || !isSingle || selectors.some(({ key }) => /\bzone$/.test(key))) return undefined;
  return joinEdits(...found.flatMap(({ values }) => values.map((value) => replaceScalar(document, value.at, region))));
}
