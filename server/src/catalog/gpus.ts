import { lazy } from '../yaml/lazy.ts';
import { allInstanceTypes, instanceType } from './instances.ts';
import { nodeLabelMeaning, providerOfLabel } from './node-labels.ts';
import { sourceText, storedGpus } from './stored.ts';
import type { GpuModel } from './types.ts';

/** Every model, by catalogue id. */
export const gpus: ReadonlyMap<string, GpuModel> = new Map(
  storedGpus.gpus.map((gpu) => [gpu.id, { ...gpu, source: sourceText(storedGpus.sources, gpu.source) }]),
);

/**
 * What a device holds, in GiB: what its nodes say where a label of AWS is known, and else the marketed figure taken for GB, which is the
 * smaller reading. null where no figure is known, or only by memory.
 */
export function deviceGiB({ memoryGiB, labels, unsourced }: GpuModel): number | null {
  const [mebibytes] = labels['karpenter.k8s.aws/instance-gpu-memory'] ?? [];
  if (mebibytes !== undefined) return Number(mebibytes) / 1024;
  if (memoryGiB === null || unsourced.some((field) => field === 'all' || field === 'memoryGiB')) return null;
  return (memoryGiB * 1e9) / 2 ** 30;
}

/** GPU feature discovery appends the profile of uniformly cut cards, and -SHARED where a card is handed out several times. */
const discoverySuffix = /(?:-MIG-(?:INVALID|(?:\d+c\.)?\d+g\.\d+gb[a-z.+-]*))?(?:-SHARED)?$/;

const none: readonly GpuModel[] = [];

/**
 * The models that a node label selects. Empty: the label is no accelerator label or its value is unknown. Sharing and
 * MIG suffixes (-SHARED, -MIG-1g.5gb) are understood. An instance type or family counts where it has one known GPU.
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
 * The values of a label that the catalogue knows, sorted. Platforms add parts before the catalogue does, so a value
 * that is not among them is unknown rather than wrong.
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
      for (const value of values) models.set(value, [...(models.get(value) ?? []), gpu]);
    }
  }
  return index;
});

/** Instance family -> the one GPU that all its sizes have; null where sizes differ or a size is not known. */
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

function known(id: string | null | undefined): readonly GpuModel[] {
  const gpu = id === null || id === undefined ? undefined : gpus.get(id);
  return gpu === undefined ? none : [gpu];
}
