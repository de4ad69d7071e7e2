import type { AcceleratorRequest, PodAccelerator, Workload } from './workload.ts';

/** Anything that can request accelerators: a container, the pods of a template, or all pods of an object. */
type Holder = { readonly accelerators: readonly (AcceleratorRequest | PodAccelerator)[] } | Pick<Workload, 'podSets'>;

/** Whether a request is not 0. An unknown number counts as a request. */
export function isRequested(one: AcceleratorRequest | PodAccelerator): boolean {
  return ('perPod' in one ? one.perPod : one.count) !== 0;
}

/** Whether a resource counts the memory or the cores of virtual GPUs, not devices. */
export function isCounter({ form }: Pick<AcceleratorRequest | PodAccelerator, 'form'>): boolean {
  return form === 'memory' || form === 'percent';
}

/** Whether a container, a pod or an object requests accelerators. */
export function requestsAccelerators(holder: Holder): boolean {
  if ('podSets' in holder) return holder.podSets.some((podSet) => requestsAccelerators(podSet));
  return holder.accelerators.some(isRequested);
}

/** Whether a container, a pod or an object names accelerators at all, even with a count of 0 (`nvidia.com/gpu: 0`). */
export function namesAccelerators(holder: Holder): boolean {
  if ('podSets' in holder) return holder.podSets.some((podSet) => namesAccelerators(podSet));
  return holder.accelerators.length > 0;
}
