import type { Range } from '../../cost/types.ts';
import { workloadName } from './charts.ts';
import { visible } from './html-text.ts';
import type { ReportedCost, ReportedCosts } from './report.ts';

/** A value of a column; null is empty. */
export type Cell = string | number | null;

const columns: readonly (readonly [string, (row: ReportedCost) => Cell])[] = [
  ['workload', workloadName],
  ['kind', ({ kind }) => kind],
  ['name', ({ name }) => name],
  ['namespace', ({ namespace }) => namespace],
  ['team', ({ team }) => team],
  ['file', ({ path }) => path],
  ['line', ({ line }) => line],
  ['gpu', ({ cards }) => cards.join(' + ')],
  ['gpus_min', ({ gpus }) => gpus.min],
  ['gpus_max', ({ gpus }) => gpus.max],
  ['provider', ({ providers }) => providers.join(', ')],
  ['capacity', ({ capacity }) => (capacity === 'unknown' ? null : capacity)],
  ['hourly_usd_min', ({ hourly }) => end(hourly, 'min')],
  ['hourly_usd_max', ({ hourly, isOpen }) => top(hourly, isOpen)],
  ['idle_hourly_usd', ({ idleHourly }) => amount(idleHourly)],
  ['monthly_usd_min', ({ monthly }) => end(monthly, 'min')],
  ['monthly_usd_max', ({ monthly, isOpen }) => top(monthly, isOpen)],
  ['no_price_because', ({ problem }) => problem],
  // Without a named card: from the cheapest card to the most expensive one. Not part of any sum.
  ['possible_hourly_usd_min', ({ possibleHourly }) => end(possibleHourly, 'min')],
  ['possible_hourly_usd_max', ({ possibleHourly }) => end(possibleHourly, 'max')],
  // Of a DaemonSet, whose number of nodes is unknown. Not part of any sum.
  ['node_hourly_usd_min', ({ nodeHourly }) => end(nodeHourly, 'min')],
  ['node_hourly_usd_max', ({ nodeHourly }) => end(nodeHourly, 'max')],
  ['caveat', ({ caveat }) => caveat],
];

/**
 * The lines of RFC 4180, which end in CRLF: a header, then one per workload. Unknown values are empty. A text that a spreadsheet would calculate
 * begins with an apostrophe, which shows it as text (https://owasp.org/www-community/attacks/CSV_Injection).
 */
export function* renderCsv({ rows }: ReportedCosts): Generator<string> {
  yield columns.map(([name]) => name).join(',');
  for (const row of rows) yield csvLine(columns.map(([, of]) => of(row)));
}

/** One line without its end. */
export function csvLine(cells: readonly Cell[]): string {
  return cells.map(cellText).join(',');
}

function cellText(value: Cell): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const text = formula.test(value) ? `'${visible(value)}` : visible(value);
  return /[",\r\n']/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Spreadsheets also read the wide forms of these signs, and skip white space before them. */
const formula = /^[\s\p{Cc}\p{Cf}]*[=+\-@\uff1d\uff0b\uff0d\uff20|%]|^[\t\r\n]/u;

/** One end of a range of US dollars, to a hundredth of a cent. */
export function end(range: Range | null, side: 'min' | 'max'): number | null {
  return range === null ? null : amount(range[side]);
}

/** The upper end of a range. Pods without a known bound have none. */
export function top(range: Range | null, isOpen: boolean): number | null {
  return isOpen ? null : end(range, 'max');
}

/** To a hundredth of a cent. */
function amount(value: number | null): number | null {
  return value === null ? null : Math.round(value * 1e4) / 1e4;
}
