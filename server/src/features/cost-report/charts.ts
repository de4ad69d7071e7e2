import { formatAmount, formatHourly } from '../../cost/money.ts';
import type { Range } from '../../cost/types.ts';
import { type CostGroup, groupPerRow, groupsOf, idlePartsOf } from './groups.ts';
import { isolated } from './html-text.ts';
import type { ReportedCost } from './report.ts';

/** The charts of the rows that have a price. Their text has each name and amount, so the bars are decoration for screen readers. */
export function chartsOf(rows: readonly ReportedCost[]): string {
  if (rows.every(({ hourly }) => hourly === null)) return '';
  return `<section class="charts" aria-label="Charts">
${barChart('By workload', groupPerRow(rows, workloadName))}
${barChart(
  'By GPU',
  groupsOf(rows, ({ cards }) => cards.join(' + ') || 'unknown'),
)}
${barChart(
  'By namespace',
  groupsOf(rows, ({ namespace }) => namespace ?? 'no namespace'),
)}
${idleChart(rows)}
</section>`;
}

/** `Deployment/chat`, `Pod`. */
export function workloadName({ kind, name }: Pick<ReportedCost, 'kind' | 'name'>): string {
  return name === null ? kind : `${kind}/${name}`;
}

/** One bar per group, with the part between floor and ceiling in a lighter color. */
function barChart(title: string, groups: readonly CostGroup[]): string {
  const scale = Math.max(...groups.map(({ hourly }) => hourly.max)) || 1;
  const bars = groups.map(({ name, hourly }) => entry(name, formatAmount(hourly), bar(hourly, scale)));
  return figure(title, '$/h', bars.join('\n'));
}

function idleChart(rows: readonly ReportedCost[]): string {
  const { idle, scaled, others } = idlePartsOf(rows);
  const total = idle + scaled + others || 1;
  const parts = [
    { name: 'Idle', amount: idle, mark: 'idle' },
    { name: 'With traffic', amount: scaled, mark: 'scaled' },
    { name: 'Jobs and others', amount: others, mark: 'others' },
  ].filter(({ amount }) => amount > 0);
  let from = 0;
  const rects = parts.map(({ amount, mark }) => {
    const part = rect(mark, from, (100 * amount) / total);
    from += (100 * amount) / total;
    return part;
  });
  const legend = parts.map(
    ({ name, amount, mark }) =>
      `<li><svg class="key" viewBox="0 0 10 10" aria-hidden="true"><rect class="${mark}" width="10" height="10"/></svg>${isolated(name)}<span class="amount">${formatHourly(amount)} <span class="share">${percent(amount / total)}</span></span></li>`,
  );
  return figure('Idle share', 'of the maximum', legend.join('\n'), svg(rects.join(''), 'stack'), 'parts');
}

/** A chart with its text. @param above a drawing over the entries */
export function figure(title: string, unit: string, items: string, above = '', kind = 'bars'): string {
  return `<figure class="${kind}"><figcaption><h2>${title}</h2> <span class="unit">${unit}</span></figcaption>${above}
<ul role="list">
${items}
</ul></figure>`;
}

function entry(name: string, amount: string, drawing: string): string {
  return `<li><span class="name">${isolated(name)}</span><span class="amount">${amount}</span>${drawing}</li>`;
}

function bar({ min, max }: Range, scale: number): string {
  const floor = (100 * min) / scale;
  const rest = (100 * (max - min)) / scale;
  return svg(`${rect('floor', 0, floor)}${rest > 0 ? rect('range', floor, rest) : ''}`, 'bar');
}

/** A drawing that is 100 wide and 8 high, whatever its size. */
export function svg(content: string, kind: string): string {
  return `<svg class="${kind}" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">${content}</svg>`;
}

/** A part of a drawing. @param mark its class */
export function rect(mark: string, x: number, width: number): string {
  return `<rect class="${mark}" x="${coordinate(x)}" width="${coordinate(width)}" height="8"/>`;
}

function coordinate(value: number): string {
  return String(Math.round(value * 100) / 100);
}

/** `13%`, `<1%`, `>99%`: 0% and 100% are exact. */
function percent(share: number): string {
  if (share > 0 && share < 0.01) return '&lt;1%';
  if (share < 1 && share > 0.99) return '&gt;99%';
  return `${Math.round(share * 100)}%`;
}
