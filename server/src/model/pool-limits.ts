import { instanceType, isInstanceTypeLabel, machineCpus, machineMemory, physicalCount } from '../catalog/index.ts';
import { isAllowed, modelsOfMachines } from './machine-terms.ts';
import type { NodePool } from './node-pool.ts';
import type { NodeRequirement, NodeTerm } from './node-terms.ts';

/**
 * The nodes that a pool adds within its limits: Karpenter starts no machine that has more of a resource than the limits leave
 * (https://karpenter.sh/docs/concepts/nodepools/#speclimits). Terms without such a machine stay as they are.
 */
export function termsWithinLimits({ terms = [], limits, size }: NodePool): readonly NodeTerm[] {
  const most = size === undefined ? Object.entries(limits ?? {}).flatMap(requirementOf) : [];
  if (most.length === 0) return terms;
  return terms.map((term) => {
    const limited = [...term.map((one) => withoutLarger(one, most)), ...most];
    return modelsOfMachines([term]).length > 0 && modelsOfMachines([limited]).length > 0 ? limited : term;
  });
}

function requirementOf([resource, limit]: readonly [string, number]): readonly NodeRequirement[] {
  const atMost = (key: string, most: number): NodeRequirement[] =>
    most > 0 ? [{ key, operator: 'Lt', values: [String(most + 1e-6)] }] : [];
  if (resource === 'cpu') return atMost(machineCpus, limit);
  // A node has a part of its machine's memory.
  if (resource === 'memory') return atMost(machineMemory, limit / 2 ** 30 / 0.9);
  return devices.test(resource) ? atMost(physicalCount, limit) : [];
}

const devices = /^(?:(?:nvidia|amd)\.com\/gpu|aws\.amazon\.com\/neuron)$/;

/** A list of instance types without those that are too large; others are unknown. */
function withoutLarger(requirement: NodeRequirement, most: NodeTerm): NodeRequirement {
  const { key, operator, values } = requirement;
  if (operator !== 'In' || !isInstanceTypeLabel(key)) return requirement;
  const fits = (name: string) => {
    const machine = instanceType(name);
    return machine === undefined || isAllowed([most], machine);
  };
  return { ...requirement, values: values.filter(fits) };
}
