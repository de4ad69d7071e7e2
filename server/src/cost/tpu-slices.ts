import { topologyLabel } from '../model/placement.ts';
import type { PodSet } from '../model/workload.ts';
import type { Range } from './types.ts';

/** A TPU slice: GKE creates and removes all its chips together, whoever requests them. */
export interface TpuSlice {
  readonly topology: string;
  readonly chips: number;
}

/** The slice on which the pods run: `4x4` has 16 chips. Undefined if no single topology is selected. */
export function tpuSlice(podSet: PodSet): TpuSlice | undefined {
  const values = podSet.selectors.find(({ key }) => key === topologyLabel)?.values ?? [];
  const [topology, ...others] = values.map(({ value }) => value);
  return others.length > 0 ? undefined : sliceOf(podSet, topology);
}

/** The slice that is billed: the one that the pods select, else that of the pool on which they run. */
export function billedSlice(podSet: PodSet): TpuSlice | undefined {
  return tpuSlice(podSet) ?? sliceOf(podSet, podSet.placement.tpuTopology);
}

function sliceOf({ accelerators }: PodSet, topology: string | undefined): TpuSlice | undefined {
  if (topology === undefined || !/^\d{1,3}x\d{1,3}(?:x\d{1,3})?$/.test(topology)) return undefined;
  if (!accelerators.some(({ requested }) => requested.kind === 'resource' && requested.name === 'google.com/tpu'))
    return undefined;
  const chips = topology.split('x').reduce((product, side) => product * Number(side), 1);
  return chips > 0 ? { topology, chips } : undefined;
}

/** The pods that are billed: those that would fill whole slices. */
export function billedPods(podSet: PodSet, pods: Range): Range {
  const slice = billedSlice(podSet);
  const [accelerator] = podSet.accelerators;
  const perPod = accelerator?.perPod ?? null;
  if (slice === undefined || perPod === null || perPod <= 0) return pods;
  const filled = (count: number) => (Math.ceil((count * perPod) / slice.chips) * slice.chips) / perPod;
  return { min: filled(pods.min), max: filled(pods.max) };
}
