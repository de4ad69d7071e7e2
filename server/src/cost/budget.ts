import type { Workload } from '../model/workload.ts';
import { keyOf } from '../yaml/cursor.ts';
import type { Table } from '../yaml/table.ts';

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
