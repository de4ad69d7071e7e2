import { nothing } from '../../cost/range.ts';
import type { Range } from '../../cost/types.ts';
import type { CostRow } from './cost-rows.ts';
import { type CostTotal, withoutNoise } from './cost-totals.ts';

/** What identifies a workload in two states, and what it costs in one. */
export interface ComparedCost
  extends Pick<CostRow, 'kind' | 'namespace' | 'name' | 'gpus' | 'hourly' | 'isOpen' | 'monthly' | 'possibleHourly'> {
  readonly path: string;
  readonly line: number;
  /** These are absent from earlier reports. */
  readonly device?: string;
  readonly nodeHourly?: Range | null;
  readonly amountNotes?: string;
}

/** One workload before and after a change; at least one of them is present. */
export interface CostChange<T extends ComparedCost = ComparedCost> {
  readonly before: T | null;
  readonly after: T | null;
}

/**
 * Pairs the workloads of two states: by kind, namespace, name and file; then without the file, if only one is left on each side, because files
 * are moved and renamed. Takes time proportional to the number of workloads.
 */
export function pairWorkloads<T extends ComparedCost>(
  before: readonly T[],
  after: readonly T[],
): readonly CostChange<T>[] {
  const here = pairBy(withFile, before, after);
  const elsewhere = pairBy(
    withoutFile,
    here.flatMap((one) => (one.after === null && one.before !== null ? [one.before] : [])),
    here.flatMap((one) => (one.before === null && one.after !== null ? [one.after] : [])),
    true,
  );
  const both = [...here.filter((one) => one.before !== null && one.after !== null), ...elsewhere];
  return both.sort((a, b) => compare(placeOf(a), placeOf(b)));
}

/** Whether the GPUs or the price of a workload differ, with what the price leaves out, or whether it came or went. */
export function isChanged({ before, after }: CostChange): boolean {
  if (before === null || after === null) return true;
  return (
    !isSameRange(before.hourly, after.hourly) ||
    !isSameCount(before.gpus, after.gpus) ||
    !isSameMonth(before, after) ||
    !isSameRange(before.nodeHourly ?? null, after.nodeHourly ?? null) ||
    (before.amountNotes ?? after.amountNotes) !== (after.amountNotes ?? before.amountNotes)
  );
}

/** The schedule of a CronJob changes only the month. */
function isSameMonth(before: ComparedCost, after: ComparedCost): boolean {
  return before.monthly === null || after.monthly === null || isSameRange(before.monthly, after.monthly);
}

/** A change at the floor and at the ceiling. */
export interface Increase extends Range {
  /** Pods of one side have no known bound, so only the floors can be compared, and the change at the ceiling is unknown. */
  readonly isOpen?: true;
}

/** The change of the hourly price; null if one side has no known price. */
export function increaseOf(change: CostChange): Increase | null {
  const { before, after } = change;
  const from = before === null ? nothing : before.hourly;
  const to = after === null ? nothing : after.hourly;
  return from === null || to === null ? null : atFloors(difference(from, to), change);
}

/** The same of the months of a workload; null if it came or went. */
export function monthlyIncreaseOf(change: CostChange): Increase | null {
  const [from, to] = [change.before?.monthly ?? null, change.after?.monthly ?? null];
  return from === null || to === null ? null : atFloors(difference(from, to), change);
}

function atFloors(increase: Range, change: CostChange): Increase {
  return isUnbounded(change) ? { min: increase.min, max: increase.min, isOpen: true } : increase;
}

/** Whether pods of one side have no known bound. */
export function isUnbounded({ before, after }: CostChange): boolean {
  return before?.isOpen === true || after?.isOpen === true;
}

/** The change of the totals; null if the price of no changed workload is known. */
export interface TotalIncrease {
  readonly hourly: Increase | null;
  readonly monthly: Increase | null;
}

type Sums = Pick<CostTotal, 'hourly' | 'monthly'>;

export function totalIncrease(before: Sums, after: Sums, changes: readonly CostChange[]): TotalIncrease {
  const changed = changes.filter(isChanged);
  if (changed.length > 0 && changed.every((one) => increaseOf(one) === null)) return { hourly: null, monthly: null };
  return {
    hourly: increaseOfSum('hourly', before, after, changed),
    monthly: increaseOfSum('monthly', before, after, changed),
  };
}

/** The change of a sum. Of workloads without a known bound, it has the change at the floor. */
export function increaseOfSum(name: keyof Sums, before: Sums, after: Sums, changes: readonly CostChange[]): Increase {
  const { min, max } = difference(before[name], after[name]);
  const open = changes.filter((change) => isUnbounded(change) && isChanged(change));
  if (open.length === 0) return { min, max };
  const tops = open.map((change) => difference(change.before?.[name] ?? nothing, change.after?.[name] ?? nothing));
  return { min, max: withoutNoise(tops.reduce((sum, one) => sum - one.max + one.min, max)), isOpen: true };
}

export function difference(from: Range, to: Range): Range {
  return { min: withoutNoise(to.min - from.min), max: withoutNoise(to.max - from.max) };
}

function pairBy<T extends ComparedCost>(
  keyOf: (workload: T) => string,
  before: readonly T[],
  after: readonly T[],
  onlyUnique = false,
): readonly CostChange<T>[] {
  const waiting = groupBy(keyOf, before);
  const groups = groupBy(keyOf, after);
  const pairs: CostChange<T>[] = [];
  for (const [key, workloads] of groups) {
    const earlier = waiting.get(key) ?? [];
    const isPair = !onlyUnique || (earlier.length === 1 && workloads.length === 1);
    if (isPair) waiting.delete(key);
    const known = isPair ? earlier : [];
    pairs.push(...workloads.map((workload, index) => ({ before: known[index] ?? null, after: workload })));
    pairs.push(...known.slice(workloads.length).map((gone) => ({ before: gone, after: null })));
  }
  for (const gone of waiting.values()) pairs.push(...gone.map((workload) => ({ before: workload, after: null })));
  return pairs;
}

function groupBy<T extends ComparedCost>(keyOf: (workload: T) => string, workloads: readonly T[]): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const workload of workloads) {
    const key = keyOf(workload);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [workload]);
    else group.push(workload);
  }
  return groups;
}

function withFile(workload: ComparedCost): string {
  return JSON.stringify([withoutFile(workload), workload.path]);
}

function withoutFile({ kind, namespace, name }: ComparedCost): string {
  return JSON.stringify([kind, namespace, name]);
}

function placeOf({ before, after }: CostChange): ComparedCost | null {
  return after ?? before;
}

function compare(a: ComparedCost | null, b: ComparedCost | null): number {
  if (a === null || b === null) return 0;
  return a.path < b.path ? -1 : a.path > b.path ? 1 : a.line - b.line;
}

function isSameRange(a: Range | null, b: Range | null): boolean {
  if (a === null || b === null) return a === b;
  const { min, max } = difference(a, b);
  return min === 0 && max === 0;
}

function isSameCount(a: ComparedCost['gpus'], b: ComparedCost['gpus']): boolean {
  return a.min === b.min && a.max === b.max;
}
