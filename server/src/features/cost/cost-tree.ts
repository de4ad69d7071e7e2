import { formatCount, formatHourly, formatMonthly, plural, spokenHourly } from '../../cost/money.ts';
import { spreadWords } from '../../cost/possible-cost-words.ts';
import type { CostRow } from './cost-rows.ts';
import { type CostTotal, totalOf } from './cost-totals.ts';

/** A row with the path of its file, as users see it. */
export interface TreeRow {
  readonly row: CostRow;
  readonly path: string;
}

/** A group, or a workload. Texts are plain. */
export interface TreeNode<T> {
  /** Stays the same while amounts change. */
  readonly id: string;
  readonly label: string;
  readonly description: string;
  readonly tooltip: string;
  /** The text for screen readers. */
  readonly spoken: string;
  /** The name of a theme icon. */
  readonly icon: string;
  readonly children?: readonly TreeNode<T>[];
  readonly leaf?: T;
}

export type TreeSort = 'cost' | 'name' | 'idle';
export type TreeGroup = 'none' | 'namespace' | 'team' | 'gpu' | 'file';

/** The rows as a tree. The sum of a group is the sum of its leaves. Takes n log n time. */
export function costTree<T extends TreeRow>(
  rows: readonly T[],
  sort: TreeSort,
  group: TreeGroup,
): readonly TreeNode<T>[] {
  const leaves = sorted(rows, (one) => ({ ...one.row, text: labelOf(one.row) }), sort);
  if (group === 'none') return withUniqueIds(leaves.map(leafNode));
  const groups = new Map<string, T[]>();
  for (const one of leaves) {
    const key = groupOf(one, group);
    const known = groups.get(key);
    if (known === undefined) groups.set(key, [one]);
    else known.push(one);
  }
  const totals = [...groups].map(([key, all]) => ({ key, all, total: totalOf(all.map(({ row }) => row)) }));
  return sorted(totals, ({ key, total }) => ({ ...total, text: key }), sort).map((one) => groupNode(one, group));
}

/** The totals in a sentence: `2 workloads, 4 GPUs: $27.52/h ($20,090/month), $13.76/h idle`. */
export function totalWords({ workloads, unpriced, ranged, gpus, hourly, idleHourly }: CostTotal): string {
  const idle = idleHourly === 0 ? '' : `, ${formatHourly(idleHourly)} idle`;
  const open =
    ranged.workloads === 0 ? '' : `; ${spreadWords(ranged.hourly)} for ${ranged.workloads} of unknown GPU model`;
  const left = unpriced - ranged.workloads;
  const missing = `${open}${left === 0 ? '' : `; ${left} without a price`}`;
  const amount = unpriced === workloads ? 'no price' : `${formatHourly(hourly)} (${formatMonthly(hourly)})${idle}`;
  return `${plural(workloads, 'workload')}, ${plural(gpus, 'GPU')}: ${amount}${unpriced === workloads ? open : missing}`;
}

interface Sortable {
  readonly text: string;
  readonly hourly: { readonly max: number } | null;
  readonly idleHourly: number | null;
}

function sorted<T>(all: readonly T[], sortable: (one: T) => Sortable, sort: TreeSort): readonly T[] {
  const keyed = all.map((one) => ({ one, key: sortable(one) }));
  const amountOf = ({ hourly, idleHourly }: Sortable) => (sort === 'idle' ? idleHourly : (hourly?.max ?? null)) ?? -1;
  keyed.sort(({ key: a }, { key: b }) => {
    const difference = sort === 'name' ? 0 : amountOf(b) - amountOf(a);
    return difference || (a.text < b.text ? -1 : a.text > b.text ? 1 : 0);
  });
  return keyed.map(({ one }) => one);
}

function leafNode<T extends TreeRow>(one: T): TreeNode<T> {
  const { row, path } = one;
  const { hourly, range, idleHourly, problem, accelerators, namespace, team, release, providers } = row;
  const label = labelOf(row);
  const amount = hourly !== null ? formatHourly(hourly) : range === null ? 'no price' : spreadWords(range);
  const idle = idleHourly === null || idleHourly === 0 ? [] : [`${formatHourly(idleHourly)} idle`];
  return {
    id: JSON.stringify([path, row.kind, namespace, row.name]),
    label,
    description: [amount, ...idle, path].join(' · '),
    tooltip: [
      label,
      accelerators,
      problem ?? [amount, ...idle, ...providers].join(' · '),
      ...(namespace === null ? [] : [`Namespace ${namespace}`]),
      ...(team === null ? [] : [`Team ${team}`]),
      ...(release === null ? [] : [`One release with ${release}`]),
      path,
    ].join('\n'),
    spoken: [
      label,
      accelerators,
      hourly === null ? `no price: ${problem ?? ''}` : spokenHourly(hourly),
      ...(idle.length === 0 || idleHourly === null ? [] : [`${spokenHourly(idleHourly)} idle`]),
      path,
    ].join(', '),
    icon: hourly === null ? 'question' : row.role === 'serving' ? 'server-process' : 'server',
    leaf: one,
  };
}

function groupNode<T extends TreeRow>(
  { key, all, total }: { readonly key: string; readonly all: readonly T[]; readonly total: CostTotal },
  group: TreeGroup,
): TreeNode<T> {
  const { workloads, unpriced, gpus, hourly, idleHourly } = total;
  const isPriced = unpriced < workloads;
  const amount = isPriced ? `${unpriced > 0 ? '≥ ' : ''}${formatHourly(hourly)}` : 'no price';
  const idle = idleHourly === 0 ? [] : [`${formatHourly(idleHourly)} idle`];
  const spoken = isPriced ? `${unpriced > 0 ? 'at least ' : ''}${spokenHourly(hourly)}` : 'no price';
  return {
    id: `${group} ${key}`,
    label: key,
    description: [amount, ...idle, plural(workloads, 'workload')].join(' · '),
    tooltip: `${key}\n${totalWords(total)}`,
    spoken: `${key}, ${plural(workloads, 'workload')}, ${formatCount(gpus)} GPUs, ${spoken}`,
    icon: groupIcons[group],
    children: withUniqueIds(all.map(leafNode)),
  };
}

const groupIcons = {
  none: 'server',
  namespace: 'symbol-namespace',
  team: 'organization',
  gpu: 'circuit-board',
  file: 'file',
} as const satisfies Record<TreeGroup, string>;

function groupOf({ row, path }: TreeRow, group: TreeGroup): string {
  if (group === 'file') return path;
  if (group === 'namespace') return row.namespace ?? 'No namespace';
  if (group === 'team') return row.team ?? 'No team';
  return row.cards.length === 0 ? 'GPU model unknown' : row.cards.join(' + ');
}

/** `Deployment/chat`, `Pod`. */
function labelOf({ kind, name }: CostRow): string {
  return name === null ? kind : `${kind}/${name}`;
}

/** Objects of one file can have the same name. */
function withUniqueIds<T>(nodes: readonly TreeNode<T>[]): readonly TreeNode<T>[] {
  const uses = new Map<string, number>();
  return nodes.map((node) => {
    const use = (uses.get(node.id) ?? 0) + 1;
    uses.set(node.id, use);
    return use === 1 ? node : { ...node, id: `${node.id} ${use}` };
  });
}
