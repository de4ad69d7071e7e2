import type { Budget } from '../../cost/budget.ts';
import { formatHourly } from '../../cost/money.ts';
import { type CountedAmounts, totalOf } from './cost-totals.ts';

/** The budgets that the rows exceed, as sentences. Budgets of several configs are one if they say the same. */
export function exceededBudgets(
  rows: readonly (CountedAmounts & { readonly budgets: readonly Budget[] })[],
): readonly string[] {
  const byBudget = new Map<string, { readonly budget: Budget; readonly rows: CountedAmounts[] }>();
  for (const row of rows) {
    for (const budget of row.budgets) {
      const key = JSON.stringify(budget);
      const group = byBudget.get(key) ?? { budget, rows: [] };
      byBudget.set(key, group);
      group.rows.push(row);
    }
  }
  return [...byBudget.values()].flatMap(({ budget: { name, maxHourly }, rows: covered }) => {
    const { hourly, workloads } = totalOf(covered);
    if (hourly.max <= maxHourly) return [];
    const what = workloads === 1 ? 'one workload costs' : `${workloads} workloads cost`;
    return [`budget ${name}: ${what} up to ${formatHourly(hourly.max)}, more than ${asWritten(maxHourly)}/h`];
  });
}

/** `$14`, `$1.50`, `$0.125`. */
function asWritten(amount: number): string {
  return `$${!Number.isInteger(amount) && Number(amount.toFixed(2)) === amount ? amount.toFixed(2) : amount}`;
}
