import { plural } from '../../cost/money.ts';
import type { ClusterView, LivePool } from '../../fleet/cluster-view.ts';
import { nodeRow, ownerRow, podRow, poolRow, problemRows, rangeRow } from './cluster-rows.ts';
import { gpusWords } from './cluster-words.ts';
import type { ClusterDrawing, ClusterNode, PoolSort, TreeOrder } from './drawn.ts';
import type { DrawnCluster } from './drawn-cluster.ts';
import { pendingRows, reasonRows } from './pending-rows.ts';
import { filterOf, type RowFilter } from './row-filter.ts';
import { idOf, pathOf } from './row-id.ts';

/** An editor draws so many rows at once; more nodes are in groups. */
const mostNodes = 200;
const groupSize = 100;

/**
 * The rows below a row, or the first level: pending pods, pools, workloads, problems. Rows of a filtered tree have their own ids, so that an editor
 * opens them.
 * @returns nothing for a row that is gone
 */
export function clusterTree(
  cluster: DrawnCluster,
  { parent, ...order }: Extract<ClusterDrawing, { readonly kind: 'tree' }>,
): readonly ClusterNode[] {
  const filter = filterOf(order.filter);
  const rows = rowsBelow(cluster, pathOf(parent), order, filter);
  if (filter === undefined) return rows;
  return rows.map((row) => ({
    ...row,
    id: idOf([...pathOf(row.id), order.filter]),
    children: row.children && 'expanded',
  }));
}

function rowsBelow(
  cluster: DrawnCluster,
  [kind, ...path]: readonly string[],
  order: TreeOrder,
  filter: RowFilter | undefined,
): readonly ClusterNode[] {
  const { view, now } = cluster;
  const [first = '', second = '', third = ''] = path;
  switch (kind) {
    case undefined:
      return roots(cluster, order, filter);
    case 'pending':
      return filtered(pendingRows(view.pending, now), filter);
    case 'waiting':
      return reasonRows(view.pending, first, second);
    case 'problems':
      return filtered(problemRows(view), filter);
    case 'owners':
      return owners(view, filter);
    case 'owner':
      return podsOf(cluster, first, second, third);
    case 'pool':
    case 'nodes': {
      const pool = view.pools.find(({ id }) => id === first);
      return pool === undefined ? [] : nodesIn(cluster, pool, order, filter, kind === 'nodes' ? Number(second) : null);
    }
    case 'node': {
      const pool = view.pools.find(({ id }) => id === first);
      const node = pool && cluster.nodesOf(pool.id).find(({ name }) => name === second);
      if (pool === undefined || node === undefined) return [];
      const pods = filter === undefined ? node.pods : node.pods.filter((pod) => filter.pod(pool, node, pod));
      return byName(pods).map((pod) => podRow(pod, ['pod', pool.id, node.name], now));
    }
    default:
      return [];
  }
}

function roots(
  { view, nodesOf, now }: DrawnCluster,
  { sort }: TreeOrder,
  filter: RowFilter | undefined,
): readonly ClusterNode[] {
  const pools = filter === undefined ? view.pools : view.pools.filter((pool) => filter.pool(pool, nodesOf(pool.id)));
  const waiting = view.pending.reduce(
    (sum, { devices }) => sum + devices.reduce((all, { count }) => all + count, 0),
    0,
  );
  const pending = `${plural(view.pending.length, 'pod')} · ${gpusWords(waiting)}`;
  return [
    ...group('pending', 'Pending', 'clock', filtered(pendingRows(view.pending, now), filter), pending),
    ...sortedPools(pools, sort).map(poolRow),
    ...group('owners', 'Workloads', 'organization', owners(view, filter)),
    ...group('problems', 'Problems', 'warning', filtered(problemRows(view), filter)),
  ];
}

function owners(view: ClusterView, filter: RowFilter | undefined): readonly ClusterNode[] {
  const sorted = [...view.owners].sort(
    (a, b) => (b.deviceSum ?? 0) - (a.deviceSum ?? 0) || compare(a.owner.name, b.owner.name),
  );
  return filtered(sorted.map(ownerRow), filter);
}

function filtered(rows: readonly ClusterNode[], filter: RowFilter | undefined): readonly ClusterNode[] {
  return filter === undefined ? rows : rows.filter(filter.row);
}

/** The most free or idle pools first. */
export function sortedPools(pools: readonly LivePool[], sort: PoolSort): readonly LivePool[] {
  return [...pools].sort((a, b) => amountOf(b, sort) - amountOf(a, sort) || compare(a.name, b.name));
}

function amountOf({ devices, cost }: Pick<LivePool, 'devices' | 'cost'>, sort: PoolSort): number {
  if (sort === 'name') return 0;
  return sort === 'free' ? (devices.free ?? 0) : (cost.idle?.max ?? -1);
}

/** @param from the first node of a group; null for the whole pool */
function nodesIn(
  { nodesOf, now }: DrawnCluster,
  pool: LivePool,
  { sort }: TreeOrder,
  filter: RowFilter | undefined,
  from: number | null,
): readonly ClusterNode[] {
  const all = nodesOf(pool.id);
  const shown = filter === undefined ? all : all.filter((node) => filter.node(pool, node));
  // Nodes of one pool cost the same, so those with most free devices are those that cost most for nothing.
  const sorted = sort === 'name' ? shown : [...shown].sort((a, b) => amountOf(b, 'free') - amountOf(a, 'free'));
  if (from !== null) return sorted.slice(from, from + groupSize).map((node) => nodeRow(pool, node, now));
  if (sorted.length <= mostNodes) return sorted.map((node) => nodeRow(pool, node, now));
  return Array.from({ length: Math.ceil(sorted.length / groupSize) }, (_, index) =>
    rangeRow(pool, index * groupSize, sorted.slice(index * groupSize, (index + 1) * groupSize)),
  );
}

/** The pods of one workload, wherever they run. */
function podsOf(
  { view, nodesOf, now }: DrawnCluster,
  namespace: string,
  kind: string,
  name: string,
): readonly ClusterNode[] {
  const use = view.owners.find(
    (one) => one.namespace === namespace && one.owner.kind === kind && one.owner.name === name,
  );
  return (use?.pools ?? []).flatMap((pool) =>
    nodesOf(pool).flatMap((node) =>
      byName(node.pods)
        .filter((pod) => {
          const owner = pod.owner ?? { kind: 'Pod', name: pod.name };
          return pod.namespace === namespace && owner.kind === kind && owner.name === name;
        })
        .map((pod) => podRow(pod, ['owned', pool, node.name], now, node.name)),
    ),
  );
}

/** One row above others; none without them. */
function group(
  path: string,
  label: string,
  icon: string,
  rows: readonly ClusterNode[],
  description = String(rows.length),
): readonly ClusterNode[] {
  if (rows.length === 0) return [];
  return [
    {
      id: idOf([path]),
      kind: 'group',
      label,
      description,
      tooltip: `${label}: ${description}`,
      spoken: `${label}, ${description}`,
      icon,
      color: path === 'owners' ? null : 'list.warningForeground',
      children: 'collapsed',
      name: label,
      pool: null,
      owner: null,
    },
  ];
}

function byName<T extends { readonly name: string }>(all: readonly T[]): readonly T[] {
  return [...all].sort((a, b) => compare(a.name, b.name));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
