import { knownModel, servedModel } from '../model/served-model.ts';
import type { Container, Workload } from '../model/workload.ts';
import { estimateServing } from './serving.ts';
import { leastWeightsGiB } from './weights.ts';

/**
 * The least memory in GiB, over all its devices, that a container's model server needs to load its model; 0 if the model or its size is unknown.
 * If flags may be missing, the model counts with 4 bits per parameter, the smallest format in use.
 */
export function leastServedGiB(container: Container, workload: Workload): number {
  const served = servedModel(container, workload);
  if (served.model === null) return 0;
  const { name, open } = served.model;
  const { estimate } = estimateServing(served);
  if (estimate !== null && open.length === 0 && estimate.basis !== 'size')
    return (estimate.weightsGiB + estimate.runtimeGiB) * estimate.devices + estimate.activationsGiB;
  return (
    leastWeightsGiB(name, knownModel(served.model)) ??
    (estimate === null ? 0 : (estimate.shape.parameters * 0.5) / 2 ** 30)
  );
}
