import { formatAmount, formatCount, formatDollars, fromWords } from '../../cost/money.ts';
import { rowAmount } from '../cost/cost-rows.ts';
import { type CostTotal, countWords } from '../cost/cost-totals.ts';
import { workloadName } from './charts.ts';
import { escapeHtml, isolated } from './html-text.ts';
import type { Links } from './links.ts';
import type { ReportedCost } from './report.ts';

/** A column after the workload. */
interface Column {
  readonly title: string;
  /** Shown only if a row has it. */
  readonly value: (row: ReportedCost) => string | null;
  readonly number?: true;
  /** What the column is sorted by, if not its text. */
  readonly key?: (row: ReportedCost) => number | null;
  readonly sum?: { readonly name: 'gpus' | 'hourly' | 'idle' | 'monthly'; readonly of: (total: CostTotal) => string };
  readonly always?: true;
}

const columns: readonly Column[] = [
  { title: 'Namespace', value: ({ namespace }) => namespace },
  { title: 'Team', value: ({ team }) => team },
  { title: 'GPU', value: ({ cards }) => cards.join(' + ') || null, always: true },
  {
    title: 'Count',
    value: ({ gpus }) => formatCount(gpus),
    number: true,
    key: ({ gpus }) => gpus.max ?? gpus.min,
    sum: { name: 'gpus', of: ({ gpus }) => countWords(gpus) },
    always: true,
  },
  {
    title: 'Provider',
    value: ({ providers, capacity }) =>
      [...providers, ...(providers.length === 0 || capacity === 'unknown' ? [] : [capacity])].join(', ') || null,
  },
  {
    title: '$/h',
    value: (row) => rowAmount(row, formatAmount) ?? null,
    number: true,
    key: ({ hourly }) => hourly?.max ?? null,
    sum: { name: 'hourly', of: ({ hourly, isOpen }) => fromWords(hourly, isOpen, formatAmount) },
    always: true,
  },
  {
    title: 'Idle $/h',
    value: ({ idleHourly }) => (idleHourly === null ? null : formatAmount(idleHourly)),
    number: true,
    key: ({ idleHourly }) => idleHourly,
    sum: { name: 'idle', of: ({ idleHourly }) => formatAmount(idleHourly) },
    always: true,
  },
  {
    title: '$/month',
    // A job that ends has the price of its run instead.
    value: ({ monthly, isOpen, run }) => (monthly === null ? run : fromWords(monthly, isOpen, formatDollars)),
    number: true,
    key: ({ monthly }) => monthly?.max ?? null,
    sum: { name: 'monthly', of: ({ monthly, isOpen }) => fromWords(monthly, isOpen, formatDollars) },
    always: true,
  },
];

/** The columns that have a value for some row. */
export function shownColumns(rows: readonly ReportedCost[]): readonly Column[] {
  return columns.filter(({ always, value }) => always || rows.some((row) => value(row) !== null));
}

/** All rows, the most expensive first, with their sum. */
export function workloadTable<Row extends ReportedCost>(
  rows: readonly Row[],
  total: CostTotal,
  links: Pick<Links<Row>, 'toPlace'>,
): string {
  const shown = shownColumns(rows);
  const head = shown.map(({ title, number, sum }) => {
    const marks = `${number ? ' class="number" data-number' : ''}${sum === undefined ? '' : ` data-sum="${sum.name}"`}`;
    return `<th scope="col"${marks}>${title}</th>`;
  });
  const sums = shown.map(({ number, sum }) => `<td${number ? ' class="number"' : ''}>${sum?.of(total) ?? ''}</td>`);
  return `<section>
<div class="above"><h2 id="workloads">Workloads</h2>
<p class="filter" hidden><output for="filter"></output><label for="filter">Filter</label> <input id="filter" type="search" autocomplete="off" spellcheck="false"></p></div>
<div class="scroll" role="region" aria-labelledby="workloads" tabindex="0">
<table>
<caption>US dollars, from minimum to maximum replicas. A month has 730 hours and excludes jobs that end. Idle is the price of servers at minimum replicas.</caption>
<thead><tr><th scope="col">Workload</th>${head.join('')}</tr></thead>
<tbody>
${[...rows]
  .sort(byPrice)
  .map((row) => bodyRow(row, shown, links))
  .join('\n')}
</tbody>
<tfoot><tr><th scope="row">Total</th>${sums.join('')}</tr></tfoot>
</table>
</div>
</section>`;
}

function bodyRow<Row extends ReportedCost>(
  row: Row,
  shown: readonly Column[],
  links: Pick<Links<Row>, 'toPlace'>,
): string {
  const { hourly, monthly, idleHourly, gpus, problem, caveat } = row;
  const ends = [gpus.min ?? 0, gpus.max ?? gpus.min ?? 0, hourly?.min ?? 0, hourly?.max ?? 0];
  const amounts = [...ends, idleHourly ?? 0, monthly?.min ?? 0, monthly?.max ?? 0];
  const [label, words] = problem === null ? ['Price', caveat] : ['No price', problem];
  const reason = words === null ? '' : `<span class="reason">${label}: ${isolated(words)}</span>`;
  const cells = shown.map(({ title, value, number, key }) => {
    const text = value(row);
    const sortKey = key === undefined ? '' : ` data-key="${key(row) ?? ''}"`;
    return `<td${number ? ' class="number"' : title === 'GPU' ? ' class="card"' : ''}${sortKey}>${text === null ? '' : number ? escapeHtml(text) : isolated(text)}</td>`;
  });
  return `<tr data-amounts="${amounts.join(' ')}"><th scope="row">${isolated(workloadName(row))}<span class="file">${links.toPlace(row)}</span>${reason}</th>${cells.join('')}</tr>`;
}

/** Workloads without a price come last. */
function byPrice(a: ReportedCost, b: ReportedCost): number {
  return (b.hourly?.max ?? -1) - (a.hourly?.max ?? -1);
}
