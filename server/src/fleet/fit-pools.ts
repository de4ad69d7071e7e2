import type { ClusterNodeState } from './cluster-index.ts';
import type { ClusterObjects } from './cluster-objects.ts';
import { isDeviceResource } from './device-counts.ts';
import type { GrowablePool } from './growth.ts';
import { isAcceleratorNode, machineOfNode } from './machine.ts';
import { poolNameOf } from './pools.ts';

/** The nodes of a pool, of accelerators or not. */
export interface FitPool extends GrowablePool {
  readonly hasDevices: boolean;
  /** Its nodes without pods, made when they are needed. */
  empty?: readonly ClusterNodeState[];
}

const known = new WeakMap<readonly ClusterNodeState[], readonly FitPool[]>();

/** The nodes by pool, computed once for each state of the cluster. */
export function fitPoolsOf(objects: ClusterObjects, states: readonly ClusterNodeState[]): readonly FitPool[] {
  const before = known.get(states);
  if (before !== undefined) return before;
  const pools = new Map<
    string,
    { readonly name: FitPool['name']; readonly states: ClusterNodeState[]; hasDevices: boolean }
  >();
  const drivers = new Set(objects.devices?.supply.slices.flatMap(({ nodeName }) => nodeName ?? []));
  for (const state of states) {
    const machine = machineOfNode(state.node);
    const name = poolNameOf({ node: state.node, machine });
    const pool = pools.get(name.id) ?? { name, states: [], hasDevices: false };
    pools.set(name.id, pool);
    pool.states.push(state);
    const offers = [...state.node.allocatable].some(([resource, amount]) => amount > 0 && isDeviceResource(resource));
    pool.hasDevices ||= offers || drivers.has(state.node.name) || isAcceleratorNode(state.node, machine);
  }
  const made = [...pools.values()];
  known.set(states, made);
  return made;
}
