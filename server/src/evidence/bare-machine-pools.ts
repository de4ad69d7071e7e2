import { gpusByLabel, instanceType, type Vendor } from '../catalog/index.ts';
import type { Manifest } from '../model/workload.ts';
import { type Cursor, entries, getIn, isTemplated, items, keyOf } from '../yaml/cursor.ts';
import { poolsByFields } from './gpu-pools.ts';

/** A pool of GPU machines in a provider's own kind. */
export interface MachinePool {
  readonly name: string | null;
  /** The type of its machines. */
  readonly type: string;
  readonly vendor: Vendor;
  /** The mapping that holds the taints of its nodes; undefined if they are written in another form. */
  readonly owner: Cursor | undefined;
}

/**
 * The pools of GPU machines on AWS and Azure without a word about taints. Other clouds and kOps taint such nodes themselves, and their owners
 * may do so in the settings of the kubelet, in another object.
 */
export function bareMachinePools(manifest: Manifest): readonly MachinePool[] {
  if (/^(?:kops\.k8s\.io|core\.gardener\.cloud)\//.test(manifest.apiVersion)) return [];
  return poolsByFields(manifest).flatMap(({ pool, at }) => {
    const term = pool.terms?.[0]?.find(({ key }) => key === 'node.kubernetes.io/instance-type');
    const [type = ''] = term?.values ?? [];
    const provider = instanceType(type)?.provider;
    const vendor = gpusByLabel('node.kubernetes.io/instance-type', type)[0]?.vendor;
    if (vendor !== 'nvidia' && vendor !== 'amd') return [];
    if ((provider !== 'aws' && provider !== 'azure') || mentionsTaints(at, 0)) return [];
    const isMachineSet = manifest.kind === 'MachineSet';
    return [{ name: pool.name, type, vendor, owner: isMachineSet ? getIn(at, 'spec', 'template', 'spec') : undefined }];
  });
}

/** Whether any field is about taints, or may be. */
function mentionsTaints(at: Cursor, depth: number): boolean {
  if (depth > 12 || isTemplated(at)) return true;
  const fields = entries(at);
  return (
    fields.some((field) => /taint|kubelet|userdata/i.test(keyOf(field))) ||
    [...fields, ...items(at)].some((one) => one.node.kind !== 'scalar' && mentionsTaints(one, depth + 1))
  );
}
