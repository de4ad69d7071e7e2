import type { OwnPrices } from './custom-prices.ts';
import type { CostBasis } from './types.ts';

/**
 * The age in days of the oldest list price behind some amounts, if it is above the limit of the config; null otherwise, and where the current
 * date is unknown.
 */
export function oldPriceAge(
  basis: readonly Pick<CostBasis, 'asOf'>[],
  { today, maxAgeDays }: Pick<OwnPrices, 'today' | 'maxAgeDays'>,
): number | null {
  if (today === null || maxAgeDays === 0) return null;
  const [oldest] = basis.flatMap(({ asOf }) => asOf ?? []).sort();
  const age = oldest === undefined ? 0 : daysBetween(oldest, today);
  return age > maxAgeDays ? age : null;
}

/** Whole days from one date (YYYY-MM-DD) to another; 0 if one of them is not a date. */
export function daysBetween(from: string, to: string): number {
  const days = (Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / 86_400_000;
  return Number.isFinite(days) ? Math.round(days) : 0;
}

/** `Prices are up to 125 days old: …`, with what updates them. */
export function oldPriceWords(age: number): string {
  return `Prices are up to ${age} days old: "gpulint prices refresh" updates them`;
}
