import { formatDollars, plural } from '../../cost/money.ts';
import { spreadWords } from '../../cost/possible-cost-words.ts';
import type { Range } from '../../cost/types.ts';
import { increaseWords } from '../../features/cost/change-words.ts';
import type { ComparedCost, TotalIncrease } from '../../features/cost/cost-changes.ts';
import { rowAmount } from '../../features/cost/cost-rows.ts';
import { type CostTotal, leftOutWords } from '../../features/cost/cost-totals.ts';
import type { CostReport } from './cost.ts';
import type { WorkloadCost } from './workload-costs.ts';

/** The price of one state: an amount as in `rowAmount`, `no price`, or nothing if the workload is not there. */
function hourlyWords(workload: ComparedCost | null): string {
  return workload === null ? '–' : (rowAmount(workload) ?? 'no price');
}

/** The same with what the amount alone would hide. */
export function amountWords(workload: WorkloadCost | null): string {
  return `${hourlyWords(workload)}${workload?.amountNotes ?? ''}`;
}

/** `, and 2 workloads without a price`; those with a range are part of the total's own words. */
export function unpricedWords(total: CostTotal, join: (count: string) => string): string {
  const left = leftOutWords(total);
  return left === '' ? '' : join(left);
}

/** `the full price of 1 workload that had none before`, of which only a part may be an increase; empty for none. */
export function newlyPricedWords(changes: CostReport['changes']): string {
  const count = changes.filter(
    ({ before, after }) => before?.hourly === null && after !== null && after.hourly !== null,
  );
  return count.length === 0 ? '' : `the full price of ${plural(count.length, 'workload')} that had none before`;
}

/** What the totals of a change do not include, and the basis of the prices. */
export function changeNotes({
  after,
  changes,
  priceBasis,
}: Pick<CostReport, 'after' | 'changes' | 'priceBasis'>): readonly string[] {
  const { ranged } = after;
  const newlyPriced = newlyPricedWords(changes);
  return [
    ranged.workloads === 0
      ? ''
      : `Not included: ${spreadWords(ranged.hourly)} for ${plural(ranged.workloads, 'workload')} whose GPU model is unknown.`,
    unpricedWords(after, (count) => `${count} not included.`),
    newlyPriced === '' ? '' : `The increase includes ${newlyPriced}.`,
    priceBasis === undefined ? '' : `Prices: ${priceBasis}; 730 h per month.`,
  ].filter((note) => note !== '');
}

/** The increase in 730 hours, of workloads that stay up and of schedules. */
export function monthlyIncreaseWords(increase: Range | null): string {
  return increaseWords(increase, (amount) => `${formatDollars(amount)}/month`);
}

/** `+$6.88/h (+$5,022/month)`; `unknown`. Jobs that end add nothing to a month. */
export function increasesWords({ hourly, monthly }: TotalIncrease): string {
  if (hourly === null) return increaseWords(null);
  const isOnlyJobs = monthly !== null && monthly.min === 0 && monthly.max === 0 && hourly.max !== 0;
  const month = isOnlyJobs ? '' : ` (${monthlyIncreaseWords(monthly && { min: monthly.min, max: monthly.max })})`;
  return `${increaseWords({ min: hourly.min, max: hourly.max })}${month}${hourly.isOpen ? ', maximum unknown' : ''}`;
}
