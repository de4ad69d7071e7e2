import { formatHourly, plural } from '../../cost/money.ts';
import { spreadWords } from '../../cost/possible-cost-words.ts';
import { changedAmount, gpusWords, nameOf } from '../../features/cost/change-words.ts';
import { type CostChange, increaseOf, isChanged, totalIncrease } from '../../features/cost/cost-changes.ts';
import { countTotal, gpusTotal, hourlyTotal, isUnpriced, totalAndRange } from '../../features/cost/cost-totals.ts';
import { printable, type Style } from '../terminal.ts';
import type { CostReport } from './cost.ts';
import { amountWords, increasesWords, newlyPricedWords, unpricedWords } from './words.ts';
import type { WorkloadCost } from './workload-costs.ts';

/** The costs as aligned columns: what changed, or without a base all workloads; then the total. */
export function* renderCostText(report: CostReport, style: Style): Generator<string> {
  const shown = report.base === null ? report.changes : report.changes.filter(isChanged);
  const rows = shown.map((change) => (report.base === null ? costRow(change) : changeRow(change)));
  const widths = (rows[0] ?? []).map((_, column) =>
    rows.reduce((widest, row) => Math.max(widest, row[column]?.length ?? 0), 0),
  );
  for (const row of rows) {
    yield `${row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()}\n`;
  }
  if (rows.length > 0) yield '\n';
  yield* poolLines(report);
  yield* totalLines(report, style);
}

function* poolLines({ base, current: { pools = [] } }: CostReport): Generator<string> {
  if (base !== null || pools.length === 0) return;
  yield 'Node pools, not in the totals:\n';
  for (const { path, line, title } of pools) yield `${printable(`  ${path}:${line}  ${title}`)}\n`;
  yield '\n';
}

function costRow({ after }: CostChange<WorkloadCost>): readonly string[] {
  if (after === null) return [];
  const idle = after.idleHourly === null || after.idleHourly === 0 ? '' : `${formatHourly(after.idleHourly)} idle`;
  const note = after.run ?? idle;
  return [
    printable(`${after.path}:${after.line}`),
    printable(nameOf(after)),
    plural(after.gpus, after.device ?? 'GPU'),
    printable(amountWords(after)),
    after.problem === null ? note : printable(after.problem),
  ];
}

function changeRow(change: CostChange<WorkloadCost>): readonly string[] {
  const { before, after } = change;
  const shown = after ?? before;
  if (shown === null) return [];
  const state = before === null ? 'new' : after === null ? 'removed' : 'changed';
  const problem = after?.problem ?? before?.problem ?? null;
  return [
    printable(`${shown.path}:${shown.line}`),
    printable(nameOf(shown)),
    state,
    gpusWords(change),
    printable(`${amountWords(before)} → ${amountWords(after)}`),
    increaseOf(change) === null && problem !== null ? printable(problem) : changedAmount(change),
  ];
}

function* totalLines(
  { base, before, after, changes, priceBasis, current }: CostReport,
  style: Style,
): Generator<string> {
  if (priceBasis !== undefined) yield `${style.dim(`Prices: ${printable(priceBasis)}; 730 h per month`)}\n`;
  const unpriced = unpricedWords(after, (count) => `, and ${count}`);
  const pools = current.pools?.length ?? 0;
  if (base === null && after.workloads === 0 && pools > 0) {
    yield `0 workloads, ${plural(pools, 'node pool')}\n`;
    return;
  }
  if (base === null && after.workloads === 0) {
    const { definitions = 0 } = current;
    yield definitions === 0
      ? '0 workloads with accelerators: nothing to price\n'
      : `0 workloads, ${plural(definitions, 'definition')}: others decide how many pods run\n`;
    return;
  }
  if (base === null || before === null) {
    if (isUnpriced(after) && after.ranged.workloads === 0) {
      const counted = after.gpus.max === 0 ? '' : `, ${gpusTotal(after)}`;
      const price = after.perNode === after.workloads ? 'price per node' : 'price unknown';
      yield `${plural(after.workloads, 'workload')}${counted}: ${style.bold(price)}\n`;
      return;
    }
    const idle = after.idleHourly === 0 ? '' : `, ${formatHourly(after.idleHourly)} of it idle`;
    yield `${plural(after.workloads, 'workload')}, ${gpusTotal(after)}: ${style.bold(`${totalAndRange(after)}${idle}`)}${unpriced}\n`;
    return;
  }
  const { ranged: open } = after;
  const ranged =
    open.workloads === 0
      ? ''
      : `, and ${spreadWords(open.hourly)} for ${plural(open.workloads, 'workload')} whose GPU model is unknown`;
  const increase = totalIncrease(before, after, changes);
  const unchanged = changes.filter((change) => !isChanged(change)).length;
  const amounts = `${hourlyTotal(before)} → ${hourlyTotal(after)}`;
  yield `Against ${printable(base)}: ${countTotal(before)} → ${countTotal(after)} ${after.device}s, ${amounts}: ${style.bold(increasesWords(increase))}${ranged}${unpriced}\n`;
  const newlyPriced = newlyPricedWords(changes);
  if (newlyPriced !== '') yield `The increase includes ${newlyPriced}\n`;
  if (unchanged > 0) yield `${plural(unchanged, 'workload')} unchanged\n`;
}
