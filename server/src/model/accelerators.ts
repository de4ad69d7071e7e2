import type { AcceleratorRequest, PodAccelerator, Workload } from './workload.ts';

/** What may hold accelerators: a container, the pods of a template, or all pods of an object. */
type Holder = { readonly accelerators: readonly (AcceleratorRequest | PodAccelerator)[] } | Pick<Workload, 'podSets'>;

/** Whether a request is for something: a number that is unknown counts, 0 does not. */
export function isRequested(one: AcceleratorRequest | PodAccelerator): boolean {
  return ('perPod' in one ? one.perPod : one.count) !== 0;
}

/** Whether something requests accelerators. */
export function requestsAccelerators(holder: Holder): boolean {
  if ('podSets' in holder) return holder.podSets.some((podSet) => requestsAccelerators(podSet));
  return holder.accelerators.some(isRequested);
}

/** Whether something names accelerators at all, if only to say that it wants none (`nvidia.com/gpu: 0`). */
export function namesAccelerators(holder: Holder): boolean {
  if ('podSets' in holder) return holder.podSets.some((podSet) => namesAccelerators(podSet));
  return holder.accelerators.length > 0;
}
