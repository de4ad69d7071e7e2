import { plural } from '../../cost/money.ts';
import { changedAmount, gpuWords, nameOf } from '../../features/cost/change-words.ts';
import { type CostChange, isChanged, totalIncrease } from '../../features/cost/cost-changes.ts';
import { countTotal, hourlyTotal } from '../../features/cost/cost-totals.ts';
import { plainMarkdown } from '../../features/hover/render.ts';
import { codeSpan } from '../reports/markdown.ts';
import type { CostReport } from './cost.ts';
import { amountWords, changeNotes, increasesWords } from './words.ts';
import type { WorkloadCost } from './workload-costs.ts';

/** A comment longer than this helps nobody; GitHub rejects 65,536 characters. */
const maxRows = 40;

/** A comment for a pull request: what the change costs, then one row for each changed workload. Nothing without a base. */
export function* renderChangeMarkdown({ base, before, after, changes, priceBasis }: CostReport): Generator<string> {
  if (base === null || before === null) return;
  // A bot finds its previous comment by this line, and edits it.
  yield '<!-- gpulint cost -->\n';
  const increase = totalIncrease(before, after, changes);
  yield `### GPU cost: ${increasesWords(increase)}\n`;
  yield `\nAgainst ${codeSpan(base)}: ${countTotal(before)} → ${countTotal(after)} ${after.device}s, ${hourlyTotal(before)} → **${hourlyTotal(after)}**.\n`;
  const shown = changes.filter(isChanged);
  if (shown.length > 0) {
    yield '\n| Workload | GPUs | Before | After | Change | Location |\n| :--- | ---: | ---: | ---: | ---: | :--- |\n';
  }
  for (const change of shown.slice(0, maxRows)) yield row(change);
  if (shown.length > maxRows) yield `\n… and ${plural(shown.length - maxRows, 'more workload')}\n`;
  const notes = changeNotes({ after, changes, priceBasis });
  if (notes.length > 0) yield `\n${plainMarkdown(notes.join(' '))}\n`;
}

function row(change: CostChange<WorkloadCost>): string {
  const { before, after } = change;
  const shown = after ?? before;
  if (shown === null) return '';
  const mark = before === null ? ' (new)' : after === null ? ' (removed)' : '';
  const name = `${nameOf(shown)}${mark}`;
  const cells = [name, gpuWords(change), amountWords(before), amountWords(after), changedAmount(change)];
  const place = codeSpan(`${shown.path}:${shown.line}`).replaceAll('|', '\\|');
  return `| ${cells.map(plainMarkdown).join(' | ')} | ${place} |\n`;
}
