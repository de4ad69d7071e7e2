import { type ClusterNodeState, statesOf } from './cluster-index.ts';
import type { ClusterObjects, ClusterPod } from './cluster-objects.ts';
import type { ClusterView, DeviceCount, LiveNode, MoneyRange, NodeProblem, OwnerUse } from './cluster-view.ts';
import { addDevices, deviceRequests } from './device-counts.ts';
import { type DescribedNode, describeNode, holdsDevices } from './live-node.ts';
import { type NodePricing, sumCosts } from './node-cost.ts';
import { claimedBy, type DraIndex, draIndex, leakedClaims } from './node-dra.ts';
import { pendingExplainer } from './pending.ts';
import { describePool, groupByPool } from './pools.ts';
import { arePodsUnread, withoutUse } from './unread-pods.ts';

/** What a view says of its connection. */
export type ViewInput = Pick<ClusterView, 'context' | 'serverVersion' | 'state' | 'asOf' | 'coverage'>;

/** A view, and the nodes of its pools, which are many. */
export interface ComputedView {
  readonly view: ClusterView;
  /** @param pool `LivePool.id` */
  readonly nodesOf: (pool: string) => readonly LiveNode[];
}

/** Computes views of one cluster. Nodes that have not changed since the last view are not described again. */
export function viewMaker(priceOf: NodePricing): (objects: ClusterObjects, input: ViewInput) => ComputedView {
  let known = new Map<ClusterNodeState, DescribedNode | undefined>();
  const explain = pendingExplainer();
  return (objects, input) => {
    const dra = draIndex(objects.devices);
    const context = { dra, priceOf, asOf: input.asOf };
    const current = new Map<ClusterNodeState, DescribedNode | undefined>();
    for (const state of statesOf(objects)) {
      const before = known.get(state);
      // Claims change without a change of the node, and a node that has just started becomes a problem with time alone.
      const isSettled = known.has(state) && before?.problem == null && dra.devicesOf(state.node).length === 0;
      current.set(state, isSettled ? before : describeNode(state, context));
    }
    known = current;
    const described = [...current.values()].flatMap((one) => one ?? []);
    const pools = groupByPool(described);
    const isUnread = arePodsUnread(input.coverage);
    const all = pools.map(([name, nodes]) => describePool(name, nodes, objects.growing));
    const live = isUnread ? all.map(withoutUse) : all;
    const nodes = new Map(pools.map(([{ id }, each]) => [id, each]));
    const poolOf = new Map(pools.flatMap(([{ id }, each]) => each.map(({ node }) => [node.name, id] as const)));
    return {
      view: {
        ...input,
        pools: live,
        totals: {
          nodes: described.length,
          devices: addDevices(live.map(({ devices }) => devices)),
          cost: sumCosts(live.map(({ cost }) => cost)),
        },
        owners: ownersOf(objects.pods, described, poolOf, dra),
        pending: explain(objects, input),
        deviceClasses: objects.devices === undefined ? null : [...objects.devices.supply.classes.keys()].sort(),
        leaked: leakedClaims(objects.devices, dra),
        problems: problemsOf(described, poolOf),
        usage: null,
        idlePods: [],
      },
      nodesOf: (pool) => nodes.get(pool)?.map((each) => (isUnread ? withoutUse(each.live) : each.live)) ?? [],
    };
  };
}

function problemsOf(nodes: readonly DescribedNode[], poolOf: ReadonlyMap<string, string>): readonly NodeProblem[] {
  return nodes.flatMap(({ node, problem }) =>
    problem === null ? [] : [{ node: node.name, pool: poolOf.get(node.name) ?? '', message: problem }],
  );
}

interface Use {
  readonly first: ClusterPod;
  pods: number;
  pending: number;
  readonly devices: Map<string, number>;
  /** NaN: unknown. */
  sum: number;
  readonly pools: Set<string>;
  /** NaN: unknown. */
  min: number;
  max: number;
}

/** Who holds the devices, those with the most first. */
function ownersOf(
  pods: readonly ClusterPod[],
  nodes: readonly DescribedNode[],
  poolOf: ReadonlyMap<string, string>,
  dra: DraIndex,
): readonly OwnerUse[] {
  const byName = new Map(nodes.map((each) => [each.node.name, each.live]));
  const uses = new Map<string, Use>();
  for (const pod of pods) {
    const node = byName.get(pod.nodeName);
    // A node that is gone, or a claim of other devices than accelerators.
    if (!holdsDevices(pod) || (pod.nodeName !== '' && node === undefined)) continue;
    const { kind, name } = ownerName(pod);
    const key = `${pod.namespace}/${kind}/${name}`;
    const use: Use = uses.get(key) ?? {
      first: pod,
      pods: 0,
      pending: 0,
      devices: new Map(),
      sum: 0,
      pools: new Set(),
      min: 0,
      max: 0,
    };
    uses.set(key, use);
    if (node === undefined) {
      use.pending += 1;
      continue;
    }
    use.pods += 1;
    use.pools.add(poolOf.get(pod.nodeName) ?? '');
    const held = heldBy(pod, node, use.devices) + addClaimed(claimedBy(pod, dra), use.devices);
    use.sum += held;
    addPart(use, node, held);
  }
  return [...uses.values()]
    .map(
      (use): OwnerUse => ({
        namespace: use.first.namespace,
        owner: ownerName(use.first),
        pods: use.pods,
        pending: use.pending,
        devices: [...use.devices].map(([resource, count]) => ({ resource, count })),
        deviceSum: Number.isNaN(use.sum) ? null : Math.round(use.sum * 1e6) / 1e6,
        pools: [...use.pools].sort(),
        hourly: Number.isNaN(use.min) ? null : { min: use.min, max: use.max },
        usage: null,
      }),
    )
    .sort(
      (a, b) =>
        (b.deviceSum ?? 0) - (a.deviceSum ?? 0) || b.pods - a.pods || order(a) - order(b) || (key(a) < key(b) ? -1 : 1),
    );
}

function order({ pending }: OwnerUse): number {
  return -pending;
}

function key({ namespace, owner }: OwnerUse): string {
  return `${namespace}/${owner.kind}/${owner.name}`;
}

function ownerName({ owner, name }: ClusterPod): OwnerUse['owner'] {
  return owner ?? { kind: 'Pod', name };
}

/** The physical devices that a pod holds on a node, of which the units are added to `units`; NaN if a share is unknown. */
function heldBy({ requests }: ClusterPod, node: LiveNode, units: Map<string, number>): number {
  const requested = deviceRequests(requests);
  for (const { resource, count } of requested) units.set(resource, (units.get(resource) ?? 0) + count);
  return requested.reduce((sum, { resource, count }) => sum + count * partOfDevice(resource, node), 0);
}

/** The part of a physical device that one unit of a resource is on a node; NaN if it is unknown. */
export function partOfDevice(resource: string, { resources, devices, dra }: LiveNode): number {
  const counts = resources.find((one) => one.resource === resource);
  if (counts === undefined && dra.some(({ driver }) => driver === resource)) return 1;
  const isOnly = resources.length === 1 && counts !== undefined && counts.capacity > 0;
  return counts?.share ?? (isOnly ? devices.total / counts.capacity : Number.NaN);
}

function addClaimed(claimed: readonly DeviceCount[], units: Map<string, number>): number {
  for (const { resource, count } of claimed) units.set(resource, (units.get(resource) ?? 0) + count);
  return claimed.reduce((sum, { count }) => sum + count, 0);
}

/** Adds the part of the node's price that belongs to some of its devices. */
function addPart(use: Use, node: LiveNode, held: number): void {
  const { min, max } = partOfPrice(node, held);
  use.min += min;
  use.max += max;
}

/** The part of a node's price that belongs to some of its devices; NaN if it is unknown. */
export function partOfPrice({ cost, devices }: LiveNode, held: number): MoneyRange {
  const part = devices.total === 0 ? 0 : Math.min(1, held / devices.total);
  return { min: (cost.hourly?.min ?? Number.NaN) * part, max: (cost.hourly?.max ?? Number.NaN) * part };
}
