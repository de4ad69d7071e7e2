import { formatCount, formatHourly, formatMonthly, plural } from '../../cost/money.ts';
import { spreadWords } from '../../cost/possible-cost-words.ts';
import type { Range } from '../../cost/types.ts';
import type { CostTotal } from '../../features/cost/cost-totals.ts';
import type { CostChange } from './changes.ts';
import type { WorkloadCost } from './workload-costs.ts';

/** `Deployment/chat`, with the namespace if there is one: `serving/Deployment/chat`. */
export function nameOf({ kind, namespace, name }: WorkloadCost): string {
  return [namespace, kind, name].filter((part) => part !== null).join('/');
}

/** `new`, `removed`, or both numbers of GPUs: `1 → 2`. */
export function gpuWords({ before, after }: CostChange): string {
  if (before === null || after === null) return formatCount((after ?? before)?.gpus ?? { min: null, max: null });
  const from = formatCount(before.gpus);
  const to = formatCount(after.gpus);
  return from === to ? to : `${from} → ${to}`;
}

/** The price of one state: an amount, `$0.53/h … $17.80/h` over possible GPUs, `no price`, or nothing if the workload is not there. */
export function hourlyWords(workload: WorkloadCost | null): string {
  if (workload === null) return '–';
  if (workload.hourly !== null) return formatHourly(workload.hourly);
  return workload.range === null ? 'no price' : spreadWords(workload.range);
}

/** `, and 2 workloads without a price`; those with a range are part of the total's own words. */
export function unpricedWords({ unpriced, ranged }: CostTotal, join: (count: string) => string): string {
  const left = unpriced - ranged.workloads;
  return left <= 0 ? '' : join(`${plural(left, 'workload')} without a price`);
}

/** `+$6.88/h`, `-$1.20/h`, `+$1.20/h to +$3.60/h`, `±$0/h`. */
export function increaseWords(increase: Range | null, format: (amount: number) => string = formatHourly): string {
  if (increase === null) return 'unknown';
  const low = signed(increase.min, format);
  const high = signed(increase.max, format);
  return low === high ? low : `${low} to ${high}`;
}

/** The increase per month of 730 hours. */
export function monthlyIncreaseWords(increase: Range): string {
  return increaseWords(increase, formatMonthly);
}

function signed(amount: number, format: (amount: number) => string): string {
  if (amount === 0) return `±${format(0)}`;
  return `${amount < 0 ? '−' : '+'}${format(Math.abs(amount))}`;
}
