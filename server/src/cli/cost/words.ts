import { formatCount, formatHourly, formatMonthly } from '../../cost/money.ts';
import type { Range } from '../../cost/types.ts';
import { type ComparedCost, type CostChange, increaseWords } from '../../features/cost/cost-changes.ts';

/** `Deployment/chat`, with the namespace if there is one: `serving/Deployment/chat`. */
export function nameOf({ kind, namespace, name }: ComparedCost): string {
  return [namespace, kind, name].filter((part) => part !== null).join('/');
}

/** `new`, `removed`, or both numbers of GPUs: `1 → 2`. */
export function gpuWords({ before, after }: CostChange): string {
  if (before === null || after === null) return formatCount((after ?? before)?.gpus ?? { min: null, max: null });
  const from = formatCount(before.gpus);
  const to = formatCount(after.gpus);
  return from === to ? to : `${from} → ${to}`;
}

/** The price of one state: an amount, `no price`, or nothing if the workload is not there. */
export function hourlyWords(workload: ComparedCost | null): string {
  if (workload === null) return '–';
  return workload.hourly === null ? 'no price' : formatHourly(workload.hourly);
}

/** The increase per month of 730 hours. */
export function monthlyIncreaseWords(increase: Range): string {
  return increaseWords(increase, formatMonthly);
}
