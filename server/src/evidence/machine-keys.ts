import { wordSet } from '../catalog/word-patterns.ts';

/** Whether a field of Terraform names the machine of a pool. */
export function isMachineKey(key: string): boolean {
  return machineKeys.has(key);
}

const machineKeys = wordSet('machine_type instance_type instance_types vm_size node_shape mixed_instances_policy');
