import type { GpuModel } from '../catalog/index.ts';
import { modelsOf } from '../model/gpu-model.ts';
import type { Selector } from '../model/workload.ts';

/** The models that all selectors together allow; empty if they name none or contradict each other. */
export function selectedModels(selectors: readonly Selector[]): readonly GpuModel[] {
  let selected: readonly GpuModel[] | undefined;
  for (const selector of selectors) {
    const models = modelsOf(selector);
    if (models.length > 0) selected = selected?.filter((model) => models.includes(model)) ?? models;
  }
  return selected ?? [];
}
