import { type AcceleratorResource, acceleratorResource } from '../catalog/index.ts';

/** What a pod names to get devices: a resource in its containers, or something in place of one. */
export type RequestedResource =
  | { readonly kind: 'resource'; readonly name: string }
  /** Of a claim (dynamic resource allocation). The name is empty where a template says it. */
  | { readonly kind: 'deviceClass'; readonly name: string }
  /** A ResourceClaim, or a template of one, that no file makes. */
  | { readonly kind: 'claim'; readonly name: string }
  | { readonly kind: 'annotation'; readonly name: string }
  /** A field of a kind whose controller makes the pods. */
  | { readonly kind: 'field'; readonly system: 'kaito' | 'kubeai'; readonly name: string };

/** A resource by its name, as containers request it. */
export function byName(name: string): RequestedResource {
  return { kind: 'resource', name };
}

/** The name of a resource; undefined for what is written in place of one. */
export function resourceName(requested: RequestedResource): string | undefined {
  return requested.kind === 'resource' ? requested.name : undefined;
}

/** What the catalogue knows of a resource; undefined for what is written in place of one. */
export function knownResource(requested: RequestedResource): AcceleratorResource | undefined {
  return requested.kind === 'resource' ? acceleratorResource(requested.name) : undefined;
}

/** The one of a pod's accelerators that its containers request by this name. */
export function acceleratorByName<T extends { readonly requested: RequestedResource }>(
  accelerators: readonly T[],
  name: string,
): T | undefined {
  return accelerators.find(({ requested }) => resourceName(requested) === name);
}
