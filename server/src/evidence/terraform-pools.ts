import type { NodePool } from '../model/node-pool.ts';
import { type Field, isFields } from './fields.ts';
import { readHcl } from './hcl.ts';
import { poolInFields } from './pool-fields.ts';

/** A pool that a file of Terraform describes, with the name by which messages call it: `aws_eks_node_group.gpu`. */
export interface TerraformPool {
  readonly block: string;
  readonly pool: NodePool;
}

/** More pools in one file are generated. */
const maxPools = 200;

/** The pools of GPU nodes in a file of Terraform: resources of pools, and maps of pools that a module gets. */
export function terraformPools(text: string): readonly TerraformPool[] {
  if (!namesMachines(text)) return [];
  const found: TerraformPool[] = [];
  for (const { type, labels, body } of readHcl(text)) {
    const block = (type === 'resource' ? labels : [type, ...labels]).join('.');
    if (type === 'resource' && isPool.test(labels[0] ?? '')) {
      const pool = poolInFields(body, labels[1] ?? null);
      if (pool !== undefined) found.push({ block, pool });
    } else if (type === 'resource' || type === 'module' || type === 'locals') {
      look(body, null, 0, (pool) => found.push({ block, pool }));
    }
    if (found.length >= maxPools) break;
  }
  return found;
}

/** Whether a text can describe pools. Other files are not read. */
export function namesMachines(text: string): boolean {
  return /\b(?:machine_type|instance_types?|vm_size|node_shape)\b/.test(text);
}

const isPool = /node_?(?:pool|group)|machine_?pool|worker_?pool/;
const machineKey = /^(?:machine_type|instance_types?|vm_size|node_shape)$/;

/** Maps with a machine: `eks_managed_node_groups = { gpu = { instance_types = [...] } }`. */
function look(field: Field, name: string | null, depth: number, onPool: (pool: NodePool) => void): void {
  if (depth > 8) return;
  if (Array.isArray(field)) for (const item of field) look(item, null, depth + 1, onPool);
  if (!isFields(field)) return;
  if ([...field.keys()].some((key) => machineKey.test(key))) {
    const pool = poolInFields(field, name);
    if (pool !== undefined) onPool(pool);
    return;
  }
  for (const [key, value] of field) look(value, key, depth + 1, onPool);
}
