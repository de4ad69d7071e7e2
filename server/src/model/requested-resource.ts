import { type AcceleratorResource, acceleratorResource } from '../catalog/index.ts';

/** What a pod names to get devices: a resource in its containers, or a substitute for one. */
export type RequestedResource =
  | { readonly kind: 'resource'; readonly name: string }
  /** The class in a claim (dynamic resource allocation). The name is empty if it is templated. */
  | { readonly kind: 'deviceClass'; readonly name: string }
  /** A ResourceClaim or ResourceClaimTemplate that no file defines. */
  | { readonly kind: 'claim'; readonly name: string }
  | { readonly kind: 'annotation'; readonly name: string }
  /** A field of a kind whose controller creates the pods; `nodes`: of all nodes together, however many there will be. */
  | { readonly kind: 'field'; readonly system: 'kaito' | 'kubeai' | 'field' | 'nodes'; readonly name: string };

/** A resource with a name, as containers request it. */
export function byName(name: string): RequestedResource {
  return { kind: 'resource', name };
}

/** The name of a resource; undefined for substitutes. */
export function resourceName(requested: RequestedResource): string | undefined {
  return requested.kind === 'resource' ? requested.name : undefined;
}

/** The catalog record of a resource; undefined for unknown resources and for substitutes. */
export function knownResource(requested: RequestedResource): AcceleratorResource | undefined {
  return requested.kind === 'resource' ? acceleratorResource(requested.name) : undefined;
}

/** The accelerator that a pod's containers request by a resource name. */
export function acceleratorByName<T extends { readonly requested: RequestedResource }>(
  accelerators: readonly T[],
  name: string,
): T | undefined {
  return accelerators.find(({ requested }) => resourceName(requested) === name);
}
