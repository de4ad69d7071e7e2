import type { PodAccelerator, PodSet } from '../model/workload.ts';

/**
 * The pods as they count for one of their accelerators: all are on one node, so each has the part of the pod's CPU and memory that it has of the
 * devices, and the node has as many cards as they take together. Accelerators of different models are priced as if each had its own node.
 */
export function withPartOfHost(podSet: PodSet, accelerator: PodAccelerator, all: readonly PodAccelerator[]): PodSet {
  const modelsOf = ({ model, candidates }: PodAccelerator) => model ?? candidates.join();
  const total = all.reduce<number>((sum, { devices }) => sum + (devices ?? NaN), 0);
  const isOneModel = all.every((one) => modelsOf(one) === modelsOf(accelerator));
  if (all.length < 2 || !isOneModel || !(total > 0) || accelerator.devices === null) return podSet;
  const { placement } = podSet;
  const { needs } = placement;
  const cards = Math.max(needs.cards ?? 0, Math.ceil(total - 1e-9));
  return {
    ...podSet,
    placement: {
      ...placement,
      needs: {
        ...needs,
        ofHost: { part: accelerator.devices / total, least: Math.min(...all.map(({ devices }) => devices ?? 0)) },
        ...(cards > 1 && { cards }),
      },
    },
  };
}
