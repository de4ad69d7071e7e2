import { formatHourly, notCounted, plural } from '../../cost/money.ts';
import { type RangedTotal, spreadWords } from '../../cost/possible-cost-words.ts';
import { gpusTotal, hourlyTotal, isUnpriced, monthTotal, totalOf } from '../cost/cost-totals.ts';
import { plainMarkdown } from '../hover/render.ts';
import { workloadName } from './charts.ts';
import { largestSavings, type ReportedCosts } from './report.ts';
import { shownColumns } from './workload-table.ts';

/**
 * GitHub Flavored Markdown with the total, the largest savings and the workloads.
 * @param maxRows more workloads than these are counted only
 */
export function* renderMarkdown(
  { title, rows, savings, basis, pools = [] }: ReportedCosts,
  maxRows = Number.POSITIVE_INFINITY,
): Generator<string> {
  const total = totalOf(rows);
  const { idleHourly, workloads, unpriced, ranged } = total;
  const noPrice = isUnpriced(total);
  const isOnlyPools = workloads === 0 && pools.length > 0;
  const month = noPrice || isOnlyPools ? undefined : monthTotal(total);
  yield `### GPU cost of ${plainMarkdown(title)}: ${isOnlyPools ? 'no workloads' : noPrice ? 'unknown' : hourlyTotal(total)}\n`;
  const idle = idleHourly === 0 ? '' : ` ${formatHourly(idleHourly)} of it is idle: servers at minimum replicas.`;
  yield `\n${plural(workloads, 'workload')} with ${gpusTotal(total)}${month === undefined ? '' : `, **${month}**`}.${idle}${openSentence(ranged)}\n`;
  if (savings.length > 0) yield '\n| Saving | Workload | Advice | File |\n| ---: | :--- | :--- | :--- |\n';
  for (const saving of largestSavings(savings)) {
    const { workload, message, path, line } = saving;
    yield row([formatHourly(saving.hourly), workload ?? '', message, `${path}:${line}`]);
  }
  const columns = shownColumns(rows);
  if (rows.length > 0) {
    const names = columns.map(({ title: name }) => name);
    yield `\n| Workload | ${names.join(' | ')} | File |\n| :--- |${columns.map(({ number }) => (number ? ' ---: |' : ' :--- |')).join('')} :--- |\n`;
  }
  for (const one of rows.slice(0, maxRows)) {
    const note = one.caveat === null ? '' : ` (${one.caveat})`;
    const cells = columns.map(({ title: name, value }) => `${value(one) ?? ''}${name === '$/h' ? note : ''}`);
    yield row([workloadName(one), ...cells, `${one.path}:${one.line}`]);
  }
  if (rows.length > maxRows) yield `\n… and ${plural(rows.length - maxRows, 'more workload')}\n`;
  const problems = rows.flatMap((one) =>
    one.problem === null ? [] : [`- ${plainMarkdown(`${workloadName(one)}: ${one.problem}`)}\n`],
  );
  if (unpriced > 0) yield `\nNot in the totals:\n\n`;
  yield* problems.slice(0, maxRows);
  if (pools.length > 0) yield '\nNode pools, not in the totals:\n\n';
  for (const { title: words, path, line } of pools.slice(0, maxRows))
    yield `- ${plainMarkdown(`${words} (${path}:${line})`)}\n`;
  const prices = basis === undefined ? '' : `Prices: ${basis}; 730 h per month. `;
  yield `\n${plainMarkdown(`${prices}Not included: ${notCounted}.`)}\n`;
}

function openSentence({ workloads, hourly }: RangedTotal): string {
  if (workloads === 0) return '';
  return ` Not included: ${spreadWords(hourly)} for ${plural(workloads, 'workload')} whose GPU model is unknown.`;
}

function row(cells: readonly string[]): string {
  return `| ${cells.map(plainMarkdown).join(' | ')} |\n`;
}
