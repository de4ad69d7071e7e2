import type { PodSet } from '../model/workload.ts';
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

export const noPods: PodSet['pods'] = { min: 0, max: 0 };

/** The amount of a set of pods at its most. */
interface Most {
  readonly amount: number;
  readonly pods: PodSet['pods'];
}

/** The largest sum of amounts that exist at once: those with different stages do not, and a bound of all sets together leaves room for some only. */
export function mostAtOnce(amounts: readonly Most[]): number {
  const all = new Set(amounts.flatMap(({ pods }) => pods.stages ?? []));
  const during = (stage: string | null) =>
    sumWithin(
      amounts.filter(({ pods: { stages } }) => stages === undefined || (stage !== null && stages.includes(stage))),
    );
  return Math.max(...[null, ...all].map(during));
}

/** The sum of the amounts of all sets of pods; at most, of those that run at once. */
export function sumAtOnce(parts: readonly { readonly range: Range; readonly pods: PodSet['pods'] }[]): Range {
  const { min } = sumOf(parts.map(({ range }) => range));
  const most = mostAtOnce(parts.map(({ range, pods }) => ({ amount: range.max, pods })));
  return { min: Math.min(min, most), max: most };
}

/** The pods that are always there, and the most expensive others that the bound leaves room for. */
function sumWithin(amounts: readonly Most[]): number {
  const bounds = amounts.flatMap(({ pods }) => pods.together ?? []);
  const alwaysOf = ({ together }: PodSet['pods']) => together?.always ?? 0;
  const sum = amounts.reduce((total, { amount }) => total + amount, 0);
  if (bounds.length === 0 || bounds.length < amounts.length) return sum;
  let left = Math.min(...bounds.map(({ most }) => most));
  for (const { pods } of amounts) left -= alwaysOf(pods);
  const others = amounts
    .flatMap(({ amount, pods }) => (pods.max ? [{ each: amount / pods.max, count: pods.max - alwaysOf(pods) }] : []))
    .sort((a, b) => a.each - b.each);
  let excess = others.reduce((total, { count }) => total + count, 0) - Math.max(left, 0);
  let unused = 0;
  for (const { each, count } of others) {
    if (excess <= 0) break;
    unused += each * Math.min(count, excess);
    excess -= count;
  }
  return sum - unused;
}
