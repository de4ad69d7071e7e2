import { type GpuModel, gpus, gpusByLabel, instanceType } from '../catalog/index.ts';
import type { Selector } from '../model/workload.ts';
import { isTemplated } from '../yaml/cursor.ts';

/** The models that one selector allows; empty where it says nothing of them, or where an alternative is not understood. */
export function modelsOf(selector: Selector): readonly GpuModel[] {
  const models = new Set<GpuModel>();
  for (const { value, at } of selector.values) {
    if (isTemplated(at)) return [];
    const found = isInstanceTypeKey(selector.key) ? ofInstanceType(value) : gpusByLabel(selector.key, value);
    if (found.length === 0) return [];
    for (const model of found) models.add(model);
  }
  return [...models];
}

/** The models that all selectors together allow; empty where they say nothing, or contradict each other. */
export function selectedModels(selectors: readonly Selector[]): readonly GpuModel[] {
  let selected: readonly GpuModel[] | undefined;
  for (const selector of selectors) {
    const models = modelsOf(selector);
    if (models.length > 0) selected = selected?.filter((model) => models.includes(model)) ?? models;
  }
  return selected ?? [];
}

/** Labels whose value is an instance type of a provider. */
export function isInstanceTypeKey(key: string): boolean {
  return (
    key === 'node.kubernetes.io/instance-type' ||
    key === 'beta.kubernetes.io/instance-type' ||
    key === 'karpenter.azure.com/sku-name'
  );
}

function ofInstanceType(name: string): readonly GpuModel[] {
  const model = gpus.get(instanceType(name)?.gpu ?? '');
  return model === undefined ? [] : [model];
}
