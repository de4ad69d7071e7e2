import { interruptionBand } from '../catalog/index.ts';
import type { AcceleratorRequest, PodAccelerator, PodSet } from '../model/workload.ts';
import { listPrices, type OwnPrices } from './custom-prices.ts';
import { acceleratorsOf } from './estimate.ts';
import { quote } from './offers.ts';
import type { PodPrice, Pricing } from './pod-price.ts';
import { rangeOf, sumOf } from './range.ts';
import type { Range } from './types.ts';

/** The hourly price of one pod on demand and on spot. */
export interface CapacityPrices {
  readonly onDemand: Range | undefined;
  readonly spot: Range | undefined;
  /** The spot discount, from 0 to 1; null if either price is a range or spot is not cheaper. */
  readonly spotDiscount: number | null;
  /** How often the provider reclaimed the instance types of the spot price. */
  readonly interruptions: readonly Interruptions[];
}

/** The share of its spot nodes that a provider reclaimed within a month; only AWS publishes it. */
export interface Interruptions {
  readonly provider: string;
  readonly instanceType: string;
  readonly region: string;
  /** `5-10%`, `>20%`. */
  readonly band: string;
  readonly date: string | null;
  readonly source: string;
}

/** The prices of one pod on demand and on spot, in US dollars per hour, and what spot saves. Undefined parts are unknown. */
export function capacityPrices(podSet: PodSet, prices: OwnPrices = listPrices): CapacityPrices {
  const spotPrices = podPrices(podSet, 'spot', prices);
  const onDemand = rangeOfPod(podPrices(podSet, 'on-demand', prices));
  const spot = rangeOfPod(spotPrices);
  const single = onDemand !== undefined && spot !== undefined && isSingle(onDemand) && isSingle(spot);
  const discount = single && onDemand.min > 0 ? 1 - spot.min / onDemand.min : 0;
  return {
    onDemand,
    spot,
    spotDiscount: discount > 0 ? discount : null,
    interruptions: interruptionsOf(spotPrices.flat()),
  };
}

function isSingle({ min, max }: Range): boolean {
  return min === max;
}

/** The prices of each accelerator that a pod requests; empty if one of them has no price. */
function podPrices(podSet: PodSet, pricing: Pricing, own: OwnPrices): readonly (readonly PodPrice[])[] {
  const prices = acceleratorsOf(podSet).map(({ model, devices }) =>
    model === null || devices === null ? [] : quote(model, devices, podSet.placement, pricing, own).prices,
  );
  return prices.some((some) => some.length === 0) ? [] : prices;
}

function rangeOfPod(prices: readonly (readonly PodPrice[])[]): Range | undefined {
  const ranges = prices.flatMap((some) => rangeOf(some.map(({ hourly }) => hourly)) ?? []);
  return ranges.length === 0 ? undefined : sumOf(ranges);
}

function interruptionsOf(prices: readonly PodPrice[]): readonly Interruptions[] {
  return prices.flatMap(({ offer: { provider, instanceType, region } }) => {
    const known = provider === 'aws' ? interruptionBand(instanceType, region) : undefined;
    return known === undefined ? [] : [{ provider: 'aws', instanceType, region, ...known }];
  });
}

/**
 * The hourly price of one request's accelerators on the capacity type of its pod; undefined if the model or its price is unknown.
 * @param accelerator the same resource in the pod
 */
export function requestPrice(
  { placement }: PodSet,
  { count }: AcceleratorRequest,
  { model, perPod, devices }: PodAccelerator,
  own: OwnPrices,
): Range | undefined {
  if (model === null || !perPod || devices === null || !count) return undefined;
  const pricing = placement.capacity === 'spot' ? 'spot' : 'on-demand';
  const { prices } = quote(model, (devices * count) / perPod, placement, pricing, own);
  return rangeOf(prices.map(({ hourly }) => hourly));
}
