import { lazy } from '../yaml/lazy.ts';
import { gpus } from './gpus.ts';
import { sourceText, storedMig } from './stored.ts';
import type { GpuModel, MigProfile, MigTable } from './types.ts';

/**
 * The MIG profiles of a GPU. Undefined for a GPU without MIG and for one without a sourced table (RTX PRO 4500); `migCapable` distinguishes
 * them.
 */
export function migTable(gpuId: string): MigTable | undefined {
  return tableByGpu().get(gpuId);
}

/**
 * Every GPU and profile with this resource name (A100 and H100 have nvidia.com/mig-1g.10gb), as Kubernetes spells it:
 * `nvidia.com/mig-1g.10gb.me`, not `nvidia.com/mig-1g.10gb+me`. A time-sliced slice can be named `nvidia.com/mig-1g.10gb.shared`
 * (`renameByDefault`). https://github.com/NVIDIA/k8s-device-plugin#with-cuda-time-slicing
 */
export function migByResource(
  resource: string,
): readonly { readonly gpu: GpuModel; readonly table: MigTable; readonly profile: MigProfile }[] {
  // Nearly all resources are whole cards, which need no table.
  return resource.startsWith(migPrefix) ? (byResource().get(resource.replace(/\.shared$/, '')) ?? []) : [];
}

const migPrefix = 'nvidia.com/mig-';

/** The share of a card that a profile takes: max(compute slices / total, memory slices / total). */
export function migShare(table: MigTable, profile: MigProfile): number {
  return Math.max(profile.computeSlices / table.computeSlices, profile.memorySlices / table.memorySlices);
}

/**
 * The share of a card that a slice costs: at most as many of it can be placed as the card allows, whatever is left over. Three 2g slices fit a card of
 * seven compute slices, so each costs a third. A profile that can be placed only once leaves room for others and costs what it takes.
 */
export function migPriceShare(table: MigTable, profile: MigProfile): number {
  const { maxInstances } = profile;
  return Math.max(migShare(table, profile), maxInstances > 1 ? 1 / maxInstances : 0);
}

/**
 * A slice's memory in GiB, which is slightly below the figure in its name. Without a figure from the driver for this card, it is the smallest
 * of the slices with the same name on other cards, else 95 % of the name's figure, below which no table goes.
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

/** Every table in source order, from A100 to Blackwell. */
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
