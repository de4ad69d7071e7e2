import type { FileAnalysis } from '../analysis.ts';
import { type GpuModel, gpus } from '../catalog/index.ts';
import { mayBe } from '../cost/gpu-prices.ts';
import { acceleratedWorkloads, requestedDevices } from './hover/gpu-words.ts';

/** The models that an accelerator request of a file can stand for where the file names none; all where nothing is requested. */
export function possibleGpus(file: FileAnalysis): readonly GpuModel[] {
  const requested = acceleratedWorkloads(file).flatMap(({ workload }) => workload.podSets.flatMap(requestedDevices));
  const unknown = requested.filter(({ model }) => model === null);
  const found = [...gpus.values()].filter((gpu) => unknown.some((accelerator) => mayBe(gpu, accelerator)));
  return found.length > 0 ? found : [...gpus.values()];
}
