import { readModelServer } from '../command/model-server.ts';
import { processInput, useOf } from '../model/process-input.ts';
import { servedModel } from '../model/served-model.ts';
import type { Container, Workload } from '../model/workload.ts';
import { estimateServing } from './serving.ts';
import { leastWeightsGiB, weightsSize } from './weights.ts';

/**
 * The least memory in GiB, over all its devices, that a container's model server needs to load its model; 0 if the model or its size is unknown.
 * A model in an unknown format counts with 4 bits per parameter.
 */
export function leastServedGiB(container: Container, workload: Workload): number {
  const served = servedModel(container, workload);
  const { estimate } = estimateServing(served);
  if (estimate !== null) return estimate.weightsGiB + estimate.overheadGiB;
  if (served.model !== null) {
    const { name, bytes } = served.model;
    const size = weightsSize(name, bytes);
    return size === undefined ? (leastWeightsGiB(name) ?? 0) : size.gib;
  }
  if (served.unknown.kind !== 'format') return 0;
  const { program } = useOf(container);
  const name = readModelServer(processInput(container), program ?? undefined)?.model;
  return (name && leastWeightsGiB(name)) || 0;
}
