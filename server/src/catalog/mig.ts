import { lazy } from '../yaml/lazy.ts';
import { gpus } from './gpus.ts';
import { sourceText, storedMig } from './stored.ts';
import type { GpuModel, MigProfile, MigTable } from './types.ts';

/**
 * How a GPU can be cut. Undefined for a GPU that cannot be cut, and for one whose table no source gives (RTX PRO 4500):
 * `migCapable` tells these apart.
 */
export function migTable(gpuId: string): MigTable | undefined {
  return tableByGpu().get(gpuId);
}

/**
 * Every GPU and profile that has this resource name (nvidia.com/mig-1g.10gb is on A100 and H100). The name as
 * Kubernetes spells it: `nvidia.com/mig-1g.10gb.me` and not `nvidia.com/mig-1g.10gb+me`. A slice that is shared in turns may be called
 * `nvidia.com/mig-1g.10gb.shared` (`renameByDefault`). https://github.com/NVIDIA/k8s-device-plugin#with-cuda-time-slicing
 */
export function migByResource(
  resource: string,
): readonly { readonly gpu: GpuModel; readonly table: MigTable; readonly profile: MigProfile }[] {
  return byResource().get(resource.replace(/\.shared$/, '')) ?? [];
}

/** max(compute slices / total, memory slices / total): what a profile takes of a card. */
export function migShare(table: MigTable, profile: MigProfile): number {
  return Math.max(profile.computeSlices / table.computeSlices, profile.memorySlices / table.memorySlices);
}

/**
 * What a slice holds, in GiB: a little less than its name says. Where no table has the driver's figure, that of a slice of the same name on
 * another card counts, and else a twentieth less than the name, which is the least that any table tells.
 */
export function sliceGiB({ name, memoryGiB }: MigProfile): number {
  const known = smallestMiB().get(name);
  return known === undefined ? memoryGiB * 0.95 : known / 1024;
}

const smallestMiB = lazy(() => {
  const index = new Map<string, number>();
  for (const { name, memoryMiB } of storedMig.profiles)
    if (memoryMiB !== null) index.set(name, Math.min(memoryMiB, index.get(name) ?? memoryMiB));
  return index;
});

/** Every table, in the order of the facts: from A100 to Blackwell. */
export const migTables: () => readonly MigTable[] = lazy(() =>
  storedMig.tables.map((table, place) => ({
    ...table,
    profiles: storedMig.profiles.filter((profile) => profile.table === place).map(resolve),
  })),
);

const tableByGpu = lazy(() => new Map(migTables().flatMap((table) => table.gpus.map((gpu) => [gpu, table] as const))));

const byResource = lazy(() => {
  const index = new Map<string, { gpu: GpuModel; table: MigTable; profile: MigProfile }[]>();
  for (const table of migTables()) {
    for (const profile of table.profiles) {
      const found = index.get(profile.resource) ?? [];
      index.set(profile.resource, found);
      for (const id of table.gpus) {
        const gpu = gpus.get(id);
        if (gpu !== undefined) found.push({ gpu, table, profile });
      }
    }
  }
  return index;
});

function resolve({
  table: _table,
  basis,
  placements,
  source,
  ...rest
}: (typeof storedMig.profiles)[number]): MigProfile {
  return {
    ...rest,
    placements: placements.map(([start, size]) => ({ start, size })),
    placementsBasis: storedMig.bases[basis] ?? '',
    source: sourceText(storedMig.sources, source),
  };
}
