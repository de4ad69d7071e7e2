import type { CostEstimate, Range } from './types.ts';

// The savings from following advice, in US dollars per hour, averaged over a day.

/**
 * The cost of idle replicas during the hours without traffic.
 * @param hourly cost of the replicas
 * @param idleHours per day; null: all hours
 */
export function idleSaving(hourly: number, idleHours: number | null): number {
  return (hourly * (idleHours ?? 24)) / 24;
}

/** Spot capacity instead of on-demand capacity. */
export interface SpotSaving {
  readonly hourly: Range;
  /** Between the lower ends of both ranges. */
  readonly saving: number;
}

/** Undefined if the spot price is unknown or not certainly lower. */
export function spotSaving({ hourly, spotHourly }: CostEstimate): SpotSaving | undefined {
  if (spotHourly === null || hourly.min <= 0 || spotHourly.min <= 0 || spotHourly.max >= hourly.max) return undefined;
  return { hourly: spotHourly, saving: hourly.min - spotHourly.min };
}

/** The saving of keeping only a part: one of several GPUs, or a slice of a GPU. */
export function partSaving(hourly: number, part: number): number {
  return hourly * (1 - part);
}
