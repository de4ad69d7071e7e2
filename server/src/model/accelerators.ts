import type { AcceleratorRequest, PodAccelerator, Workload } from './workload.ts';

/** What may hold accelerators: a container, the pods of a template, or all pods of an object. */
type Holder = { readonly accelerators: readonly (AcceleratorRequest | PodAccelerator)[] } | Pick<Workload, 'podSets'>;

/** Whether something requests accelerators: a number of them that is not known counts, 0 does not. */
export function requestsAccelerators(holder: Holder): boolean {
  if ('podSets' in holder) return holder.podSets.some((podSet) => requestsAccelerators(podSet));
  return holder.accelerators.some((one) => ('perPod' in one ? one.perPod : one.count) !== 0);
}

/** Whether something names accelerators at all, if only to say that it wants none (`nvidia.com/gpu: 0`). */
export function namesAccelerators(holder: Holder): boolean {
  if ('podSets' in holder) return holder.podSets.some((podSet) => namesAccelerators(podSet));
  return holder.accelerators.length > 0;
}
