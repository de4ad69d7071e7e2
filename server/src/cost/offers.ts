import type { Offer, PriceSheet, Provider } from '../catalog/index.ts';
import {
  defaultRegion,
  isGpuCountLabel,
  isInstanceTypeLabel,
  maxGpusPerInstance,
  offers,
  priceSource,
} from '../catalog/index.ts';
import { isAllowed } from '../model/machine-terms.ts';
import { allowedValues } from '../model/node-terms.ts';
import { once } from '../model/once.ts';
import type { Placement, PodNeeds } from '../model/workload.ts';
import type { Assumption } from './assumption.ts';
import {
  committedPrice,
  discountOn,
  listPrices,
  type OwnPrices,
  ownInstancePrice,
  ownPodPrice,
} from './custom-prices.ts';
import { fits, isPerDevice, machineOf, shareOf } from './machines.ts';

/** The capacity type at which an offer is priced. */
export type Pricing = 'on-demand' | 'spot';

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

/** The price of one pod's devices at one provider. */
export interface PodPrice {
  readonly offer: PricedOffer;
  readonly pricing: Pricing;
  /** The part of the instance that the pod takes: the largest of its shares of devices, CPU and memory. */
  readonly share: number;
  /** US dollars per hour for the pod. */
  readonly hourly: number;
}

export interface Quote {
  /** One price per provider and per instance type that the placement names, cheapest first; empty if no price is known. */
  readonly prices: readonly PodPrice[];
  /** For on-demand prices: the spot prices of the same machines; without those that have none. */
  readonly spot: readonly PodPrice[];
  /** The cheapest spot price of another machine that the placement allows, if it is lower. */
  readonly cheaperSpot: PodPrice | undefined;
  readonly assumptions: readonly Assumption[];
}

/**
 * The price of `devices` devices of a model on nodes that the placement allows: the price of a machine times the part of it that the pod takes.
 * Takes the machine with the fewest devices that the pod fits, and of these the cheapest, as an autoscaler does; if the placement names several
 * instance types, each of them. Offers without a date are a last resort.
 * @param devices devices per pod; a fraction for MIG slices and time slices
 * @param prices the project's own prices
 */
export function quote(
  model: string,
  devices: number,
  placement: Placement,
  pricing: Pricing,
  prices: OwnPrices = listPrices,
): Quote {
  const { provider, region, instanceType, nodeGpus, terms, needs } = placement;
  const key = JSON.stringify([model, devices, provider, region, instanceType, nodeGpus, terms, needs, pricing]);
  const known = quotesAt(prices);
  const found = known.get(key) ?? findQuote(model, devices, placement, pricing, prices);
  // A project has few distinct requests, but each workload repeats them at each keystroke.
  if (known.size >= 5000) known.clear();
  known.set(key, found);
  return found;
}

const quotes = new WeakMap<OwnPrices, Map<string, Quote>>();

function quotesAt(prices: OwnPrices): Map<string, Quote> {
  const known = quotes.get(prices) ?? new Map<string, Quote>();
  quotes.set(prices, known);
  return known;
}

function findQuote(model: string, devices: number, placement: Placement, pricing: Pricing, prices: OwnPrices): Quote {
  const own = ownQuote(model, devices, placement, pricing, prices);
  if (own !== undefined) return own;
  const known = placement.provider as Provider | null;
  if (known !== null) return quoteOne(model, devices, placement, known, pricing, prices);
  const found = providersOf(offers({ gpu: model }, prices.sheet))
    .map((provider) => quoteOne(model, devices, placement, provider, pricing, prices))
    .filter((one) => one.prices.some(isCertain));
  const all = found.flatMap((one) => one.prices).sort(byAmount);
  const spot = found.flatMap((one) => one.spot).sort(byAmount);
  const [cheaperSpot] = found.flatMap((one) => one.cheaperSpot ?? []).sort(byAmount);
  const terms = found.flatMap((one) =>
    one.assumptions.filter(({ kind }) => kind === 'discount' || kind === 'commitment'),
  );
  return {
    prices: all,
    spot,
    cheaperSpot:
      cheaperSpot !== undefined && cheaperSpot.hourly < (spot[0]?.hourly ?? Infinity) ? cheaperSpot : undefined,
    assumptions: [...(all.length > 1 ? [{ kind: 'providers' } as const] : []), ...terms],
  };
}

const providersOf = once((all: readonly Offer[]): readonly Provider[] => [
  ...new Set(all.map(({ provider }) => provider)),
]);

function byAmount(a: PodPrice, b: PodPrice): number {
  return a.hourly - b.hourly;
}

/** A price for the devices applies wherever the pod runs, unless its instance type has its own price. */
function ownQuote(
  model: string,
  devices: number,
  placement: Placement,
  pricing: Pricing,
  prices: OwnPrices,
): Quote | undefined {
  const own = ownPodPrice(prices, model, devices, placement, pricing);
  if (own === undefined) return undefined;
  const { kind, name, hourly, share } = own;
  const spot = pricing === 'spot' ? undefined : ownPodPrice(prices, model, devices, placement, 'spot');
  const offer: PricedOffer = {
    own: 'gpu',
    provider: null,
    instanceType: name,
    region: placement.region ?? '',
    gpu: model,
    gpuCount: 1,
    onDemand: pricing === 'spot' ? null : hourly,
    spot: pricing === 'spot' ? hourly : (spot?.hourly ?? null),
    spotBasis: null,
    date: null,
    source: '',
  };
  return {
    prices: [{ offer, pricing, share, hourly: hourly * share }],
    spot: spot === undefined ? [] : [{ offer, pricing: 'spot', share, hourly: spot.hourly * spot.share }],
    cheaperSpot: undefined,
    assumptions: kind === 'gpu' ? [] : [{ kind, from: 'config' }],
  };
}

function quoteOne(
  model: string,
  devices: number,
  placement: Placement,
  provider: Provider,
  pricing: Pricing,
  prices: OwnPrices,
): Quote {
  const assumptions: Assumption[] = [];
  const offered = allowedOffers(model, placement, provider, prices.sheet);
  const priced = (some: readonly Offer[]) => some.map(atOwnPrices(prices));
  const region = placement.region ?? defaultRegion(provider);
  const request: Request = { devices, needs: placement.needs, each: namesSeveralTypes(placement) };
  let candidates = priced(offered.filter((offer) => offer.region === region || isEverywhere(offer)));
  let found = chosen(candidates, request, pricing);
  const [first] = found;
  if (first !== undefined && placement.region === null && !isEverywhere(first.offer)) {
    assumptions.push({ kind: 'region', region, from: 'default' });
  }
  if (first === undefined) {
    const everywhere = priced(offered);
    const usual = everywhere.filter((offer) => offer.region === defaultRegion(provider));
    found = chosen(usual, request, pricing);
    if (found.length === 0) found = chosen(everywhere, { ...request, each: false }, pricing);
    const [other] = found;
    candidates = other === undefined ? [] : everywhere.filter((offer) => offer.region === other.offer.region);
    if (other !== undefined && !isEverywhere(other.offer)) {
      assumptions.push({ kind: 'otherRegion', pricing, region, pricedRegion: other.offer.region });
    }
  }
  if (pricing === 'on-demand') assumptions.push(...ownTerms(found, prices));
  const spot = pricing === 'spot' ? [] : found.flatMap(({ offer }) => priceOn(offer, request, 'spot') ?? []);
  const [best] = chosen(candidates, { ...request, each: true }, 'spot');
  const [shown] = pricing === 'spot' ? found : spot;
  const isCheaper = best !== undefined && best.hourly < 0.995 * (shown?.hourly ?? Infinity);
  return { prices: found, spot, cheaperSpot: isCheaper ? best : undefined, assumptions };
}

/** The offers of a provider for a model, on the machines that the placement allows. */
function allowedOffers(
  model: string,
  { terms, nodeGpus }: Placement,
  provider: Provider,
  sheet: PriceSheet,
): readonly Offer[] {
  const all = offers({ gpu: model, provider }, sheet);
  if (terms.length === 0) return usualOffers(all);
  const named = allowedValues(terms, isInstanceTypeLabel) ?? [];
  const offered = all.filter((offer) => isUsual(offer) || named.includes(offer.instanceType));
  const allowed = offered.filter((offer) => isPerDevice(offer) || isAllowed(terms, machineOf(offer)));
  if (allowed.length > 0 || nodeGpus.length === 0) return allowed;
  // No known machine has this number of devices: price it per device.
  const others = terms.map((term) => term.filter(({ key }) => !isGpuCountLabel(key)));
  return offered.filter((offer) => isAllowed(others, machineOf(offer)));
}

/** A machine with a part of a card, or in a few places only, is taken only by name. */
function isUsual({ gpuCount, instanceType }: Offer): boolean {
  return gpuCount >= 1 && !instanceType.startsWith('a3-edgegpu');
}

const usualOffers = once((all: readonly Offer[]): readonly Offer[] => all.filter(isUsual));

/** The discounts and the commitment behind prices. */
function ownTerms(found: readonly PodPrice[], prices: OwnPrices): readonly Assumption[] {
  return found.flatMap(({ offer: { own, provider, instanceType } }): Assumption[] => {
    if (own === 'commitment') return [{ kind: 'commitment', term: prices.commitment ?? '1-year', from: 'config' }];
    if (own !== 'discount' || provider === null) return [];
    return [{ kind: 'discount', percent: discountOn(prices, provider, instanceType), from: 'config' }];
  });
}

function namesSeveralTypes({ terms }: Placement): boolean {
  return (allowedValues(terms, isInstanceTypeLabel)?.length ?? 0) > 1;
}

/** What one pod asks of a machine. */
interface Request {
  readonly devices: number;
  readonly needs: PodNeeds;
  /** Whether each instance type has its own price; otherwise the best one counts. */
  readonly each: boolean;
}

const atOwnPrices = once((prices: OwnPrices) => once((offer: Offer) => atOwnPrice(offer, prices)));

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

/** Whether the price has a date or is the project's own. */
export function isCertain({ offer, pricing }: Pick<PodPrice, 'offer' | 'pricing'>): boolean {
  return priceSource(offer, pricing).date !== null || offer.own === 'gpu' || offer.own === 'instance';
}

/** Some providers have one price for all regions. */
export function isEverywhere(offer: Pick<PricedOffer, 'region'>): boolean {
  return offer.region === '' || offer.region === 'all' || offer.region === 'global';
}

/** The prices of a pod on the machines that it fits, cheapest first: of each instance type, or of the best one. */
function chosen(candidates: readonly PricedOffer[], request: Request, pricing: Pricing): readonly PodPrice[] {
  const all = candidates.flatMap((offer) => priceOn(offer, request, pricing) ?? []);
  const dated = all.filter(isCertain);
  const known = dated.length > 0 ? dated : all;
  const roomy = known.filter(({ offer }) => fits(request.needs, machineOf(offer as Offer)));
  const prices = roomy.length > 0 ? roomy : known;
  if (request.each) return [...prices].sort(byAmount);
  const cards = ({ offer }: PodPrice) => cardsOf(offer, request.devices);
  const fewest = Math.min(...prices.map(cards));
  const [best] = prices.filter((price) => cards(price) === fewest).sort(byAmount);
  return best === undefined ? [] : [best];
}

/** The devices of a machine; a price per device is for as many as the pod requests. */
function cardsOf(offer: PricedOffer, devices: number): number {
  if (!isPerDevice(offer)) return Math.max(1, offer.gpuCount);
  // No node has more of them than the largest known machine.
  return Math.min(Math.max(1, Math.ceil(devices)), maxGpusPerInstance(offer.gpu) ?? devices);
}

/** The price of a pod on a machine; undefined if the machine has too few devices or no such price. */
function priceOn(offer: PricedOffer, { devices, needs }: Request, pricing: Pricing): PodPrice | undefined {
  const instanceHourly = pricing === 'spot' ? offer.spot : offer.onDemand;
  // The node of a fractional machine reports its part of a card as one device.
  const cards = cardsOf(offer, devices);
  if (instanceHourly === null || cards < devices) return undefined;
  const share = isPerDevice(offer) ? devices : shareOf(devices, needs, machineOf(offer as Offer), cards);
  return { offer, pricing, share, hourly: instanceHourly * share };
}

/** The machines that a placement allows, with their prices in its region or the default one, cheapest first. */
export function pricesOfMachines(
  models: readonly string[],
  placement: Placement,
  pricing: Pricing,
  prices: OwnPrices,
): readonly PricedOffer[] {
  const hourly = (offer: PricedOffer) => (pricing === 'spot' ? offer.spot : offer.onDemand);
  const found = models.flatMap((model) => {
    const { provider, region } = placement;
    const all = provider === null ? [] : allowedOffers(model, placement, provider as Provider, prices.sheet);
    const place = region ?? (provider === null ? '' : defaultRegion(provider as Provider));
    return all.map(atOwnPrices(prices)).filter((offer) => offer.region === place || isEverywhere(offer));
  });
  return found
    .filter((offer) => hourly(offer) !== null && !isPerDevice(offer))
    .sort((a, b) => (hourly(a) ?? 0) - (hourly(b) ?? 0));
}
