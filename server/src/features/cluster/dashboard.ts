import { formatAmount, plural } from '../../cost/money.ts';
import type { ClusterView, LivePool, MoneyRange } from '../../fleet/cluster-view.ts';
import { figure, rect, svg } from '../cost-report/charts.ts';
import { escapeHtml, isolated } from '../cost-report/html-text.ts';
import { pageStyle } from '../cost-report/page-style.ts';
import { leakWords, pendingGroups } from './cluster-rows.ts';
import { poolCells } from './cluster-text.ts';
import { sortedPools } from './cluster-tree.ts';
import {
  ageWords,
  coverageWords,
  deviceNumber,
  devicesWords,
  ownerName,
  sentence,
  stateWords,
} from './cluster-words.ts';
import { dashboardScript, dashboardStyle } from './dashboard-parts.ts';
import type { DrawnCluster } from './drawn-cluster.ts';
import { type NamespaceUse, namespaceUse } from './namespace-use.ts';
import { fitWords } from './row-details.ts';

/** More rows than these are counted only: nobody reads them, and each has a price. */
const mostRows = 500;

/**
 * One self-contained HTML document with the state of a cluster. It loads nothing, and all texts of the cluster are escaped.
 * @param nonce a random text without characters of HTML: only the style and the script that carry it apply
 */
export function dashboardPage(cluster: DrawnCluster, nonce: string): string {
  const { view, now } = cluster;
  const pools = sortedPools(view.pools, 'free');
  const uses = namespaceUse(cluster);
  const policy = `default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'; base-uri 'none'; form-action 'none'`;
  return [
    `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(`GPU cluster ${view.context}`)}</title>
<style nonce="${nonce}">${pageStyle}${dashboardStyle}</style>
</head>
<body>
<header><h1>GPU cluster ${isolated(view.context)}</h1><p class="actions"><button type="button" data-action="refresh">Refresh</button>
<button type="button" data-action="markdown">Copy as Markdown</button><button type="button" data-action="json">Copy as JSON</button></p></header>
<main>`,
    stateNote(view, now),
    totals(view),
    notes(view),
    `<section class="charts" aria-label="Charts">
${poolChart(pools)}
${idleChart(pools)}
${namespaceChart('GPUs by namespace', 'GPUs', uses, ({ devices }) => devices, deviceNumber)}
${namespaceChart(
  'Cost by namespace',
  '$/h',
  uses,
  ({ hourly }) => hourly?.max ?? 0,
  (_, { hourly }) => amountOf(hourly),
)}
${namespaceChart('GPU-hours by namespace', 'so far, of the pods that hold GPUs now', uses, ({ hours }) => hours, deviceNumber)}
</section>`,
    waitingSection(view, now),
    problemSection(view),
    poolTable(pools),
    ownerTable(view),
    `</main>
<script nonce="${nonce}">${dashboardScript}</script>
</body>
</html>
`,
  ]
    .filter((part) => part !== '')
    .join('\n');
}

function stateNote({ state, asOf }: ClusterView, now: number): string {
  const time = `<time datetime="${new Date(asOf).toISOString()}">${new Date(asOf).toISOString().slice(0, 19).replace('T', ' ')} UTC</time>`;
  if (state.kind === 'current') return `<p class="notes">As of ${time}.</p>`;
  const message = 'message' in state ? `${isolated(state.message)}. ` : '';
  return `<p class="alert" role="status">${message}The figures are as of ${time}, ${ageWords(asOf, now)} ago.</p>`;
}

function totals({ totals: { nodes, devices, cost }, pending }: ClusterView): string {
  const unavailable = devices.unavailable === 0 ? '' : `${deviceNumber(devices.unavailable)} unavailable`;
  const unpriced = cost.unpricedNodes === 0 ? '' : `${plural(cost.unpricedNodes, 'node')} without a price`;
  const figures = [
    ['GPUs', deviceNumber(devices.total), unavailable],
    ['Free', deviceNumber(devices.free), ''],
    ['Nodes', String(nodes), ''],
    ['Per hour', amountOf(cost.hourly), unpriced],
    ['Idle per hour', amountOf(cost.idle), ''],
    ['Pending pods', String(pending.length), ''],
  ];
  return `<dl class="totals">${figures
    .map(
      ([name, value, note]) =>
        `<div><dt>${name}</dt><dd>${value}${note === '' ? '' : ` <small>${note}</small>`}</dd></div>`,
    )
    .join('')}</dl>`;
}

function notes({ totals: { cost } }: ClusterView): string {
  const sentences = [
    cost.basis.length === 0 ? '' : `Prices: ${cost.basis.slice(0, 3).map(isolated).join('; ')}.`,
    cost.because.length === 0 ? '' : `Prices unknown: ${cost.because.slice(0, 3).map(isolated).join('; ')}.`,
    'Idle: nodes and their parts whose GPUs no pod requests.',
  ];
  return `<p class="notes">${sentences.filter((one) => one !== '').join(' ')}</p>`;
}

/** Used, unavailable and free devices of each pool, at one scale. */
function poolChart(pools: readonly LivePool[]): string {
  const shown = pools.filter(({ devices }) => devices.total > 0).slice(0, 12);
  const scale = Math.max(...shown.map(({ devices }) => devices.total), 1);
  const bars = shown.map(({ name, devices }) => {
    const width = (count: number) => (100 * count) / scale;
    const used = width(devices.used);
    const out = width(devices.unavailable);
    const drawing = svg(
      `${rect('used', 0, used)}${rect('out', used, out)}${rect('free', used + out, width(devices.free))}`,
      'bar',
    );
    return entry(name, `${deviceNumber(devices.free)} of ${deviceNumber(devices.total)}`, drawing);
  });
  return bars.length === 0 ? '' : figure('Free GPUs by pool', 'free of all', bars.join('\n'), legend);
}

const legend = `<p class="legend">${[
  ['used', 'used'],
  ['out', 'unavailable'],
  ['free', 'free'],
]
  .map(
    ([mark, name]) =>
      `<svg class="key" viewBox="0 0 10 10" aria-hidden="true"><rect class="${mark}" width="10" height="10"/></svg> ${name}`,
  )
  .join(' ')}</p>`;

function idleChart(pools: readonly LivePool[]): string {
  const shown = sortedPools(pools, 'idle')
    .filter(({ cost }) => (cost.idle?.max ?? 0) > 0)
    .slice(0, 12);
  const scale = Math.max(...shown.map(({ cost }) => cost.idle?.max ?? 0), 0.01);
  const bars = shown.map(({ name, cost }) =>
    entry(name, amountOf(cost.idle), svg(rect('idle', 0, (100 * (cost.idle?.max ?? 0)) / scale), 'bar')),
  );
  return bars.length === 0 ? '' : figure('Idle cost by pool', '$/h', bars.join('\n'));
}

function namespaceChart(
  title: string,
  unit: string,
  uses: readonly NamespaceUse[],
  amountIn: (use: NamespaceUse) => number,
  words: (value: number, use: NamespaceUse) => string,
): string {
  const shown = [...uses].sort((a, b) => amountIn(b) - amountIn(a)).filter((use) => amountIn(use) > 0);
  const scale = Math.max(...shown.map(amountIn), 0.01);
  const bars = shown
    .slice(0, 12)
    .map((use) =>
      entry(use.namespace, words(amountIn(use), use), svg(rect('used', 0, (100 * amountIn(use)) / scale), 'bar')),
    );
  const others = shown.length > 12 ? `\n<li><span class="name">and ${shown.length - 12} more</span></li>` : '';
  return bars.length === 0 ? '' : figure(title, unit, `${bars.join('\n')}${others}`);
}

function entry(name: string, amount: string, drawing: string): string {
  return `<li><span class="name">${isolated(name)}</span><span class="amount">${amount}</span>${drawing}</li>`;
}

function waitingSection({ pending }: ClusterView, now: number): string {
  const groups = pendingGroups(pending);
  const rows = groups.slice(0, mostRows).map(({ pod, count }) => {
    const { namespace, name, owner, devices, created, reason, wayOut, words } = pod;
    const ownedBy = owner === null ? undefined : ownerName(owner);
    const why = [
      isolated(reason),
      ...(wayOut === null ? [] : [`<span class="way">${isolated(sentence(wayOut))}</span>`]),
      ...(words === null ? [] : [`<details><summary>Scheduler</summary>${isolated(words)}</details>`]),
    ];
    return [
      count > 1 ? head(ownedBy ?? name, undefined) : head(name, ownedBy),
      cell(isolated(namespace)),
      cell(String(count), 'number'),
      cell(escapeHtml(devicesWords(devices))),
      cell(created === null ? '' : ageWords(created, now), 'number', created === null ? '' : String(now - created)),
      cell(why.join(' '), 'wide'),
    ];
  });
  const heads = ['Workload', 'Namespace', '#Pods', 'Each requests', '#Age', 'Why'];
  return section('Pending pods', 'pending', heads, rows, groups.length);
}

function problemSection({ problems, leaked, coverage }: ClusterView): string {
  const items = [
    ...problems.map(({ node, pool, message }) => `${isolated(node)} (${isolated(pool)}): ${isolated(message)}`),
    ...leaked.map((claim) => `${isolated(`${claim.namespace}/${claim.name}`)}: ${isolated(leakWords(claim))}`),
    ...coverage.flatMap((one) => {
      const words = coverageWords(one);
      return words === undefined ? [] : isolated(words);
    }),
  ];
  if (items.length === 0) return '';
  const more = items.length > mostRows ? `<li>and ${items.length - mostRows} more</li>` : '';
  return `<section aria-labelledby="problems"><h2 id="problems">Problems</h2>
<ul class="problems" role="list">${items
    .slice(0, mostRows)
    .map((item) => `<li>${item}</li>`)
    .join('\n')}${more}</ul></section>`;
}

function poolTable(pools: readonly LivePool[]): string {
  const rows = pools.slice(0, mostRows).map((pool) => {
    const [name = '', gpu = '', ...numbers] = poolCells(pool);
    const state = stateWords(pool).join(', ');
    const fits = pool.largestFit === null ? '' : fitWords(pool.largestFit).replace('Largest pod that fits now: ', '');
    return [
      head(name, state),
      cell(isolated(gpu)),
      ...numbers.map((value) => cell(escapeHtml(value), 'number')),
      cell(escapeHtml(fits)),
    ];
  });
  const heads = ['Pool', 'GPU', '#Nodes', '#GPUs', '#Used', '#Free', '#$/h', '#Idle $/h', 'Largest pod that fits'];
  return section('Pools', 'pools', heads, rows, pools.length);
}

function ownerTable({ owners }: ClusterView): string {
  const rows = [...owners]
    .sort((a, b) => (b.deviceSum ?? 0) - (a.deviceSum ?? 0))
    .slice(0, mostRows)
    .map(({ owner, namespace, devices, deviceSum, pods, pending, hourly }) => [
      head(ownerName(owner), undefined),
      cell(isolated(namespace)),
      cell(escapeHtml(devicesWords(devices))),
      cell(deviceSum === null ? '' : deviceNumber(deviceSum), 'number'),
      cell(String(pods), 'number'),
      cell(pending === 0 ? '' : String(pending), 'number'),
      cell(hourly === null ? '' : formatAmount(hourly), 'number'),
    ]);
  const heads = ['Workload', 'Namespace', 'Holds', '#GPUs', '#Pods', '#Pending', '#$/h'];
  return section('Workloads', 'workloads', heads, rows, owners.length);
}

/** A table with its heading; the head of a column of numbers starts with #. Empty without rows. */
function section(
  title: string,
  id: string,
  heads: readonly string[],
  rows: readonly (readonly string[])[],
  count: number,
): string {
  if (rows.length === 0) return '';
  const columns = heads.map((name) =>
    name.startsWith('#')
      ? `<th scope="col" class="number" data-number>${name.slice(1)}</th>`
      : `<th scope="col">${name}</th>`,
  );
  const more = count > rows.length ? `<p class="notes">and ${count - rows.length} more</p>` : '';
  return `<section aria-labelledby="${id}"><div class="above"><h2 id="${id}">${title}</h2>
<label class="filter" hidden>Filter <input type="search" data-filter="${id}"></label></div>
<div class="scroll"><table data-table="${id}"><thead><tr>${columns.join('')}</tr></thead>
<tbody>
${rows.map((cells) => `<tr>${cells.join('')}</tr>`).join('\n')}
</tbody></table></div>${more}</section>`;
}

function head(name: string, note: string | undefined): string {
  const small = note === undefined || note === '' ? '' : ` <small class="file">${isolated(note)}</small>`;
  return `<th scope="row">${isolated(name)}${small}</th>`;
}

/** @param key what the column is sorted by, if not its text */
function cell(html: string, kind = '', key = ''): string {
  return `<td${kind === '' ? '' : ` class="${kind}"`}${key === '' ? '' : ` data-key="${key}"`}>${html}</td>`;
}

function amountOf(amount: MoneyRange | null): string {
  return amount === null ? 'unknown' : formatAmount(amount);
}
