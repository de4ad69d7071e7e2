import type { PodSet } from '../model/workload.ts';
import type { Assumption } from './assumption.ts';
import type { NoEstimate } from './no-estimate.ts';
import { rangeOf } from './range.ts';
import type { CostBasis, Range } from './types.ts';

/** The cost of a pod set, or of one accelerator of a pod. */
export interface PodSetCost {
  readonly name: string;
  readonly pods: PodSet['pods'];
  readonly hourly: Range;
  /** Of one pod, if all of its devices count. */
  readonly pod?: Range;
  readonly spot: Range | null;
  readonly idle: Range;
  readonly isOpen: boolean;
  readonly basis: readonly CostBasis[];
  readonly assumptions: readonly Assumption[];
}

/** Whether there is a reason instead of a cost. */
export function isUnknown(cost: PodSetCost | NoEstimate): cost is NoEstimate {
  return 'kind' in cost;
}

/**
 * The cost of a pod that gets one of several: from the cheapest to the most expensive, if all are known; undefined for none.
 * @param withoutSpot models of alternatives that are left out
 * @param mayLack whether those without a price are left out, which an assumption says
 */
export function eitherOf(
  parts: readonly (PodSetCost | NoEstimate)[],
  withoutSpot: readonly string[],
  mayLack = false,
): PodSetCost | NoEstimate | undefined {
  const all = parts.filter((part): part is PodSetCost => !isUnknown(part));
  const [first] = all;
  const unpriced = parts.flatMap((part) => ('kind' in part && part.kind === 'priceUnknown' ? part : []));
  const [firstOne, ...rest] = unpriced;
  const provider = rest.every((one) => one.provider === firstOne?.provider) ? (firstOne?.provider ?? null) : null;
  const models = [...new Set([...unpriced.flatMap((one) => one.models), ...withoutSpot])];
  const isEnough = all.length === parts.length || (mayLack && unpriced.length > 0);
  if (first === undefined || !isEnough) return parts.find(isUnknown);
  const over = (ranges: readonly Range[]) => rangeOf(ranges.flatMap(({ min, max }) => [min, max])) ?? first.hourly;
  const spot = all.flatMap((one) => one.spot ?? []);
  return {
    ...first,
    hourly: over(all.map(({ hourly }) => hourly)),
    spot: spot.length < all.length ? null : over(spot),
    idle: over(all.map(({ idle }) => idle)),
    basis: all.flatMap(({ basis }) => basis),
    assumptions: [
      ...all.flatMap(({ assumptions }) => assumptions),
      ...(models.length > 0 ? [{ kind: 'unpriced', models, provider } as const] : []),
    ],
  };
}

/**
 * Of alternatives on spot only, those with a spot price, if there are some, and the models of the others: their on-demand price is not what a spot
 * machine costs.
 */
export function onSpotOnly(
  all: readonly { readonly models: readonly string[]; readonly cost: PodSetCost | NoEstimate }[],
): [parts: readonly (PodSetCost | NoEstimate)[], withoutSpot: readonly string[]] {
  const isInstead = (cost: PodSetCost | NoEstimate) =>
    !isUnknown(cost) && cost.assumptions.some(({ kind }) => kind === 'onDemand');
  const kept = all.filter(({ cost }) => !isInstead(cost));
  if (kept.every(({ cost }) => isUnknown(cost))) return [all.map(({ cost }) => cost), []];
  const left = all.filter(({ cost }) => isInstead(cost)).flatMap(({ models }) => models);
  return [kept.map(({ cost }) => cost), left];
}
