import type { Range } from './types.ts';

export const nothing: Range = { min: 0, max: 0 };

/** From the smallest of some amounts to the largest; undefined where there are none. */
export function rangeOf(amounts: readonly number[]): Range | undefined {
  return amounts.length === 0 ? undefined : { min: Math.min(...amounts), max: Math.max(...amounts) };
}

/** Floors and ceilings, each added up. */
export function sumOf(ranges: readonly Range[]): Range {
  return ranges.reduce((total, range) => ({ min: total.min + range.min, max: total.max + range.max }), nothing);
}

/** An amount of one, times how many there are. */
export function timesCount({ min, max }: Range, count: Range | number): Range {
  const { min: fewest, max: most } = typeof count === 'number' ? { min: count, max: count } : count;
  return { min: min * fewest, max: max * most };
}
