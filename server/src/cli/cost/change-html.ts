import { plural } from '../../cost/money.ts';
import { changedAmount, gpuWords, increaseWords, nameOf } from '../../features/cost/change-words.ts';
import { type CostChange, isChanged, type TotalIncrease, totalIncrease } from '../../features/cost/cost-changes.ts';
import { type CostTotal, countTotal, hourlyTotal } from '../../features/cost/cost-totals.ts';
import { head, type PageOptions } from '../../features/cost-report/html.ts';
import { escapeHtml, isolated } from '../../features/cost-report/html-text.ts';
import { createLinks, type Links } from '../../features/cost-report/links.ts';
import { changeWord } from './change-csv.ts';
import type { CostReport } from './cost.ts';
import { amountWords, changeNotes, monthlyIncreaseWords } from './words.ts';
import type { WorkloadCost } from './workload-costs.ts';

/** The change as one self-contained HTML document, without a script: the totals, then one row for each changed workload. */
export function changePage(report: CostReport, before: CostTotal, { nonce, base = '' }: PageOptions): string {
  const { after, changes } = report;
  const shown = changes.filter(isChanged);
  const against = report.base ?? '';
  const unchanged = changes.length - shown.length;
  const notes = [...changeNotes(report), ...(unchanged === 0 ? [] : [`${plural(unchanged, 'workload')} unchanged.`])];
  return [
    head(`GPU cost against ${against}`, nonce),
    `<header><h1>GPU cost against ${isolated(against)}</h1></header>`,
    '<main>',
    totals(before, after, totalIncrease(before, after, changes)),
    notes.length === 0 ? '' : `<p class="notes">${isolated(notes.join(' '))}</p>`,
    shown.length === 0 ? '<p>No workload changes its GPUs or price.</p>' : table(shown, createLinks(base)),
    '</main>',
    '</body>\n</html>\n',
  ]
    .filter((part) => part !== '')
    .join('\n');
}

function totals(before: CostTotal, after: CostTotal, { hourly, monthly }: TotalIncrease): string {
  const figures = [
    ['Change per hour', increaseWords(hourly)],
    ['Change per month', monthlyIncreaseWords(monthly)],
    ['Before', hourlyTotal(before)],
    ['After', hourlyTotal(after)],
    ['GPUs', `${countTotal(before)} → ${countTotal(after)}`],
  ];
  return `<dl class="totals">${figures.map(([name, value]) => `<div><dt>${name}</dt><dd>${value}</dd></div>`).join('')}</dl>`;
}

const heads = ['GPUs', 'Before', 'After', 'Change'].map((title) => `<th scope="col" class="number">${title}</th>`);

function table(shown: readonly CostChange<WorkloadCost>[], links: Pick<Links<WorkloadCost>, 'toPlace'>): string {
  return `<section>
<h2 id="workloads">Workloads</h2>
<div class="scroll" role="region" aria-labelledby="workloads" tabindex="0">
<table>
<caption>US dollars per hour, from minimum to maximum replicas.</caption>
<thead><tr><th scope="col">Workload</th>${heads.join('')}</tr></thead>
<tbody>
${shown.map((change) => row(change, links)).join('\n')}
</tbody>
</table>
</div>
</section>`;
}

function row(change: CostChange<WorkloadCost>, links: Pick<Links<WorkloadCost>, 'toPlace'>): string {
  const { before, after } = change;
  const shown = after ?? before;
  if (shown === null) return '';
  const word = changeWord(change);
  const mark = word === 'changed' ? '' : ` <small>${word}</small>`;
  // A removed file has no place to go to.
  const place =
    after === null ? `${isolated(shown.path)}<span class="line">:${shown.line}</span>` : links.toPlace(shown);
  const reason = shown.problem === null ? '' : `<span class="reason">No price: ${isolated(shown.problem)}</span>`;
  const cells = [gpuWords(change), amountWords(before), amountWords(after), changedAmount(change)];
  return `<tr><th scope="row">${isolated(nameOf(shown))}${mark}<span class="file">${place}</span>${reason}</th>${cells
    .map((cell) => `<td class="number">${escapeHtml(cell)}</td>`)
    .join('')}</tr>`;
}
