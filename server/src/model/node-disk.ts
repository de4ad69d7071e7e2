import { allInstanceTypes, localDisk } from '../catalog/index.ts';
import { isAllowed } from './machine-terms.ts';
import type { NodeRequirement, NodeTerm, PoolDisk } from './node-terms.ts';

// The ephemeral storage of nodes is mostly a setting of their pool, so it is compared only where the pool states it. A node offers less than its disk:
// its file system, the eviction threshold and the system take a part. So a request of the whole disk never fits, and a smaller one may.

/** Marks the nodes of a pool with its disk. Not a label: no selector names it. */
export function onDisk(disk: PoolDisk | null): NodeTerm {
  return disk === null ? [] : [{ key: 'ephemeral-storage', operator: 'In', values: [], disk }];
}

/** Whether the pods have the storage that they request. */
export type StorageFit =
  | { readonly kind: 'unchecked' | 'checked' }
  /** `largestGiB`: of the volumes that the pools state; null if only local disks count. */
  | { readonly kind: 'too-small'; readonly largestGiB: number | null };

/**
 * The terms whose nodes may have the storage that a pod requests, and the local disks that their machines need for it.
 * @param neededGiB 0: the pod requests none
 */
export function withStorage(
  terms: readonly NodeTerm[],
  neededGiB: number,
): { readonly terms: readonly NodeTerm[]; readonly fit: StorageFit } {
  if (neededGiB === 0 || terms.length === 0) return { terms, fit: { kind: neededGiB === 0 ? 'checked' : 'unchecked' } };
  const disks = terms.map(diskOf);
  const left = terms.flatMap((term, index) => termsWith(term, disks[index] ?? null, neededGiB));
  const isLocal = disks.some((disk) => disk !== null && disk.local !== 'no');
  if (left.length === 0 || (isLocal && !allInstanceTypes().some((type) => isAllowed(left, type)))) {
    const sizes = disks.flatMap((disk) => disk?.giB ?? []);
    return { terms, fit: { kind: 'too-small', largestGiB: isLocal || sizes.length === 0 ? null : Math.max(...sizes) } };
  }
  return { terms: left, fit: { kind: disks.includes(null) ? 'unchecked' : 'checked' } };
}

function diskOf(term: NodeTerm): PoolDisk | null {
  const [first, ...others] = term.flatMap(({ disk }) => (disk === undefined || disk.byDefault === true ? [] : disk));
  if (first !== undefined && others.every(({ giB, local }) => giB === first.giB && local === first.local)) return first;
  return term.some(onLocalDisks) ? { giB: null, local: 'instead' } : null;
}

/** https://cloud.google.com/kubernetes-engine/docs/how-to/persistent-volumes/local-ssd-ephemeral-storage */
function onLocalDisks({ key, operator, values }: NodeRequirement): boolean {
  return key === 'cloud.google.com/gke-ephemeral-storage-local-ssd' && operator === 'In' && values[0] === 'true';
}

function termsWith(term: NodeTerm, disk: PoolDisk | null, neededGiB: number): readonly NodeTerm[] {
  if (disk === null) return [term];
  const { giB, local } = disk;
  const onVolume = giB === null || neededGiB < giB;
  const onLocal: NodeTerm = [...term, { key: localDisk, operator: 'Gt', values: [String(neededGiB)] }];
  if (local === 'instead')
    return [
      onLocal,
      ...(onVolume ? [[...term, { key: localDisk, operator: 'DoesNotExist' as const, values: [] }]] : []),
    ];
  return onVolume ? [term] : local === 'maybe' ? [onLocal] : [];
}
