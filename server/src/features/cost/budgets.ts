import type { Workload } from '../../model/workload.ts';
import { keyOf } from '../../yaml/cursor.ts';
import type { Table } from '../../yaml/table.ts';
import { type CountedAmounts, totalOf } from './cost-totals.ts';

/** What some workloads may cost together. */
export interface Budget {
  readonly name: string;
  /** In this namespace; null means in any. */
  readonly namespace: string | null;
  /** With all of these labels, on the object or its pods. */
  readonly labels: Table<string>;
  /** US dollars per hour, at the ceiling of the workloads. */
  readonly maxHourly: number;
}

/** Whether a budget covers a workload. A templated namespace or label is unknown, and not covered. */
export function covers({ namespace, labels }: Budget, workload: Workload): boolean {
  if (namespace !== null && workload.namespace !== namespace) return false;
  const written = [...workload.manifest.labels, ...workload.podSets.flatMap((podSet) => podSet.labels)];
  return Object.entries(labels).every(([key, value]) =>
    written.some((label) => keyOf(label.at) === key && label.value === value),
  );
}

/** The budgets that the rows exceed, as sentences. Budgets of several configs are one if they say the same. */
export function exceededBudgets(rows: readonly (CountedAmounts & { readonly budgets: readonly Budget[] })[]): readonly string[] {
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
    return [`budget ${name}: ${what} up to $${hourly.max.toFixed(2)}/h, more than $${maxHourly}/h`];
  });
}
