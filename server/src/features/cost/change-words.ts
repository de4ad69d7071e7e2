import { formatCount, formatDollars, formatHourly } from '../../cost/money.ts';
import type { Range } from '../../cost/types.ts';
import { type ComparedCost, type CostChange, type Increase, increaseOf, monthlyIncreaseOf } from './cost-changes.ts';

/** `Deployment/chat`, with the namespace if there is one: `serving/Deployment/chat`. */
export function nameOf({ kind, namespace, name }: ComparedCost): string {
  return [namespace, kind, name].filter((part) => part !== null).join('/');
}

/** The number of GPUs, or both if they differ: `1 GPU`, `1 → 2 GPUs`. */
export function gpusWords(change: CostChange): string {
  const count = gpuWords(change);
  const device = (change.after ?? change.before)?.device ?? 'GPU';
  return `${count} ${device}${/^(?:1|\d+\/\d+)$/.test(count) ? '' : 's'}`;
}

/** The same without the noun. */
export function gpuWords({ before, after }: CostChange): string {
  if (before === null || after === null) return formatCount((after ?? before)?.gpus ?? { min: null, max: null });
  const from = formatCount(before.gpus);
  const to = formatCount(after.gpus);
  return from === to ? to : `${from} → ${to}`;
}

/** How the price of a workload changes: per hour, or per month if only its schedule or the length of its runs does. */
export function changedAmount(change: CostChange): string {
  const increase = increaseOf(change);
  const monthly = monthlyIncreaseOf(change);
  const isSame = (range: Range | null) => range !== null && range.min === 0 && range.max === 0;
  return isSame(increase) && monthly !== null && !isSame(monthly)
    ? increaseWords(monthly, (amount) => `${formatDollars(amount)}/month`)
    : increaseWords(increase);
}

/** `+$6.88/h`, `−$1.20/h`, `+$1.20/h to +$3.60/h`, `up to +$3.60/h`, `±$0/h`, `+$6.88/h, maximum unknown`. */
export function increaseWords(increase: Increase | null, format: (amount: number) => string = formatHourly): string {
  if (increase === null) return 'unknown';
  const open = increase.isOpen ? ', maximum unknown' : '';
  const low = signed(increase.min, format);
  const high = signed(increase.max, format);
  if (low === high) return `${low}${open}`;
  if (increase.min === 0) return `up to ${high}${open}`;
  return `${increase.max === 0 ? `up to ${low}` : `${low} to ${high}`}${open}`;
}

function signed(amount: number, format: (amount: number) => string): string {
  if (amount === 0) return `±${format(0)}`;
  return `${amount < 0 ? '−' : '+'}${format(Math.abs(amount))}`;
}
