import { affinityTerms } from '../model/node-terms.ts';
import { seenNeeds } from '../model/pod-needs.ts';
import type { ReferencedPods } from '../model/referenced-pods.ts';
import { toleratedText } from '../model/tolerations.ts';
import type { PodSet, Selector } from '../model/workload.ts';
import type { Cursor } from '../yaml/cursor.ts';

/** The requests and node labels of a pod set, without positions. */
export function seenPods(podSet: PodSet): ReferencedPods {
  return {
    containers: podSet.containers.map(({ type, name, accelerators, resources }) => {
      const needs = seenNeeds(resources);
      return {
        type,
        name,
        accelerators: accelerators.map(({ resource, form, count }) => ({ resource, form, count })),
        ...(needs.length > 0 && { needs }),
      };
    }),
    ...seenNodes(podSet.selectors, podSet.pod),
    ...(podSet.tolerations.length > 0 && { tolerated: podSet.tolerations.map(toleratedText) }),
  };
}

/** Node labels and the terms of node affinity, without positions. */
export function seenNodes(selectors: readonly Selector[], pod: Cursor): Pick<ReferencedPods, 'selectors' | 'terms'> {
  const terms = affinityTerms(pod);
  return {
    selectors: selectors.map(({ key, values }) => ({ key, values: values.map(({ value }) => value) })),
    ...(terms.length > 0 && { terms }),
  };
}
