import type { RequestingContainer } from './devices.ts';
import type { InheritedPods } from './kinds/kind.ts';
import type { NodeTerm } from './node-terms.ts';
import { type Inherited, objectName } from './referenced.ts';
import type { ReferencedContainer, ReferencedPods } from './referenced-pods.ts';
import { resourceName } from './requested-resource.ts';
import { tolerationAt } from './tolerations.ts';
import type { AcceleratorRequest, Container, PodAccelerator, Selector, Toleration } from './workload.ts';

/** What a pod takes from another object. Everything is located at the reference to that object. */
export interface InheritedParts {
  readonly containers: readonly RequestingContainer[];
  readonly selectors: readonly Selector[];
  /** Terms of node affinity, which apply if the pod has none itself. */
  readonly terms: readonly NodeTerm[];
  /** What its pods tolerate, which applies if the pod has no tolerations itself. */
  readonly tolerations: readonly Toleration[];
  /** All containers of the other object, with what they need. */
  readonly needing: readonly ReferencedContainer[];
  readonly inherited: readonly Inherited[];
  /** Adds the location of the reference to inherited accelerators. */
  readonly withLocation: (accelerators: readonly PodAccelerator[]) => readonly PodAccelerator[];
}

/**
 * What another object adds: accelerators and node labels that this one does not name itself. The two are merged key by key, and this object's
 * own values take precedence.
 */
export function inheritParts(
  inheritedPods: InheritedPods | undefined,
  containers: readonly Container[],
  selectors: readonly Selector[],
): InheritedParts {
  if (inheritedPods === undefined) return nothing;
  const { at, from, pods } = inheritedPods;
  const own = new Set(containers.flatMap(({ accelerators }) => accelerators.map(({ resource }) => resource)));
  const others = pods.containers.map(({ type, accelerators }) => ({
    type,
    accelerators: accelerators
      .filter(({ resource }) => !own.has(resource))
      .map((request): AcceleratorRequest => ({ ...request, limit: undefined, request: undefined })),
  }));
  const labels = pods.selectors
    .filter(({ key }) => !selectors.some((selector) => selector.key === key))
    .map(
      ({ key, values }): Selector => ({
        key,
        values: values.map((value) => ({ value, at })),
        from: 'nodeSelector',
        at,
      }),
    );
  const inheritedNames = new Set(others.flatMap(({ accelerators }) => accelerators.map(({ resource }) => resource)));
  return {
    containers: others,
    selectors: labels,
    terms: pods.terms ?? [],
    tolerations: (pods.tolerated ?? []).map((one) => tolerationAt(one, at)),
    needing: pods.containers,
    inherited: inheritedNames.size === 0 ? [] : [{ fact: 'gpuCount', from: objectName(from) }],
    withLocation: (all) =>
      all.map((one) =>
        inheritedNames.has(resourceName(one.requested) ?? '') && one.at === undefined ? { ...one, at } : one,
      ),
  };
}

/** Whether pods name their nodes. */
export function selectsNodes({ selectors, terms = [] }: Pick<ReferencedPods, 'selectors' | 'terms'>): boolean {
  return selectors.length > 0 || terms.length > 0;
}

const nothing: InheritedParts = {
  ...{ containers: [], selectors: [], terms: [], tolerations: [], needing: [], inherited: [] },
  withLocation: (own) => own,
};
