import { allocate } from './device-allocation.ts';
import type { FilterState } from './filters.ts';
import { claimsOn, type PodDevices } from './pod-devices.ts';
import type { FleetNode, FleetPod } from './types.ts';

/** Pods of one template, with what the filters need to know of them. */
export interface Gang {
  readonly pod: FleetPod;
  readonly count: number;
  readonly devices: PodDevices;
  readonly state: FilterState;
}

/** How many pods of each group run at once, at best. */
export interface Placed {
  readonly placed: readonly number[];
  /** Whether no other choice of nodes places more. */
  readonly exact: boolean;
}

/** A claim object, in contrast to one that each pod gets from a template. */
export function usesOneClaim({ pod, devices }: Gang): boolean {
  return devices.open.length > 0 && pod.claims.some(({ name }) => name !== null);
}

/** All claims of all pods are allocated together, because each takes devices from the others. */
export function holdsClaims(groups: readonly Gang[], counts: readonly number[], node: FleetNode): boolean {
  const claims = groups.flatMap(({ pod, devices }, index) => {
    const own = claimsOn(pod, node, devices);
    if (own.length === 0) return [];
    if (pod.claims.some(({ name }) => name !== null)) return (counts[index] ?? 0) > 0 ? own : [];
    return Array.from({ length: counts[index] ?? 0 }, () => own.map((claim) => ({ ...claim }))).flat();
  });
  const [first] = groups;
  if (claims.length === 0 || first === undefined) return true;
  const { supply, taken, matches } = first.devices;
  return allocate(claims, { node, slices: supply.slices, classes: supply.classes, taken, matches }) === 'possible';
}
