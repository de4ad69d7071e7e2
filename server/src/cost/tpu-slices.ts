import type { PodSet } from '../model/workload.ts';
import type { Range } from './types.ts';

/** GKE's label of the shape of a TPU slice. https://cloud.google.com/kubernetes-engine/docs/concepts/tpus */
export const topologyLabel = 'cloud.google.com/gke-tpu-topology';

/** A TPU slice: GKE creates and removes all its chips together, whoever requests them. */
export interface TpuSlice {
  readonly topology: string;
  readonly chips: number;
}

/** The slice on which the pods run: `4x4` has 16 chips. Undefined if no single topology is selected. */
export function tpuSlice({ selectors, accelerators }: PodSet): TpuSlice | undefined {
  if (!accelerators.some(({ requested }) => requested.kind === 'resource' && requested.name === 'google.com/tpu'))
    return undefined;
  const values = selectors.find(({ key }) => key === topologyLabel)?.values ?? [];
  const [topology, ...others] = values.map(({ value }) => value);
  if (topology === undefined || others.length > 0 || !/^\d{1,3}x\d{1,3}(?:x\d{1,3})?$/.test(topology)) return undefined;
  const chips = topology.split('x').reduce((product, side) => product * Number(side), 1);
  return chips > 0 ? { topology, chips } : undefined;
}

/** The pods that are billed: those that would fill whole slices. */
export function billedPods(podSet: PodSet, pods: Range): Range {
  const slice = tpuSlice(podSet);
  const [accelerator] = podSet.accelerators;
  const perPod = accelerator?.perPod ?? null;
  if (slice === undefined || perPod === null || perPod <= 0) return pods;
  const filled = (count: number) => (Math.ceil((count * perPod) / slice.chips) * slice.chips) / perPod;
  return { min: filled(pods.min), max: filled(pods.max) };
}
