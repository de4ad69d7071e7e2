import { formatHourly, formatMonthly } from '../../cost/money.ts';
import type { Range } from '../../cost/types.ts';
import { increaseWords } from '../../features/cost/change-words.ts';
import type { ComparedCost } from '../../features/cost/cost-changes.ts';

/** The price of one state: an amount, `no price`, or nothing if the workload is not there. */
export function hourlyWords(workload: ComparedCost | null): string {
  if (workload === null) return '–';
  return workload.hourly === null ? 'no price' : formatHourly(workload.hourly);
}

/** The increase per month of 730 hours. */
export function monthlyIncreaseWords(increase: Range): string {
  return increaseWords(increase, formatMonthly);
}
