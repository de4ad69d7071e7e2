import { priceSource, saleOf } from '../catalog/index.ts';
import { noNeeds, type Placement } from '../model/workload.ts';
import type { OwnPrices } from './custom-prices.ts';
import type { NoEstimate, SpotInstead } from './no-estimate.ts';
import type { Quote } from './offers.ts';
import type { Pricing } from './pod-price.ts';
import { sellersWithoutNodes } from './sold-in-region.ts';
import { rangeOfQuotes } from './spot-first.ts';

/**
 * Why devices that a provider may sell have no price: no machine has room for a pod, or the sheet has no price of one, at most a spot price.
 * @param on the quotes for the models on some nodes
 */
export function whyNoPrice(
  models: readonly string[],
  devices: number,
  placement: Placement,
  on: (placement: Placement, pricing: Pricing) => readonly Quote[],
  own: OwnPrices,
): NoEstimate {
  const { provider, needs, ownMachine, otherCloud, capacity } = placement;
  const alone = needs.cards === undefined ? noNeeds : { ...noNeeds, cards: needs.cards };
  const isTooLarge = on({ ...placement, needs: alone }, 'on-demand').every(({ prices }) => prices.length > 0);
  if (isTooLarge) return { kind: 'podTooLarge', needs };
  const instanceType = placement.instanceType ?? ownMachine?.name ?? null;
  const sellers = sellersWithoutNodes(models, placement, own.sheet);
  const spot = capacity === 'unknown' ? spotInstead(on(placement, 'spot')) : undefined;
  return {
    kind: 'priceUnknown',
    ...{
      models,
      devices: Math.max(devices, needs.cards ?? 0),
      instanceType,
      provider: provider ?? otherCloud ?? null,
      sellers,
    },
    ...(spot && { spot }),
  };
}

/** The spot price of a pod, if that is all that the sheet has of its machines. */
function spotInstead(quotes: readonly Quote[]): SpotInstead | undefined {
  const hourly = rangeOfQuotes(quotes);
  const prices = quotes.flatMap((one) => one.prices);
  const [first] = prices;
  // A provider that says how it sells a machine sells it in no other way.
  const isSold = prices.every(({ offer }) => saleOf(offer.instanceType)?.ways?.includes('spot') ?? true);
  if (hourly === undefined || first === undefined || !isSold) return undefined;
  return { hourly, region: first.offer.region, date: priceSource(first.offer, 'spot').date };
}
