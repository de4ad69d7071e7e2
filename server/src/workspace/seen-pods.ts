import type { ReferencedPods } from '../model/referenced-pods.ts';
import type { PodSet, Selector } from '../model/workload.ts';

/** The requests and node labels of a pod set, without positions. */
export function seenPods(podSet: PodSet): ReferencedPods {
  return {
    containers: podSet.containers.map(({ type, name, accelerators }) => ({
      type,
      name,
      accelerators: accelerators.map(({ resource, form, count }) => ({ resource, form, count })),
    })),
    selectors: seenSelectors(podSet.selectors),
  };
}

/** Node labels without positions. */
export function seenSelectors(selectors: readonly Selector[]): ReferencedPods['selectors'] {
  return selectors.map(({ key, values }) => ({ key, values: values.map(({ value }) => value) }));
}
