import { lazy } from '../yaml/lazy.ts';
import { once } from '../yaml/once.ts';
import { table } from '../yaml/table.ts';
import { type StoredInstance, sourceText, storedInstances } from './stored.ts';
import type { InstanceType } from './types.ts';

/**
 * An instance type by its provider's name, which is also the value of the label node.kubernetes.io/instance-type, in any case. SageMaker adds
 * a prefix to the names of EC2 (`ml.p5.48xlarge`), and Azure's names are written with and without theirs. Undefined if it is not in the catalog.
 */
export function instanceType(name: string): InstanceType | undefined {
  if (name.length > 63) return undefined;
  const written = name.toLowerCase().replace(/^ml\./, '');
  const lower = twins[written] ?? written;
  const known = byLowerName();
  const stored = known.get(lower) ?? (/^n[cdv]/.test(lower) ? known.get(`standard_${lower}`) : undefined);
  return stored && typeOf(stored);
}

/** Types with the GPUs of another, by its name. https://github.com/oracle-quickstart/oci-hpc-oke/tree/vf (2026-11-28) */
const twins = table<string>({ 'bm.gpu.b4.8': 'bm.gpu4.8' });

/**
 * The instance types that a node label may mean: the one with that name, or those of a platform of Nebius, whose nodes are labeled with it
 * (`gpu-h100-sxm` of `gpu-h100-sxm_8gpu-128vcpu-1600gb`). Empty if none is in the catalog.
 */
export function instanceTypesOf(label: string): readonly InstanceType[] {
  const one = instanceType(label);
  return one === undefined ? (byPlatform().get(label) ?? []) : [one];
}

const byPlatform = lazy(() => {
  const found = new Map<string, InstanceType[]>();
  for (const stored of storedInstances.instances) {
    const name = stored[1];
    const end = stored[0] === 'nebius' ? name.indexOf('_') : -1;
    if (end < 0) continue;
    const platform = name.slice(0, end);
    found.set(platform, [...(found.get(platform) ?? []), typeOf(stored)]);
  }
  return found;
});

/** Every instance type, by provider and name. */
export const allInstanceTypes: () => readonly InstanceType[] = lazy(() => storedInstances.instances.map(typeOf));

/** Most sessions need a few types of all. */
const typeOf = once((stored: StoredInstance): InstanceType => {
  const [provider, name, gpu, gpuCount, vcpu, memoryGiB, rdma, rdmaDevices, unsourced, date, source, localDisk] =
    stored;
  const more = localDisk === undefined ? {} : { localDisk };
  const known = { provider, name, gpu, gpuCount, vcpu, memoryGiB, rdma, rdmaDevices, unsourced, date, ...more };
  return { ...known, source: sourceText(storedInstances.sources, source) };
});

/** No two names differ in case only. */
const byLowerName = lazy(() => new Map(storedInstances.instances.map((stored) => [stored[1].toLowerCase(), stored])));

/** The largest number of a GPU model in one instance type; undefined if no known instance type has the model. */
export function maxGpusPerInstance(gpu: string): number | undefined {
  return maxByGpu().get(gpu);
}

const maxByGpu = lazy(() => {
  const most = new Map<string, number>();
  for (const stored of storedInstances.instances) {
    const [gpu, count] = [stored[2], stored[3]];
    if (gpu !== null && count !== null) most.set(gpu, Math.max(count, most.get(gpu) ?? 0));
  }
  return most;
});
