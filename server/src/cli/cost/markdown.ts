import { formatCount, formatHourly, plural } from '../../cost/money.ts';
import { spreadWords } from '../../cost/possible-cost-words.ts';
import { gpuWords, increaseWords, nameOf } from '../../features/cost/change-words.ts';
import { type CostChange, difference, increaseOf, isChanged } from '../../features/cost/cost-changes.ts';
import { plainMarkdown } from '../../features/hover/render.ts';
import { codeSpan } from '../reports/markdown.ts';
import type { CostReport } from './cost.ts';
import { hourlyWords, monthlyIncreaseWords, unpricedWords } from './words.ts';
import type { WorkloadCost } from './workload-costs.ts';

/** A comment longer than this helps nobody; GitHub rejects 65,536 characters. */
const maxRows = 40;

/** A comment for a pull request: what the change costs, then one row for each changed workload. */
export function* renderChangeMarkdown({ base, before, after, changes, priceBasis }: CostReport): Generator<string> {
  // A bot finds its previous comment by this line, and edits it.
  yield '<!-- gpulint cost -->\n';
  const shown = base === null ? changes : changes.filter(isChanged);
  if (before === null) yield `### GPU cost: ${formatHourly(after.hourly)}\n`;
  else {
    const increase = difference(before.hourly, after.hourly);
    yield `### GPU cost: ${increaseWords(increase)} (${monthlyIncreaseWords(increase)})\n`;
    yield `\nAgainst ${codeSpan(base ?? '')}: ${formatCount(before.gpus)} → ${formatCount(after.gpus)} GPUs, ${formatHourly(before.hourly)} → **${formatHourly(after.hourly)}**.\n`;
  }
  if (shown.length > 0) {
    yield base === null
      ? '\n| Workload | GPUs | Cost | Location |\n| :--- | ---: | ---: | :--- |\n'
      : '\n| Workload | GPUs | Before | After | Change | Location |\n| :--- | ---: | ---: | ---: | ---: | :--- |\n';
  }
  for (const change of shown.slice(0, maxRows)) yield row(change, base !== null);
  if (shown.length > maxRows) yield `\n… and ${plural(shown.length - maxRows, 'more workload')}\n`;
  const notes = [
    after.ranged.workloads === 0
      ? ''
      : `Not included: ${spreadWords(after.ranged.hourly)} for ${plural(after.ranged.workloads, 'workload')} of unknown GPU model.`,
    unpricedWords(after, (count) => `${count} not included.`),
    priceBasis === undefined ? '' : `Prices: ${priceBasis}; 730 h a month.`,
  ].filter((note) => note !== '');
  if (notes.length > 0) yield `\n${plainMarkdown(notes.join(' '))}\n`;
}

function row(change: CostChange<WorkloadCost>, isCompared: boolean): string {
  const { before, after } = change;
  const shown = after ?? before;
  if (shown === null) return '';
  const name = before === null && isCompared ? `${nameOf(shown)} (new)` : nameOf(shown);
  const cells = isCompared
    ? [name, gpuWords(change), hourlyWords(before), hourlyWords(after), increaseWords(increaseOf(change))]
    : [name, gpuWords(change), hourlyWords(after)];
  const place = codeSpan(`${shown.path}:${shown.line}`).replaceAll('|', '\\|');
  return `| ${cells.map(plainMarkdown).join(' | ')} | ${place} |\n`;
}
