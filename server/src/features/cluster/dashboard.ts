import { formatAmount, plural } from '../../cost/money.ts';
import type { ClusterView, LivePool, MoneyRange } from '../../fleet/cluster-view.ts';
import { idleBelow } from '../../fleet/usage.ts';
import { figure, rect, svg } from '../cost-report/charts.ts';
import { escapeHtml, isolated } from '../cost-report/html-text.ts';
import { pageStyle } from '../cost-report/page-style.ts';
import { leakWords } from './cluster-rows.ts';
import { poolCells } from './cluster-text.ts';
import { sortedPools } from './cluster-tree.ts';
import {
  ageWords,
  coverageWords,
  deviceNumber,
  devicesWords,
  gpusWords,
  ownerName,
  sentence,
  stateWords,
} from './cluster-words.ts';
import { dashboardScript, dashboardStyle } from './dashboard-parts.ts';
import { cell, head, mostRows, section } from './dashboard-tables.ts';
import { percent, usageProblem, usageSumWords } from './device-usage-words.ts';
import type { DrawnCluster } from './drawn-cluster.ts';
import { idleSection } from './idle-section.ts';
import { type NamespaceUse, namespaceUse } from './namespace-use.ts';
import { pendingGroups } from './pending-rows.ts';
import { fitWords } from './row-details.ts';

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
${busyChart(pools, view)}
${namespaceChart('GPUs by namespace', 'GPUs', uses, ({ devices }) => devices, deviceNumber)}
${namespaceChart(
  'Cost by namespace',
  '$/h',
  uses,
  ({ hourly }) => hourly?.max ?? 0,
  (_, { hourly }) => amountOf(hourly),
)}
${namespaceChart('GPU-hours by namespace', 'so far, by pods that hold GPUs now', uses, ({ hours }) => hours, deviceNumber)}
</section>`,
    idleSection(view),
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

function totals({ totals: { nodes, devices, cost }, pending, usage }: ClusterView): string {
  const unavailable = devices.unavailable === 0 ? '' : `${deviceNumber(devices.unavailable)} unavailable`;
  const unpriced = cost.unpricedNodes === 0 ? '' : `${plural(cost.unpricedNodes, 'node')} without a price`;
  const figures = [
    ['GPUs', deviceNumber(devices.total), unavailable],
    ['Free', deviceNumber(devices.free), ''],
    ['Nodes', String(nodes), ''],
    ['Per hour', amountOf(cost.hourly), unpriced],
    ['Idle per hour', amountOf(cost.idle), ''],
    ['Pending pods', String(pending.length), ''],
    ...(usage?.state === 'measured'
      ? [
          [
            `Under ${percent(idleBelow)} for ${usage.hours} h`,
            gpusWords(usage.idle.devices),
            [
              plural(usage.idle.pods, 'pod'),
              ...(usage.idle.hourly === null ? [] : [`${formatAmount(usage.idle.hourly)}/h`]),
            ].join(', '),
          ],
        ]
      : []),
  ];
  return `<dl class="totals">${figures
    .map(
      ([name, value, note]) =>
        `<div><dt>${name}</dt><dd>${value}${note === '' ? '' : ` <small>${note}</small>`}</dd></div>`,
    )
    .join('')}</dl>`;
}

function notes({ totals: { cost }, usage }: ClusterView): string {
  const sentences = [
    cost.basis.length === 0 ? '' : `Prices: ${cost.basis.slice(0, 3).map(isolated).join('; ')}.`,
    cost.because.length === 0 ? '' : `Prices unknown: ${cost.because.slice(0, 3).map(isolated).join('; ')}.`,
    'Idle: nodes, or parts of nodes, whose GPUs no pod requests.',
    usage?.state === 'measured'
      ? `GPU usage: ${usage.measured} of ${plural(usage.pods, 'pod')}, measured over ${usage.hours} h by Prometheus at ${isolated(usage.source)}.`
      : '',
  ];
  return `<p class="notes">${sentences.filter((one) => one !== '').join(' ')}</p>`;
}

/** Used, unavailable and free devices of each pool, at one scale. */
function poolChart(pools: readonly LivePool[]): string {
  const shown = pools.filter(({ devices }) => devices.total > 0 && devices.free !== null).slice(0, 12);
  const scale = Math.max(...shown.map(({ devices }) => devices.total), 1);
  const bars = shown.map(({ name, devices }) => {
    const width = (count: number) => (100 * count) / scale;
    const used = width(devices.used ?? 0);
    const out = width(devices.unavailable);
    const drawing = svg(
      `${rect('used', 0, used)}${rect('out', used, out)}${rect('free', used + out, width(devices.free ?? 0))}`,
      'bar',
    );
    return entry(name, `${deviceNumber(devices.free)} of ${deviceNumber(devices.total)}`, drawing);
  });
  return bars.length === 0 ? '' : figure('Free GPUs by pool', 'free of total', bars.join('\n'), legend);
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

/** How busy the devices are that pods hold. */
function busyChart(pools: readonly LivePool[], { usage }: ClusterView): string {
  const bars = pools
    .flatMap(({ name, usage: use }) =>
      use?.busy == null ? [] : [{ name, busy: use.busy, words: usageSumWords(use) ?? '' }],
    )
    .slice(0, 12)
    .map(({ name, busy, words }) => entry(name, words, svg(rect('used', 0, 100 * busy), 'bar')));
  if (bars.length === 0 || usage === null) return '';
  return figure('Busy GPUs by pool', `on average over ${usage.hours} h`, bars.join('\n'));
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

function problemSection({ problems, leaked, coverage, usage }: ClusterView): string {
  const items = [
    ...problems.map(({ node, pool, message }) => `${isolated(node)} (${isolated(pool)}): ${isolated(message)}`),
    ...leaked.map((claim) => `${isolated(`${claim.namespace}/${claim.name}`)}: ${isolated(leakWords(claim))}`),
    ...coverage.flatMap((one) => {
      const words = coverageWords(one);
      return words === undefined ? [] : isolated(words);
    }),
    ...usageProblem({ usage }).map(isolated),
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

function amountOf(amount: MoneyRange | null): string {
  return amount === null ? 'unknown' : formatAmount(amount);
}
