import { byText, type CommitDates, dateOf, SourceTable } from './sources.ts';

interface Group {
  readonly gpu: string;
  readonly compute_slices_total: number;
  readonly memory_slices_total: number;
  readonly catalog_gpu_ids: readonly string[];
  readonly profiles: readonly {
    readonly name: string;
    readonly k8s_resource: string;
    readonly compute_slices: number;
    readonly memory_slices: number;
    readonly memory_mib: number | null;
    readonly memory_gib_nominal: number;
    readonly max_instances: number;
    readonly placements: readonly { readonly start: number; readonly size: number }[];
    readonly placements_basis: string;
    readonly source: string;
  }[];
}

export function migFile(facts: { readonly gpus: readonly Group[] }, dates: CommitDates) {
  const sources = new SourceTable();
  const bases: string[] = [];
  const tables = facts.gpus.map((group) => ({
    gpus: [...group.catalog_gpu_ids].sort(byText),
    computeSlices: group.compute_slices_total,
    memorySlices: group.memory_slices_total,
  }));
  const profiles = facts.gpus.flatMap((group, table) =>
    group.profiles.map((profile) => ({
      table,
      name: profile.name,
      resource: profile.k8s_resource,
      computeSlices: profile.compute_slices,
      memorySlices: profile.memory_slices,
      memoryMiB: profile.memory_mib,
      memoryGiB: profile.memory_gib_nominal,
      maxInstances: profile.max_instances,
      placements: profile.placements.map(({ start, size }) => [start, size]),
      basis: placeOf(profile.placements_basis),
      date: dateOf(profile.source, dates),
      source: sources.refer(profile.source),
    })),
  );
  return { sources: sources.toJSON(), bases, tables, profiles };

  function placeOf(basis: string): number {
    if (!bases.includes(basis)) bases.push(basis);
    return bases.indexOf(basis);
  }
}
