import { formatHourly, formatMonthly, plural } from '../../cost/money.ts';
import { spreadWords } from '../../cost/possible-cost-words.ts';
import type { Range } from '../../cost/types.ts';
import { increaseWords } from '../../features/cost/change-words.ts';
import type { ComparedCost } from '../../features/cost/cost-changes.ts';
import type { CostTotal } from '../../features/cost/cost-totals.ts';

/** The price of one state: an amount, `$0.53/h … $17.80/h` over possible GPUs, `no price`, or nothing if the workload is not there. */
export function hourlyWords(workload: ComparedCost | null): string {
  if (workload === null) return '–';
  if (workload.hourly !== null) return formatHourly(workload.hourly);
  return workload.possibleHourly === null ? 'no price' : spreadWords(workload.possibleHourly);
}

/** `, and 2 workloads without a price`; those with a range are part of the total's own words. */
export function unpricedWords({ unpriced, ranged }: CostTotal, join: (count: string) => string): string {
  const left = unpriced - ranged.workloads;
  return left <= 0 ? '' : join(`${plural(left, 'workload')} without a price`);
}

/** The increase per month of 730 hours. */
export function monthlyIncreaseWords(increase: Range): string {
  return increaseWords(increase, formatMonthly);
}
