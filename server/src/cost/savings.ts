import type { CostEstimate, Range } from './types.ts';

// What following an advice saves, in US dollars an hour over a day.

/**
 * What replicas that stay up with no traffic cost, over the hours without traffic.
 * @param hourly of the replicas
 * @param idleHours of a day; null: all of them
 */
export function idleSaving(hourly: number, idleHours: number | null): number {
  return (hourly * (idleHours ?? 24)) / 24;
}

/** Spot capacity in place of on-demand. */
export interface SpotSaving {
  readonly hourly: Range;
  /** At the least that both may cost. */
  readonly saving: number;
}

/** Undefined where no spot price is known, or none that is surely lower. */
export function spotSaving({ hourly, spotHourly }: CostEstimate): SpotSaving | undefined {
  if (spotHourly === null || hourly.min <= 0 || spotHourly.min <= 0 || spotHourly.max >= hourly.max) return undefined;
  return { hourly: spotHourly, saving: hourly.min - spotHourly.min };
}

/** What a part of what is held costs less than all of it: one of several GPUs, or a slice of one. */
export function partSaving(hourly: number, part: number): number {
  return hourly * (1 - part);
}
