import type { Range } from './types.ts';

export const nothing: Range = { min: 0, max: 0 };

/** From the smallest amount to the largest; undefined if there are none. */
export function rangeOf(amounts: readonly number[]): Range | undefined {
  return amounts.length === 0 ? undefined : { min: Math.min(...amounts), max: Math.max(...amounts) };
}

/** The sum of the floors and the sum of the ceilings. */
export function sumOf(ranges: readonly Range[]): Range {
  return ranges.reduce((total, range) => ({ min: total.min + range.min, max: total.max + range.max }), nothing);
}

/** An amount times a count. */
export function timesCount({ min, max }: Range, count: Range | number): Range {
  const { min: minCount, max: maxCount } = typeof count === 'number' ? { min: count, max: count } : count;
  return { min: min * minCount, max: max * maxCount };
}

/** The largest sum of amounts that exist at once: those with different stages do not. @param amounts without stages: in all of them */
export function mostAtOnce(
  amounts: readonly { readonly amount: number; readonly stages: readonly string[] | undefined }[],
): number {
  const all = new Set(amounts.flatMap(({ stages }) => stages ?? []));
  const during = (stage: string | null) =>
    amounts
      .filter(({ stages }) => stages === undefined || (stage !== null && stages.includes(stage)))
      .reduce((sum, { amount }) => sum + amount, 0);
  return Math.max(...[null, ...all].map(during));
}
