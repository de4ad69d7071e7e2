import { formatHourly, plural, roundedCount, spokenHourly } from '../../cost/money.ts';
import { spreadWords } from '../../cost/possible-cost-words.ts';
import type { Range } from '../../cost/types.ts';
import { shorten } from '../../yaml/shorten.ts';
import { type CostRow, rowAmount } from './cost-rows.ts';
import { type CostTotal, leftOutWords, monthTotal, totalOf } from './cost-totals.ts';

/** A row with the path of its file, as users see it. */
export interface TreeRow {
  readonly row: CostRow;
  readonly path: string;
  /** What the price is based on; undefined without a price. */
  readonly basis?: string | undefined;
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
  if (group === 'none') return withUniqueIds(leaves.map((one) => leafNode(one, group)));
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

/** `2 workloads, 4 GPUs: $27.52/h ($20,090/month), $13.76/h idle`. */
export function totalWords(total: CostTotal): string {
  const { workloads, unpriced, ranged, idleHourly } = total;
  const gpus = { min: roundedCount(total.gpus.min), max: roundedCount(total.gpus.max) };
  const start = `${plural(workloads, 'workload')}, ${plural(gpus, total.device)}`;
  const open =
    ranged.workloads === 0 ? '' : `, ${spreadWords(ranged.hourly)} for ${ranged.workloads} whose GPU model is unknown`;
  if (unpriced === workloads) return `${start}: no price${open}`;
  const idle = idleHourly === 0 ? '' : `, ${formatHourly(idleHourly)} idle`;
  const left = leftOutWords(total, String);
  const missing = `${open}${left === '' ? '' : `, ${left}`}`;
  const month = monthTotal(total);
  return `${start}: ${amountWords(total)}${month === undefined ? '' : ` (${month})`}${idle}${missing}`;
}

/** `$27.52/h`, `≥ $27.52/h` if some workloads have no price; an empty string if none has. */
export function amountWords({ workloads, unpriced, hourly, isOpen }: CostTotal): string {
  if (unpriced === workloads) return '';
  return `${unpriced > 0 || isOpen ? '≥ ' : ''}${formatHourly(isOpen ? hourly.min : hourly)}`;
}

function spokenFrom(hourly: Range, isFloor: boolean): string {
  return isFloor ? `at least ${spokenHourly(hourly)}` : spokenHourly(hourly);
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

function leafNode<T extends TreeRow>(one: T, group: TreeGroup): TreeNode<T> {
  const { row, path, basis } = one;
  const { hourly, isOpen, idleHourly, problem, accelerators, namespace, team, release } = row;
  const label = labelOf(row);
  const amount = rowAmount(row) ?? 'no price';
  const idle = idleHourly === null || idleHourly === 0 ? [] : [`${formatHourly(idleHourly)} idle`];
  return {
    id: JSON.stringify([path, label, shorten(namespace ?? '', maxLabel)]),
    label,
    description: [amount, ...idle, ...(group === 'file' ? [] : [path])].join(' · '),
    tooltip: [
      label,
      accelerators,
      problem ?? [amount, ...idle, ...(basis === undefined ? [] : [basis])].join(' · '),
      ...(namespace === null ? [] : [`Namespace ${shorten(namespace, maxLabel)}`]),
      ...(team === null ? [] : [`Team ${shorten(team, maxLabel)}`]),
      ...(release === null ? [] : [`One release with ${release}`]),
      path,
    ].join('\n'),
    spoken: [
      label,
      accelerators,
      hourly === null ? `no price: ${problem ?? ''}` : spokenFrom(hourly, isOpen),
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
  const { workloads, unpriced, gpus, device, hourly, isOpen, idleHourly } = total;
  const isPriced = unpriced < workloads;
  const idle = idleHourly === 0 ? [] : [`${formatHourly(idleHourly)} idle`];
  const spoken = isPriced ? spokenFrom(hourly, isOpen || unpriced > 0) : 'no price';
  return {
    id: `${group} ${key}`,
    label: key,
    description: [amountWords(total) || 'no price', ...idle, plural(workloads, 'workload')].join(' · '),
    tooltip: `${key}\n${totalWords(total)}`,
    spoken: `${key}, ${plural(workloads, 'workload')}, ${plural(gpus, device)}, ${spoken}`,
    icon: groupIcons[group],
    children: withUniqueIds(all.map((one) => leafNode(one, group))),
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
  if (group === 'namespace') return shorten(row.namespace ?? 'No namespace', maxLabel);
  if (group === 'team') return shorten(row.team ?? 'No team', maxLabel);
  return row.cards.length === 0 ? 'GPU model unknown' : row.cards.join(' + ');
}

/** `Deployment/chat`, `Pod`. Invalid names have any length. */
function labelOf({ kind, name }: CostRow): string {
  return shorten(name === null ? kind : `${kind}/${name}`, maxLabel);
}

/** Valid kinds and names are shorter. */
const maxLabel = 320;

/** Objects of one file can have the same name. */
function withUniqueIds<T>(nodes: readonly TreeNode<T>[]): readonly TreeNode<T>[] {
  const uses = new Map<string, number>();
  return nodes.map((node) => {
    const use = (uses.get(node.id) ?? 0) + 1;
    uses.set(node.id, use);
    return use === 1 ? node : { ...node, id: `${node.id} ${use}` };
  });
}
