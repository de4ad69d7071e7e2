import type { RangedTotal } from '../../cost/possible-cost-words.ts';
import { sumOf } from '../../cost/range.ts';
import type { Range } from '../../cost/types.ts';
import type { CostRow } from './cost-rows.ts';

/** The part of a row that totals add up. */
export type CountedAmounts = Pick<CostRow, 'gpus' | 'hourly' | 'possibleHourly' | 'idleHourly'>;

/** The sum of the known amounts of rows. */
export interface CostTotal {
  readonly workloads: number;
  /** Workloads without a price, which the amounts leave out. */
  readonly unpriced: number;
  /** Devices. A workload without an upper bound counts with its floor. */
  readonly gpus: Range;
  /** US dollars per hour. */
  readonly hourly: Range;
  readonly idleHourly: number;
  /** The workloads without a price that have at least a range over GPUs, and the sum of their ranges. */
  readonly ranged: RangedTotal;
}

/** The total of the rows: the sum of the leaves, whatever shows them. */
export function totalOf(rows: readonly CountedAmounts[]): CostTotal {
  const priced = rows.flatMap(({ hourly }) => hourly ?? []);
  const ranges = rows.flatMap(({ possibleHourly }) => possibleHourly ?? []);
  return {
    workloads: rows.length,
    unpriced: rows.length - priced.length,
    gpus: sum(rows.map(({ gpus: { min, max } }) => ({ min: min ?? 0, max: max ?? min ?? 0 }))),
    hourly: sum(priced),
    ranged: { workloads: ranges.length, hourly: sum(ranges) },
    idleHourly: withoutNoise(rows.reduce((total, { idleHourly }) => total + (idleHourly ?? 0), 0)),
  };
}

/** Rounds the noise of binary fractions from sums of cents and shares. */
export function withoutNoise(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}

function sum(ranges: readonly Range[]): Range {
  const { min, max } = sumOf(ranges);
  return { min: withoutNoise(min), max: withoutNoise(max) };
}
