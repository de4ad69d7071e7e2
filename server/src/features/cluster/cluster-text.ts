import { plural } from '../../cost/money.ts';
import type { ClusterView, LivePool } from '../../fleet/cluster-view.ts';
import { poolSelector, tolerationsOf } from '../../fleet/pool-selector.ts';
import { appendEntries, type PlainValue } from '../../yaml/edit.ts';
import { applyEdits } from '../../yaml/span.ts';
import { tableOf } from '../../yaml/table.ts';
import { plainMarkdown } from '../hover/render.ts';
import { sortedPools } from './cluster-tree.ts';
import { costWords, deviceNumber, devicesWords, text } from './cluster-words.ts';
import { headWords } from './device-usage-words.ts';
import type { DrawnCluster } from './drawn-cluster.ts';

/** The pools and the pending pods as tables of GitHub Flavored Markdown. */
export function clusterMarkdown(view: ClusterView): string {
  const { context, pools, pending, asOf } = view;
  const head = ['Pool', 'GPU', 'Nodes', 'GPUs', 'Used', 'Free', '$/h', 'Idle $/h'];
  const rows = sortedPools(pools, 'free').map((pool) => row(poolCells(pool)));
  const waiting = pending.map(({ namespace, name, devices, reason }) =>
    row([name, namespace, devicesWords(devices), reason]),
  );
  return [
    `### GPU cluster ${plainMarkdown(context)}: ${plainMarkdown(headWords(view))}\n\n`,
    `As of ${new Date(asOf).toISOString().replace(/\.\d+Z$/, 'Z')}.\n`,
    ...(rows.length === 0
      ? []
      : ['\n', row(head), '| :--- | :--- | ---: | ---: | ---: | ---: | ---: | ---: |\n', ...rows]),
    ...(waiting.length === 0
      ? []
      : [
          `\n${plural(waiting.length, 'pending pod')}:\n\n`,
          row(['Pod', 'Namespace', 'Requests', 'Why']),
          '| :--- | :--- | :--- | :--- |\n',
          ...waiting,
        ]),
  ].join('');
}

/** What a table says of a pool: name, GPU, nodes, devices, used, free, price and idle price per hour. */
export function poolCells({ name, model, nodes, devices, cost }: LivePool): readonly string[] {
  const amount = (range: typeof cost.hourly) =>
    range === null ? '' : (costWords(range, cost) ?? '').replace('/h', '');
  return [
    name,
    model?.name ?? 'unknown',
    String(nodes),
    ...[devices.total, devices.used, devices.free].map(deviceNumber),
    amount(cost.hourly),
    amount(cost.idle),
  ];
}

/** The view with the nodes of each pool, as JSON. */
export function clusterJson({ view, nodesOf }: DrawnCluster): string {
  const pools = view.pools.map((pool) => ({ ...pool, nodeList: nodesOf(pool.id) }));
  return `${JSON.stringify({ ...view, pools }, null, 2)}\n`;
}

/** The selector and the tolerations for a pool, as they are in the spec of a pod; empty if the pool is gone. */
export function poolYaml(view: ClusterView, id: string): string {
  const pool = view.pools.find((one) => one.id === id);
  if (pool === undefined) return '';
  const selector = poolSelector(pool);
  const tolerations: readonly PlainValue[] = tolerationsOf(pool.taints).map((one) => ({ ...one }));
  const entries: readonly (readonly [string, PlainValue])[] = [
    ...(selector.length === 0
      ? []
      : [['nodeSelector', tableOf(selector.map(({ key, value }) => [key, value]))] as const]),
    ...(tolerations.length === 0 ? [] : [['tolerations', tolerations] as const]),
  ];
  const none = tolerations.length === 0 ? '# Its nodes have no taints.\n' : '';
  const named = `# The pool ${text(pool.name)} of ${text(view.context)}: for the spec of a pod.\n${none}`;
  return applyEdits(named, appendEntries(named, entries));
}

function row(cells: readonly string[]): string {
  return `| ${cells.map(plainMarkdown).join(' | ')} |\n`;
}
