import { plural } from '../../cost/money.ts';
import { leakWords } from '../../features/cluster/cluster-rows.ts';
import { poolCells } from '../../features/cluster/cluster-text.ts';
import { sortedPools } from '../../features/cluster/cluster-tree.ts';
import { ageWords, coverageWords, devicesWords, listed, totalsWords } from '../../features/cluster/cluster-words.ts';
import type { ClusterView, PendingPod } from '../../fleet/cluster-view.ts';
import { printable, type Style } from '../terminal.ts';

/** The pools, the pods that wait and what is wrong, as aligned columns. @param now milliseconds since the epoch */
export function* renderCluster(view: ClusterView, now: number, style: Style): Generator<string> {
  const { context, serverVersion, totals, pools, pending, problems, leaked, coverage } = view;
  const version = serverVersion === null ? '' : ` (${printable(serverVersion)})`;
  yield `${style.bold(`${printable(context)}${version}: ${totalsWords(totals)}`)}\n`;
  if (pools.length > 0) {
    yield '\n';
    const rows = sortedPools(pools, 'free').map(poolCells);
    yield* columns([['Pool', 'GPU', 'Nodes', 'GPUs', 'Used', 'Free', '$/h', 'Idle $/h'], ...rows], style);
  } else yield 'No node has a GPU.\n';
  if (pending.length > 0) {
    yield `\n${style.bold(plural(pending.length, 'pending pod'))}\n`;
    yield* columns(
      [['Pod', 'Requests', 'Since', 'Why', 'Way out'], ...pending.map((pod) => pendingCells(pod, now))],
      style,
    );
  }
  const notes = [
    ...problems.map(({ node, message }) => `${node}: ${message}`),
    ...leaked.map((claim) => `${claim.namespace}/${claim.name} ${leakWords(claim)}`),
    ...coverage.flatMap((one) => coverageWords(one) ?? []),
  ];
  if (notes.length > 0) yield `\n${notes.map((note) => `${style.yellow(printable(note))}\n`).join('')}`;
  const { basis } = totals.cost;
  if (basis.length > 0) yield `\n${style.dim(`Prices: ${printable(listed(basis))}`)}\n`;
}

function pendingCells(
  { namespace, name, devices, created, reason, wayOut }: PendingPod,
  now: number,
): readonly string[] {
  const since = created === null ? '' : ageWords(created, now);
  return [`${namespace}/${name}`, devicesWords(devices), since, reason, wayOut ?? ''];
}

function* columns([head = [], ...rows]: readonly (readonly string[])[], style: Style): Generator<string> {
  const printed = rows.map((row) => row.map(printable));
  const widths = head.map((_, column) => Math.max(...[head, ...printed].map((row) => (row[column] ?? '').length)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  yield `${style.dim(line(head))}\n`;
  for (const row of printed) yield `${line(row)}\n`;
}
