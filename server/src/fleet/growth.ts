import { allInstanceTypes, type MachineShape } from '../catalog/index.ts';
import { isAllowed } from '../model/machine-terms.ts';
import { inBoth, type NodeRequirement, type NodeTerm } from '../model/node-terms.ts';
import type { ClusterNodeState } from './cluster-index.ts';
import type { ClusterNode, GrowingPool } from './cluster-objects.ts';
import { deviceRequests } from './device-counts.ts';
import { refusalOf } from './filters.ts';
import type { Growth } from './fit-question.ts';
import type { Gang } from './gang-group.ts';
import { selects } from './labels.ts';
import { isStateTaint } from './live-node.ts';
import { classesOf, growersOf, type PoolName } from './pools.ts';
import { untolerated } from './tolerations.ts';
import type { Amounts, FleetPod, NodeSelectorTerm } from './types.ts';

/** A pool with the nodes that it has. */
export interface GrowablePool {
  readonly name: PoolName;
  readonly states: readonly ClusterNodeState[];
}

/** The pools that can add nodes on which the pods would run, and those that cannot because they are at their limit. */
export function growthFor(
  gang: Gang,
  missing: number,
  pools: readonly GrowablePool[],
  growing: readonly GrowingPool[],
): readonly Growth[] {
  const found: Growth[] = [];
  const used = new Set<GrowingPool>();
  for (const { name, states } of pools) {
    const groups = growersOf(name, states, growing);
    for (const group of groups) used.add(group);
    const [example] = groups.length === 0 ? [] : emptyNodes(states);
    if (example === undefined) continue;
    const each = podsOnEmpty(gang, example);
    if (each === 0) {
      // It may add other machines than it has.
      for (const group of groups) if (group.creates === true) used.delete(group);
      continue;
    }
    const nodes = Math.ceil(missing / each);
    found.push(growthOf(name.name, groups, example.node, nodes));
  }
  for (const group of growing) {
    if (used.has(group) || group.creates !== true || !admitsPod(group, gang.pod)) continue;
    const blocked = limitOf(group, timesOf(gang.pod.requests, missing)) ?? (group.ready ? null : 'not ready');
    found.push({ pool: group.name, by: growerNames[group.by], nodes: null, blocked });
  }
  return found.sort((a, b) => Number(a.blocked !== null) - Number(b.blocked !== null));
}

/** Groups that have no nodes, and classes of which it is unknown whether they create any, so that what they would add is not known; in words. */
export function unknownGrowth(
  pools: readonly GrowablePool[],
  growing: readonly GrowingPool[],
  pods: readonly FleetPod[],
): readonly string[] {
  const known = new Set(pools.flatMap(({ name, states }) => growersOf(name, states, growing)));
  const empty = growing.filter((group) => group.creates === false && group.max !== 0 && !known.has(group));
  const classes = growing.filter((group) => group.creates === null && pods.some((pod) => admitsPod(group, pod)));
  const [group, one] = [empty[0], classes[0]];
  const groups = empty.length === 1 ? `the empty node group ${group?.name}` : `${empty.length} empty node groups`;
  return [
    ...(group === undefined ? [] : [`nodes that ${groups} would add`]),
    ...(one === undefined
      ? []
      : [`nodes that the ComputeClass ${one.name} would add if GKE creates node pools for it`]),
  ];
}

/** New nodes of a pool: like those it has, without pods and without the taints of a state, the largest first. */
function emptyNodes(states: readonly ClusterNodeState[]): readonly ClusterNodeState[] {
  const size = ({ allocatable }: ClusterNode) =>
    [...allocatable.values()].reduce((sum, amount) => sum + Math.log1p(amount), 0);
  return [...states]
    .sort((a, b) => size(b.node) - size(a.node))
    .map(({ node }) => {
      const taints = node.taints.filter((taint) => !isStateTaint(taint));
      return { node: { ...node, taints, unschedulable: false }, pods: [], used: new Map<string, number>() };
    });
}

/** How many of the pods a new node takes; 0 if it cannot run them. */
function podsOnEmpty({ pod, state, count }: Gang, on: ClusterNodeState): number {
  // Constraints about other pods are left to the scheduler: the new nodes are not in the counts.
  const alone = { ...pod, affinity: [], antiAffinity: [], spread: [] };
  if (refusalOf(alone, on, { ...state, spread: [] }) !== undefined) return 0;
  let most = Math.min(count, on.node.allocatable.get('pods') ?? 0);
  for (const [name, amount] of pod.requests) {
    const all = on.node.allocatable.get(name);
    if (amount > 0 && all !== undefined) most = Math.min(most, Math.floor(all / amount));
  }
  return Math.max(1, most);
}

function growthOf(pool: string, groups: readonly GrowingPool[], node: ClusterNode, nodes: number): Growth {
  const by = growerNames[groups[0]?.by ?? 'cluster-autoscaler'];
  const left = groups.map((group) => roomOf(group));
  const room = left.reduce((sum, one) => sum + one, 0);
  const limits = groups.flatMap((group) => limitOf(group, timesOf(node.allocatable, nodes)) ?? []);
  const [limit] = limits.length === groups.length ? limits : [];
  const full = groups.every(({ max }) => max !== null) && room < nodes;
  const most = groups.reduce((sum, { max }) => sum + (max ?? 0), 0);
  const blocked = groups.every(({ ready }) => !ready)
    ? 'not ready, or backing off'
    : full
      ? room <= 0
        ? `at its maximum of ${most} nodes`
        : `can add only ${room} of ${nodes} nodes (maximum ${most})`
      : (limit ?? null);
  return { pool, by, nodes, blocked };
}

function roomOf({ max, nodes }: GrowingPool): number {
  return max === null ? Infinity : Math.max(0, max - (nodes ?? 0));
}

/** The first limit of the pool that more resources would exceed, in words. */
function limitOf({ limits, used }: GrowingPool, more: Amounts): string | undefined {
  for (const [resource, limit] of limits) {
    const has = used.get(resource) ?? 0;
    if (has + (more.get(resource) ?? 0) > limit)
      return `limit of ${scaled(resource, limit)} ${resource}, ${scaled(resource, has)} in use`;
  }
  return undefined;
}

function scaled(resource: string, amount: number): string {
  return String(
    resource === 'cpu' ? amount / 1000 : resource === 'memory' ? `${Math.round(amount / 2 ** 30)} GiB` : amount,
  );
}

function timesOf(amounts: Amounts, times: number): Amounts {
  return new Map([...amounts].map(([name, amount]) => [name, amount * times]));
}

const growerNames = {
  karpenter: 'Karpenter',
  'compute-class': 'ComputeClass',
  'cluster-autoscaler': 'cluster autoscaler',
  'machine-autoscaler': 'cluster autoscaler',
} as const;

/** Whether nodes of a pool without nodes could run the pod, as far as its labels, taints and requirements and the known machines say. */
function admitsPod(pool: GrowingPool, pod: FleetPod): boolean {
  // GKE creates nodes of a class only for pods that select it.
  if (pool.by === 'compute-class' && !classesOf(pod).includes(pool.name)) return false;
  if (untolerated(pod.tolerations, { ...emptyNode, taints: pool.taints }) !== undefined) return false;
  const devices = deviceRequests(pod.requests);
  const reachable = termsOfNodes(pool).flatMap((own) =>
    inBoth([own], termsOf(pod)).filter((term) => term.every((requirement) => fitsLabels(requirement, pool, own))),
  );
  if (reachable.length === 0) return false;
  return allInstanceTypes().some(
    (machine) =>
      (devices.length === 0 ||
        (machine.gpu !== null && devices.every(({ count }) => count <= (machine.gpuCount ?? 0)))) &&
      holds(machine, pod.requests) &&
      isAllowed(reachable, machine),
  );
}

const emptyNode = { name: '', labels: new Map(), taints: [], unschedulable: false, allocatable: new Map() } as const;

/** Whether a machine has as much cpu and memory; a part of it is not for pods, so it may still be too small. */
function holds({ vcpu, memoryGiB }: MachineShape, requests: Amounts): boolean {
  const [cpu = 0, memory = 0] = [requests.get('cpu'), requests.get('memory')];
  return cpu <= (vcpu ?? Infinity) * 1000 && memory <= (memoryGiB ?? Infinity) * 2 ** 30;
}

function termsOfNodes({ labels, terms }: GrowingPool): readonly NodeTerm[] {
  const fixed = [...labels].map(([key, value]) => ({ key, operator: 'In' as const, values: [value] }));
  return terms.length === 0 ? [fixed] : terms.map((term) => [...fixed, ...requirementsOf(term)]);
}

function termsOf({ nodeSelector, nodeTerms }: FleetPod): readonly NodeTerm[] {
  const plain = [...nodeSelector].map(([key, value]) => ({ key, operator: 'In' as const, values: [value] }));
  return (nodeTerms ?? [{ labels: [], fields: [] }]).map((term) => [...plain, ...requirementsOf(term)]);
}

const operators: ReadonlySet<string> = new Set(['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt']);

function requirementsOf({ labels }: NodeSelectorTerm): NodeTerm {
  return labels.flatMap(
    ({ key, operator, values }): NodeTerm =>
      operators.has(operator) ? [{ key, operator: operator as NodeRequirement['operator'], values }] : [],
  );
}

/** A label that the template sets must meet what the pod requires; one that a requirement of the pool limits must share a value with it. */
function fitsLabels({ key, operator, values }: NodeRequirement, { labels }: GrowingPool, own: NodeTerm): boolean {
  const fixed = labels.get(key);
  if (fixed !== undefined) return selects([{ key, operator, values }], new Map([[key, fixed]]));
  if (operator !== 'In') return true;
  return own.every(
    (limit) =>
      limit.key !== key ||
      (limit.operator !== 'DoesNotExist' &&
        (limit.operator !== 'In' || limit.values.some((value) => values.includes(value)))),
  );
}
