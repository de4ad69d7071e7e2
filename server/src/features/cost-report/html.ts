import {
  formatAmount,
  formatCount,
  formatDollars,
  formatHourly,
  formatMonthly,
  fromWords,
  notCounted,
  plural,
} from '../../cost/money.ts';
import { spreadWords } from '../../cost/possible-cost-words.ts';
import { type CostTotal, countWords, isUnpriced, leftOutWords, monthTotal, totalOf } from '../cost/cost-totals.ts';
import { chartsOf } from './charts.ts';
import { escapeHtml, isolated } from './html-text.ts';
import { createLinks, type Links } from './links.ts';
import { pageScript } from './page-script.ts';
import { pageStyle } from './page-style.ts';
import { type CostSaving, largestSavings, type ReportedCost, type ReportedCosts, type ReportedPool } from './report.ts';
import { workloadTable } from './workload-table.ts';

/** What the page needs besides the report. */
export interface PageOptions {
  /** A random text without characters of HTML: only the style and the script that carry it apply. */
  readonly nonce: string;
  /** The way from the folder of the page to the folder that paths are relative to, such as `../`. */
  readonly base?: string;
}

/** The report as a page, and what its elements with a number stand for. */
export interface CostPage<Row, Saving> {
  readonly html: string;
  /** By `data-place`. */
  readonly places: readonly (Row | Saving)[];
  /** By `data-fix`. */
  readonly fixes: readonly Saving[];
}

/**
 * One self-contained HTML document. It loads nothing, and all texts of files are escaped. Without scripts, it is complete but neither sorted nor
 * filtered by the reader.
 */
export function renderPage<Row extends ReportedCost, Saving extends CostSaving>(
  { title, rows, savings, basis, pools = [] }: ReportedCosts<Row, Saving>,
  { nonce, base = '' }: PageOptions,
): CostPage<Row, Saving> {
  const links = createLinks<Row | Saving>(base);
  const totals = totalOf(rows);
  const best = largestSavings(savings);
  const fixes: Saving[] = [];
  const heading = `GPU cost of ${title}`;
  const content = [
    head(heading, nonce),
    `<header><h1>GPU cost of ${isolated(title)}</h1>${actions}</header>`,
    '<main>',
    totalsSection(totals),
    notes(totals, basis),
    chartsOf(rows),
    savingsSection<Saving>(best, savings.length, links, fixes),
    workloadTable<Row>(rows, totals, links),
    poolsSection(pools),
    '</main>',
    `<script nonce="${nonce}">${pageScript}</script>`,
    '</body>\n</html>\n',
  ];
  return { html: content.filter((part) => part !== '').join('\n'), places: links.places, fixes };
}

/** The start of a page, up to its body: only a style and a script with the nonce apply. */
export function head(title: string, nonce: string): string {
  const policy = `default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'; base-uri 'none'; form-action 'none'`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style nonce="${nonce}">${pageStyle}</style>
</head>
<body>`;
}

/** Only an editor can do these; the script shows them there. */
const actions = `<p class="actions" hidden><button type="button" data-action="refresh">Refresh</button>
<span>Export</span>${[
  ['csv', 'CSV'],
  ['json', 'JSON'],
  ['markdown', 'Markdown'],
  ['html', 'HTML'],
]
  .map(
    ([format, name]) => `<button type="button" data-action="${format}" aria-label="Export as ${name}">${name}</button>`,
  )
  .join('')}</p>`;

function totalsSection(total: CostTotal): string {
  const { workloads, ranged, gpus, hourly, isOpen, monthly, ending, idleHourly } = total;
  const all = { ...total, ranged: { ...ranged, workloads: 0 } };
  const amount = (text: string) => (isUnpriced(total) ? 'unknown' : text);
  const figures = [
    ['Per hour', amount(fromWords(hourly, isOpen, formatAmount)), ''],
    [
      'Per month',
      amount(monthTotal(total) === undefined ? '–' : fromWords(monthly, isOpen, formatDollars)),
      ending === 0 ? '730 h' : `730 h, without ${plural(ending, 'job')}`,
    ],
    ['Idle per hour', amount(formatAmount(idleHourly)), 'servers at minimum replicas'],
    ...(ranged.workloads === 0
      ? []
      : [
          [
            'Not included',
            spreadWords(ranged.hourly),
            `${plural(ranged.workloads, 'workload')} whose GPU model is unknown`,
          ] as const,
        ]),
    ['GPUs', countWords(gpus), ''],
    ['Workloads', formatCount({ min: workloads, max: workloads }), leftOutWords(all, String)],
  ];
  return `<dl class="totals">${figures
    .map(
      ([name, value, note]) =>
        `<div><dt>${name}</dt><dd>${value}${note === '' ? '' : ` <small>${note}</small>`}</dd></div>`,
    )
    .join('')}</dl>`;
}

function notes({ workloads, ...total }: CostTotal, basis: string | undefined): string {
  const left = leftOutWords({ ...total, ranged: { ...total.ranged, workloads: 0 } });
  const sentences = [
    workloads === 0 ? 'No workload requests GPUs.' : '',
    basis === undefined ? '' : `Prices: ${isolated(basis)}.`,
    left === '' ? '' : `The totals do not include ${left}.`,
    `Not included: ${notCounted}.`,
  ];
  return `<p class="notes">${sentences.filter((sentence) => sentence !== '').join(' ')}</p>`;
}

const poolsTitle = 'Node pools, not in the totals';

/** Their pods are among the workloads. */
function poolsSection(pools: readonly ReportedPool[]): string {
  if (pools.length === 0) return '';
  const items = pools.map(({ title, path, line }) => `<li>${isolated(`${title} · ${path}:${line}`)}</li>`);
  return `<section aria-labelledby="pools"><h2 id="pools">${poolsTitle}</h2>
<ul>${items.join('\n')}</ul></section>`;
}

function savingsSection<Saving extends CostSaving>(
  best: readonly Saving[],
  count: number,
  links: Pick<Links<Saving>, 'toPlace'>,
  fixes: Saving[],
): string {
  if (best.length === 0) return '';
  const items = best.map((saving) => {
    const { hourly, workload, message, fix } = saving;
    const title = fix === null ? '' : `<p class="fix" data-fix="${fixes.push(saving) - 1}">${isolated(fix)}</p>`;
    return `<li><p class="amount">${formatHourly(hourly)} <small>${formatMonthly(hourly)}</small></p>
<div><p><strong>${isolated(workload ?? '')}</strong> ${links.toPlace(saving)}</p><p>${isolated(message)}</p>${title}</div></li>`;
  });
  const others = count > best.length ? ` The largest ${best.length} of ${count}.` : '';
  return `<section aria-labelledby="savings"><h2 id="savings">Savings</h2>
<p class="notes">Savings for the same workload can be alternatives, so they are not added up.${others}</p>
<ol class="savings" role="list">
${items.join('\n')}
</ol></section>`;
}
