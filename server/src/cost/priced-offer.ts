import type { Offer, Provider } from '../catalog/index.ts';
import { once } from '../model/once.ts';
import type { Assumption } from './assumption.ts';
import { committedPrice, discountOn, type OwnPrices, ownInstancePrice } from './custom-prices.ts';

/** An offer of the catalog, or the project's own price. */
export interface PricedOffer extends Omit<Offer, 'provider'> {
  /** null if the price is for the GPU itself. */
  readonly provider: Provider | null;
  /**
   * `gpu`: the project's price for the devices at any provider; `instance`: its price for the instance type; `discount`: a discounted list price;
   * `commitment`: the list price for committed use.
   */
  readonly own: 'gpu' | 'instance' | 'discount' | 'commitment' | null;
}

/** The discounts and the commitment behind prices, or that the sheet has no price for the commitment. */
export function ownTerms(found: readonly { readonly offer: PricedOffer }[], prices: OwnPrices): readonly Assumption[] {
  return found.flatMap(({ offer: { own, provider, instanceType } }): Assumption[] => {
    if (own === 'commitment') return [{ kind: 'commitment', term: prices.commitment ?? '1-year', from: 'config' }];
    const without: Assumption[] =
      prices.commitment === null || own === 'instance' || own === 'gpu' ? [] : [{ kind: 'noCommitment', instanceType }];
    if (own !== 'discount' || provider === null) return without;
    return [...without, { kind: 'discount', percent: discountOn(prices, provider, instanceType), from: 'config' }];
  });
}

/** The offer at the project's own prices; computed once for each. */
export const atOwnPrices = once((prices: OwnPrices) => once((offer: Offer) => atOwnPrice(offer, prices)));

/** The offer at the project's own price or discount. Spot prices stay as listed. */
function atOwnPrice(offer: Offer, prices: OwnPrices): PricedOffer {
  const own = ownInstancePrice(prices, offer.instanceType);
  if (own !== undefined) return { ...offer, onDemand: own, own: 'instance' };
  const committed = committedPrice(prices, offer);
  if (committed !== undefined) return { ...offer, ...offer.committedFrom, onDemand: committed, own: 'commitment' };
  const percent = discountOn(prices, offer.provider, offer.instanceType);
  if (percent === 0 || offer.onDemand === null) return { ...offer, own: null };
  return { ...offer, onDemand: offer.onDemand * (1 - percent / 100), own: 'discount' };
}

/** Some providers have one price for all regions. */
export function isEverywhere(offer: Pick<PricedOffer, 'region'>): boolean {
  return offer.region === '' || offer.region === 'all' || offer.region === 'global';
}
