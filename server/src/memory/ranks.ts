import { table } from '../yaml/table.ts';
import type { Hardware } from './engine-buffers.ts';

/**
 * Cores of a Neuron device that software sees by default. Those of Trainium2 are pairs; a pod can split them.
 * https://awsdocs-neuron.readthedocs-hosted.com/en/latest/general/arch/neuron-features/logical-neuroncore-config.html, 2026-11-28
 */
const coresOf = table<number>({ inferentia2: 2, trainium1: 2, trainium2: 4 });

/** The ranks of a server that share the memory of one device: they fill the cores of a Neuron device before they use the next one. */
export function ranksPerDevice(ranks: number, { card, gpus }: Hardware): number {
  const cores = coresOf[card ?? ''];
  return cores === undefined ? 1 : Math.min(ranks, Math.max(cores, Math.ceil(ranks / (gpus || ranks))));
}
