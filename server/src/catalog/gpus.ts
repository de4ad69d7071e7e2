import { lazy } from '../yaml/lazy.ts';
import { allInstanceTypes, instanceType } from './instances.ts';
import { nodeLabelMeaning, providerOfLabel } from './node-labels.ts';
import { sourceText, storedGpus } from './stored.ts';
import type { GpuModel } from './types.ts';

/** Every model, by catalog id. */
export const gpus: ReadonlyMap<string, GpuModel> = new Map(
  storedGpus.gpus.map((gpu) => [gpu.id, { ...gpu, source: sourceText(storedGpus.sources, gpu.source) }]),
);

/**
 * A device's memory in GiB: the value of its AWS node label if one is known, else the marketed figure read as GB, the smaller interpretation.
 * null if no sourced figure is known.
 */
export function deviceGiB({ memoryGiB, labels, unsourced }: GpuModel): number | null {
  const [mebibytes] = labels['karpenter.k8s.aws/instance-gpu-memory'] ?? [];
  if (mebibytes !== undefined) return Number(mebibytes) / 1024;
  if (memoryGiB === null || unsourced.some((field) => field === 'all' || field === 'memoryGiB')) return null;
  return (memoryGiB * 1e9) / 2 ** 30;
}

/** GPU feature discovery appends the profile of uniformly partitioned cards, and -SHARED to cards that several pods share. */
const discoverySuffix = /(?:-MIG-(?:INVALID|(?:\d+c\.)?\d+g\.\d+gb[a-z.+-]*))?(?:-SHARED)?$/;

const none: readonly GpuModel[] = [];

/**
 * The models that a node label selects. Empty: not an accelerator label, or an unknown value. Sharing and MIG suffixes (-SHARED,
 * -MIG-1g.5gb) are ignored. Instance types and families select a model if they have one known GPU.
 */
export function gpusByLabel(key: string, value: string): readonly GpuModel[] {
  const direct = byLabel().get(key);
  if (direct !== undefined) {
    const bare = key === 'nvidia.com/gpu.product' ? value.replace(discoverySuffix, '') : value;
    return direct.get(value) ?? direct.get(bare) ?? none;
  }
  const names = nodeLabelMeaning(key);
  if (names === 'instance-type') return known(instanceType(value)?.gpu);
  if (names === 'instance-family') return known(families().get(`${providerOfLabel(key)} ${value}`));
  return none;
}

/**
 * The values of a label in the catalog, sorted. Platforms add GPUs before the catalog does, so any other value is unknown rather than wrong.
 */
export function labelCandidates(key: string): readonly string[] {
  const direct = byLabel().get(key);
  if (direct !== undefined) return [...direct.keys()].sort();
  const names = nodeLabelMeaning(key);
  if (names === 'instance-type')
    return allInstanceTypes()
      .map((instance) => instance.name)
      .sort();
  if (names !== 'instance-family') return [];
  const prefix = `${providerOfLabel(key)} `;
  return [...families()]
    .flatMap(([family, gpu]) => (gpu !== null && family.startsWith(prefix) ? [family.slice(prefix.length)] : []))
    .sort();
}

const byLabel = lazy(() => {
  const index = new Map<string, Map<string, GpuModel[]>>();
  for (const gpu of gpus.values()) {
    for (const [key, values] of Object.entries(gpu.labels)) {
      const models = index.get(key) ?? new Map<string, GpuModel[]>();
      index.set(key, models);
      for (const value of values) {
        const known = models.get(value);
        if (known === undefined) models.set(value, [gpu]);
        else known.push(gpu);
      }
    }
  }
  return index;
});

/** Instance family -> the one GPU in all its sizes; null if sizes differ or the GPU of one is unknown. */
const families = lazy(() => {
  const index = new Map<string, string | null>();
  for (const { provider, name, gpu } of allInstanceTypes()) {
    const end = provider === 'aws' ? name.indexOf('.') : provider === 'gcp' ? name.indexOf('-') : -1;
    if (end < 0) continue;
    const family = `${provider} ${name.slice(0, end)}`;
    const before = index.get(family);
    index.set(family, before === undefined || before === gpu ? gpu : null);
  }
  return index;
});

/**
 * The families that a value means if it lacks the end of their names: `p4` of `p4d` and `p4de`. Empty if it is a family, and for the newest
 * generations, which get families before the catalog does.
 */
export function familiesMeant(key: string, value: string): readonly string[] {
  const [, letters, generation] = /^([a-z]{1,3})(\d{1,2})$/.exec(value) ?? [];
  if (letters === undefined || nodeLabelMeaning(key) !== 'instance-family') return [];
  const prefix = `${providerOfLabel(key)} ${letters}`;
  const others = [...families().keys()].flatMap((family) => {
    const [end] = family.startsWith(prefix) ? (/^\d.*/.exec(family.slice(prefix.length)) ?? []) : [];
    return end === undefined ? [] : [end];
  });
  const isNewest = others.every((end) => Number.parseInt(end, 10) <= Number(generation));
  if (isNewest || others.includes(generation ?? '')) return [];
  const longer = new RegExp(`^${generation}[a-z]`);
  return others.filter((end) => longer.test(end)).map((end) => letters + end);
}

function known(id: string | null | undefined): readonly GpuModel[] {
  const gpu = id === null || id === undefined ? undefined : gpus.get(id);
  return gpu === undefined ? none : [gpu];
}
