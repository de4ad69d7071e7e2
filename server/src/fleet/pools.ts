import { poolLabelOf } from '../catalog/index.ts';
import type { ClusterNode, GrowingPool } from './cluster-objects.ts';
import type {
  DeviceCounts,
  LabelValue,
  LargestFit,
  LiveModel,
  LiveNode,
  LivePool,
  LiveTaint,
  PoolGrowth,
  PoolPlatform,
} from './cluster-view.ts';
import { addCounts, addDevices, deviceRequests } from './device-counts.ts';
import { computeClassLabel } from './growth-read.ts';
import { type DescribedNode, isStateTaint } from './live-node.ts';
import { sumCosts } from './node-cost.ts';
import type { FleetPod } from './types.ts';

/** What names a pool. */
export interface PoolName {
  readonly id: string;
  readonly name: string;
  readonly platform: PoolPlatform;
  readonly label: LabelValue | null;
}

/** The pool of a node, by the platform's label, else by an annotation; nodes of neither are one pool if their card and machine are equal. */
export function poolNameOf({ node, machine }: Pick<DescribedNode, 'node' | 'machine'>): PoolName {
  const label = poolLabelOf(node.labels);
  if (label !== undefined && (label.manager !== 'other' || node.annotated === null)) {
    const { key, value, manager } = label;
    return { id: `${manager}/${value}`, name: value, platform: manager, label: { key, value } };
  }
  if (node.annotated !== null) {
    const { platform, name } = node.annotated;
    // Oracle names pools by ids of 80 characters, which end with the part that differs.
    const shown = platform === 'oke' ? `…${name.slice(-6)}` : name;
    return { id: `${platform}/${name}`, name: shown, platform, label: null };
  }
  const name = [machine.model?.name, machine.instanceType].filter((part) => part != null).join(' on ');
  const shown = name === '' ? unknownNodes(node) : name;
  return { id: `similar-nodes/${shown}`, name: shown, platform: 'similar-nodes', label: null };
}

/** Devices of several vendors are not one pool. */
function unknownNodes({ capacity }: ClusterNode): string {
  const [first] = deviceRequests(capacity);
  if (first === undefined) return 'other nodes';
  return first.resource === 'nvidia.com/gpu' ? 'unknown GPU nodes' : `${first.resource} nodes`;
}

/** The nodes of each pool, in the order of their names. */
export function groupByPool(
  nodes: readonly DescribedNode[],
): readonly (readonly [PoolName, readonly DescribedNode[]])[] {
  const pools = new Map<string, readonly [PoolName, DescribedNode[]]>();
  for (const each of nodes) {
    const name = poolNameOf(each);
    const pool = pools.get(name.id) ?? [name, []];
    pool[1].push(each);
    pools.set(name.id, pool);
  }
  return [...pools.values()].sort(([a], [b]) => (a.id < b.id ? -1 : 1));
}

/** A pool with the sums over its nodes. */
export function describePool(
  name: PoolName,
  nodes: readonly DescribedNode[],
  growing: readonly GrowingPool[],
): LivePool {
  const live = nodes.map((each) => each.live);
  const resources = addCounts(live.map((node) => node.resources));
  const main = mainResource(resources);
  return {
    ...name,
    model: sameModel(live),
    labels: commonLabels(nodes.map(({ node }) => node)),
    otherLabels: otherLabels(nodes.map(({ node }) => node)),
    taints: commonTaints(nodes.map(({ node }) => node)),
    instanceTypes: distinct(live.map(({ instanceType }) => instanceType)),
    zones: distinct(live.map(({ zone }) => zone)),
    capacity: sameCapacity(live),
    nodes: live.length,
    readyNodes: live.filter(({ ready }) => ready).length,
    cordonedNodes: live.filter(({ cordoned }) => cordoned).length,
    resources,
    devices: addDevices(live.map(({ devices }) => devices)),
    cost: sumCosts(live.map(({ cost }) => cost)),
    largestFit: main === undefined ? null : largestFit(live, main),
    largestNode: largestNode(live),
    fits: main === undefined ? [] : fitsBySize(live, main),
    scattered: main === undefined ? 0 : scattered(live, main),
    growth: growthOf(name, nodes, growing),
    toleratesRequested: nodes.some(({ node }) => toleratesRequested(node)),
    usage: null,
  };
}

/** The resource with the most devices; units of unknown size count as devices. */
function mainResource(resources: readonly DeviceCounts[]): string | undefined {
  const [most] = [...resources].sort((a, b) => b.capacity * (b.share ?? 1) - a.capacity * (a.share ?? 1));
  return most?.resource;
}

function sameModel(nodes: readonly LiveNode[]): LiveModel | null {
  const [first] = nodes;
  const model = first?.model ?? null;
  return model !== null && nodes.every((node) => node.model?.name === model.name) ? model : null;
}

function sameCapacity(nodes: readonly LiveNode[]): LivePool['capacity'] {
  const all = new Set(nodes.map(({ capacity }) => capacity));
  const [first = null] = all;
  return all.size > 1 ? 'mixed' : first;
}

function distinct(values: readonly (string | null)[]): readonly string[] {
  return [...new Set(values.flatMap((value) => value ?? []))].sort();
}

/** Labels that name one node, even in a pool of one. */
const ofOneNode = /hostname|instance-?id|uuid|serial|\/uid$|provider-?id|node-?name|\.node\.info\./i;

function commonLabels(nodes: readonly ClusterNode[]): readonly LabelValue[] {
  const [first, ...others] = nodes;
  return [...(first?.labels ?? [])]
    .filter(([key, value]) => !ofOneNode.test(key) && others.every(({ labels }) => labels.get(key) === value))
    .map(([key, value]) => ({ key, value }));
}

/** More values name nodes, not kinds of nodes. */
const maxValues = 12;

function otherLabels(nodes: readonly ClusterNode[]): LivePool['otherLabels'] {
  const values = new Map<string, Map<string, number>>();
  for (const { labels } of nodes) {
    for (const [key, value] of labels) {
      const of = values.get(key) ?? new Map<string, number>();
      if (of.size <= maxValues) values.set(key, of.set(value, (of.get(value) ?? 0) + 1));
    }
  }
  return [...values]
    .filter(
      ([key, of]) =>
        !ofOneNode.test(key) && of.size <= maxValues && !(of.size === 1 && [...of.values()][0] === nodes.length),
    )
    .map(([key, of]) => ({ key, values: [...of.keys()].sort() }));
}

function largestNode(nodes: readonly LiveNode[]): LivePool['largestNode'] {
  const most = new Map<string, number>();
  for (const { resource, capacity } of nodes.flatMap(({ resources }) => resources))
    most.set(resource, Math.max(capacity, most.get(resource) ?? 0));
  return [...most].map(([resource, count]) => ({ resource, count }));
}

function commonTaints(nodes: readonly ClusterNode[]): readonly LiveTaint[] {
  const [first, ...others] = nodes;
  const same = (a: LiveTaint) => (b: LiveTaint) => a.key === b.key && a.value === b.value && a.effect === b.effect;
  return (first?.taints ?? []).filter(
    (taint) => !isStateTaint(taint) && others.every(({ taints }) => taints.some(same(taint))),
  );
}

function freeOn({ resources }: LiveNode, main: string): number {
  return resources.find(({ resource }) => resource === main)?.free ?? 0;
}

function largestFit(nodes: readonly LiveNode[], main: string): LargestFit | null {
  let best: LargestFit | null = null;
  for (const node of nodes) {
    const devices = freeOn(node, main);
    const isLarger = best === null || devices > best.devices || (devices === best.devices && node.freeCpu > best.cpu);
    if (devices > 0 && isLarger)
      best = { resource: main, devices, cpu: node.freeCpu, memory: node.freeMemory, node: node.name };
  }
  return best;
}

function fitsBySize(nodes: readonly LiveNode[], main: string): LivePool['fits'] {
  const all = nodes.map((node) => node.resources.find(({ resource }) => resource === main));
  const most = all.reduce((max, one) => Math.max(max, one?.allocatable ?? 0), 0);
  const sizes: { readonly devices: number; readonly pods: number }[] = [];
  for (let devices = 1; devices <= most && devices <= 64; devices *= 2)
    sizes.push({ devices, pods: all.reduce((sum, one) => sum + Math.floor((one?.free ?? 0) / devices), 0) });
  return sizes;
}

function scattered(nodes: readonly LiveNode[], main: string): number {
  return nodes.reduce((sum, node) => {
    const counts = node.resources.find(({ resource }) => resource === main);
    return sum + ((counts?.requested ?? 0) > 0 ? (counts?.free ?? 0) : 0);
  }, 0);
}

/** The autoscaler of a pool: by its name, or by the names of its nodes, which begin with that of their group. */
export function growersOf(
  name: PoolName,
  nodes: readonly { readonly node: ClusterNode }[],
  growing: readonly GrowingPool[],
): readonly GrowingPool[] {
  return growing.filter((group) => {
    if (group.by === 'karpenter') return name.platform === 'karpenter' && group.name === name.name;
    if (group.by === 'compute-class')
      return nodes.some(({ node }) => node.labels.get(computeClassLabel) === group.name);
    if (group.by === 'machine-autoscaler') return name.platform === 'openshift' && group.name === name.name;
    if (name.platform === 'eks' && group.name.startsWith(`eks-${name.name}-`)) return true;
    return (
      name.name === group.name ||
      nodes.some(({ node }) => node.name.startsWith(`${group.name}-`) || isOfScaleSet(node, group))
    );
  });
}

/** Azure appends six characters to the name of the scale set. */
function isOfScaleSet({ name }: ClusterNode, { name: group }: GrowingPool): boolean {
  return group.endsWith('-vmss') && name.startsWith(group) && name.length === group.length + 6;
}

const growerNames = {
  karpenter: 'Karpenter NodePool',
  'compute-class': 'ComputeClass',
  'cluster-autoscaler': 'cluster autoscaler',
  'machine-autoscaler': 'MachineAutoscaler',
} as const;

/** A pool in several zones has one group for each. */
function growthOf(name: PoolName, nodes: readonly DescribedNode[], growing: readonly GrowingPool[]): PoolGrowth | null {
  const groups = growersOf(name, nodes, growing);
  const [first] = groups;
  if (first === undefined) return null;
  const sum = (values: readonly (number | null)[]) =>
    values.reduce((total: number | null, value) => (total === null || value === null ? null : total + value), 0);
  return {
    by: first.creates === false ? growerNames[first.by] : `${growerNames[first.by]} ${first.name}`,
    min: sum(groups.map(({ min }) => min)),
    max: sum(groups.map(({ max }) => max)),
    limits: [...first.limits].map(([resource, limit]) => ({ resource, limit, used: first.used.get(resource) ?? 0 })),
  };
}

/** The ComputeClasses of GKE that a pod selects. */
export function classesOf({ nodeSelector, nodeTerms }: FleetPod): readonly string[] {
  const selected = nodeSelector.get(computeClassLabel);
  const required = (nodeTerms ?? []).flatMap(({ labels }) =>
    labels.flatMap(({ key, operator, values }) => (key === computeClassLabel && operator === 'In' ? values : [])),
  );
  return selected === undefined ? required : [selected];
}

/** EKS, GKE and AKS run the admission plugin ExtendedResourceToleration. */
export function toleratesRequested({ labels }: ClusterNode): boolean {
  return [...labels.keys()].some((key) =>
    /^(?:cloud\.google\.com\/gke-|kubernetes\.azure\.com\/|eks\.amazonaws\.com\/|alpha\.eksctl\.io\/)/.test(key),
  );
}
