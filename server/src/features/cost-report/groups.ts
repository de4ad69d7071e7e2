import { sumOf } from '../../cost/range.ts';
import type { Range } from '../../cost/types.ts';
import { withoutNoise } from '../cost/cost-totals.ts';
import type { ReportedCost } from './report.ts';

/** The rows that have something in common, and a price. */
export interface CostGroup {
  readonly name: string;
  readonly hourly: Range;
}

/** Each row as its own group. */
export function groupPerRow(
  rows: readonly ReportedCost[],
  nameOf: (row: ReportedCost) => string,
): readonly CostGroup[] {
  return mostExpensive(rows.flatMap((row) => (row.hourly === null ? [] : [{ name: nameOf(row), hourly: row.hourly }])));
}

/** The sums of rows with the same name. */
export function groupsOf(rows: readonly ReportedCost[], nameOf: (row: ReportedCost) => string): readonly CostGroup[] {
  const byName = new Map<string, Range[]>();
  for (const row of rows) {
    if (row.hourly === null) continue;
    const name = nameOf(row);
    const ranges = byName.get(name);
    if (ranges === undefined) byName.set(name, [row.hourly]);
    else ranges.push(row.hourly);
  }
  return mostExpensive([...byName].map(([name, ranges]) => ({ name, hourly: rounded(sumOf(ranges)) })));
}

const limit = 6;

/** The most expensive groups first, and the sum of all others. */
function mostExpensive(groups: readonly CostGroup[]): readonly CostGroup[] {
  const sorted = [...groups].sort((a, b) => b.hourly.max - a.hourly.max || (a.name < b.name ? -1 : 1));
  if (sorted.length <= limit + 1) return sorted;
  const others = sorted.slice(limit);
  const sum = rounded(sumOf(others.map(({ hourly }) => hourly)));
  return [...sorted.slice(0, limit), { name: `${others.length} others`, hourly: sum }];
}

/** What the ceiling of the total pays for: each dollar in exactly one part. Per hour. */
export interface IdleParts {
  /** Servers at their floor, with or without traffic. */
  readonly idle: number;
  /** Replicas that servers add with traffic. */
  readonly scaled: number;
  /** Jobs and other workloads that end. */
  readonly others: number;
}

export function idlePartsOf(rows: readonly ReportedCost[]): IdleParts {
  const parts = { idle: 0, scaled: 0, others: 0 };
  for (const { hourly, idleHourly } of rows) {
    if (hourly === null) continue;
    const idle = Math.min(idleHourly ?? 0, hourly.max);
    parts.idle += idle;
    parts[idleHourly === null ? 'others' : 'scaled'] += hourly.max - idle;
  }
  return {
    idle: withoutNoise(parts.idle),
    scaled: withoutNoise(parts.scaled),
    others: withoutNoise(parts.others),
  };
}

function rounded({ min, max }: Range): Range {
  return { min: withoutNoise(min), max: withoutNoise(max) };
}
