import { plural } from '../../cost/money.ts';
import { leakWords } from '../../features/cluster/cluster-rows.ts';
import { poolCells } from '../../features/cluster/cluster-text.ts';
import { sortedPools } from '../../features/cluster/cluster-tree.ts';
import { ageWords, coverageWords, devicesWords, listed } from '../../features/cluster/cluster-words.ts';
import { headWords, idleCells, idleHeads, usageProblem } from '../../features/cluster/device-usage-words.ts';
import { pendingGroups } from '../../features/cluster/pending-rows.ts';
import type { ClusterView } from '../../fleet/cluster-view.ts';
import { printable, type Style } from '../terminal.ts';

/** The pools, the pods that wait and what is wrong, as aligned columns. @param now milliseconds since the epoch */
export function* renderCluster(view: ClusterView, now: number, style: Style): Generator<string> {
  const { context, serverVersion, totals, pools, pending, problems, leaked, coverage, idlePods } = view;
  const version = serverVersion === null ? '' : ` (${printable(serverVersion)})`;
  yield `${style.bold(`${printable(context)}${version}: ${headWords(view)}`)}\n`;
  if (pools.length > 0) {
    yield '\n';
    const rows = sortedPools(pools, 'free').map(poolCells);
    yield* columns([['Pool', 'GPU', 'Nodes', 'GPUs', 'Used', 'Free', '$/h', 'Idle $/h'], ...rows], style);
  } else yield 'No node has a GPU or another accelerator.\n';
  if (pending.length > 0) {
    yield `\n${style.bold(plural(pending.length, 'pending pod'))}\n`;
    yield* pendingTable(pendingGroups(pending), now, style);
  }
  if (idlePods.length > 0 && view.usage !== null) {
    yield `\n${style.bold(`${plural(idlePods.length, 'idle pod')}, measured for ${view.usage.hours} h`)}\n`;
    yield* columns([idleHeads, ...idlePods.map(idleCells)], style);
  }
  const notes = [
    ...problems.map(({ node, message }) => `${node}: ${message}`),
    ...leaked.map((claim) => `${claim.namespace}/${claim.name} ${leakWords(claim)}`),
    ...unreadWords(coverage),
    ...usageProblem(view),
  ];
  if (notes.length > 0) yield `\n${notes.map((note) => `${style.yellow(printable(note))}\n`).join('')}`;
  const { basis } = totals.cost;
  if (basis.length > 0) yield `\n${style.dim(`Prices: ${printable(listed(basis))}`)}\n`;
}

/** The sentences are below their row: a column for them would be wider than most terminals. */
function* pendingTable(groups: ReturnType<typeof pendingGroups>, now: number, style: Style): Generator<string> {
  const cells = groups.map(({ pod: { namespace, name, devices, created }, count }) => [
    `${namespace}/${name}${count === 1 ? '' : ` and ${count - 1} more`}`,
    `${devicesWords(devices)}${count === 1 ? '' : ' each'}`,
    created === null ? '' : ageWords(created, now),
  ]);
  const [head = '', ...rows] = columns([['Pod', 'Requests', 'Since'], ...cells], style);
  yield head;
  for (const [index, { pod }] of groups.entries()) {
    yield rows[index] ?? '';
    yield `  ${printable(pod.reason)}\n`;
    if (pod.wayOut !== null) yield `  ${style.dim('To run:')} ${printable(pod.wayOut)}\n`;
  }
}

/** One line for all that may not be read. */
function unreadWords(coverage: ClusterView['coverage']): readonly string[] {
  const forbidden = coverage.flatMap(({ resource, state }) => (state === 'forbidden' ? resource : []));
  const others = coverage.flatMap((one) => (one.state === 'forbidden' ? [] : (coverageWords(one) ?? [])));
  return [
    ...others,
    ...(forbidden.length === 0
      ? []
      : [`No permission to read: ${forbidden.join(', ')}; docs/cluster.md has the ClusterRole`]),
  ];
}

function* columns([head = [], ...rows]: readonly (readonly string[])[], style: Style): Generator<string> {
  const printed = rows.map((row) => row.map(printable));
  const widths = head.map((title, column) =>
    printed.reduce((widest, row) => Math.max(widest, (row[column] ?? '').length), title.length),
  );
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  yield `${style.dim(line(head))}\n`;
  for (const row of printed) yield `${line(row)}\n`;
}
