import type { Offer, Provider } from '../catalog/index.ts';
import { defaultRegion, gpus, offers } from '../catalog/index.ts';
import type { Placement } from '../model/workload.ts';
import type { Assumption } from './assumption.ts';
import { listPrices, type OwnPrices, ownGpuPrice, ownInstancePrice } from './custom-prices.ts';

/** The capacity type at which an offer is priced. */
export type Pricing = 'on-demand' | 'spot';

/** An offer of the catalog, or the project's own price. */
export interface PricedOffer extends Omit<Offer, 'provider'> {
  /** null if the price is for the GPU itself. */
  readonly provider: Provider | null;
  /** `gpu`: the project's price for one GPU at any provider; `instance`: its price for the instance type; `discount`: a discounted list price. */
  readonly own: 'gpu' | 'instance' | 'discount' | null;
}

/** The price of one pod's devices at one provider. */
export interface PodPrice {
  readonly offer: PricedOffer;
  readonly pricing: Pricing;
  /** The share of the instance that the pod uses: its devices / devices of the instance. */
  readonly share: number;
  /** US dollars per hour for the pod. */
  readonly hourly: number;
}

export interface Quote {
  /** One price per provider, cheapest first; a single one if the provider is known; empty if no price is known. */
  readonly prices: readonly PodPrice[];
  /** For on-demand prices: the spot prices of the same providers in the same regions, cheapest first. */
  readonly spot: readonly PodPrice[];
  readonly assumptions: readonly Assumption[];
}

/**
 * The price of `devices` devices of a model on nodes that the placement allows: the price of the whole instance times the pod's share of
 * its devices. Takes the cheapest instance type for this pod, because an autoscaler would pick it. Offers without a date are a last resort.
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
  const { provider, region, instanceType, nodeGpus } = placement;
  const key = `${model} ${devices} ${provider} ${region} ${instanceType} ${nodeGpus} ${pricing}`;
  const known = quotesAt(prices);
  const found = known.get(key) ?? findQuote(model, devices, placement, pricing, prices);
  // A project has few distinct requests, but each workload repeats them at each keystroke.
  if (known.size >= 500) known.clear();
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
  const own = pricing === 'on-demand' ? ownQuote(model, devices, placement, prices) : undefined;
  if (own !== undefined) return own;
  const known = placement.provider as Provider | null;
  if (known !== null) return quoteOne(model, devices, placement, known, pricing, prices);
  const providers = [...new Set(offers({ gpu: model }).map(({ provider }) => provider))];
  const found = providers
    .map((provider) => quoteOne(model, devices, placement, provider, pricing, prices))
    .filter((one) => one.prices.some(({ offer }) => isCertain(offer)));
  const all = found.flatMap((one) => one.prices).sort(byAmount);
  const spot = found.flatMap((one) => one.spot).sort(byAmount);
  const discount = found.flatMap((one) => one.assumptions).find(({ kind }) => kind === 'discount');
  const assumptions: readonly Assumption[] = all.length > 1 ? [{ kind: 'providers' }] : [];
  return { prices: all, spot, assumptions: discount === undefined ? assumptions : [...assumptions, discount] };
}

function byAmount(a: PodPrice, b: PodPrice): number {
  return a.hourly - b.hourly;
}

/** A price for the GPU applies wherever the pod runs, unless its instance type has its own price. */
function ownQuote(model: string, devices: number, placement: Placement, prices: OwnPrices): Quote | undefined {
  const price = ownGpuPrice(prices, model);
  const { instanceType } = placement;
  if (price === undefined || (instanceType !== null && ownInstancePrice(prices, instanceType) !== undefined))
    return undefined;
  const offer: PricedOffer = {
    own: 'gpu',
    provider: null,
    instanceType: gpus.get(model)?.name ?? model,
    region: placement.region ?? '',
    gpu: model,
    gpuCount: 1,
    onDemand: price,
    spot: null,
    spotBasis: null,
    date: null,
    source: '',
  };
  return {
    prices: [{ offer, pricing: 'on-demand', share: devices, hourly: price * devices }],
    spot: [],
    assumptions: [],
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
  const instanceType = placement.provider === provider ? placement.instanceType : null;
  const offered = offers({ gpu: model, provider, ...(instanceType !== null && { instanceType }) });
  const sized = offered.filter(({ gpuCount }) => placement.nodeGpus.includes(gpuCount));
  // No known offer has this size: price it per device.
  const everywhere = (sized.length > 0 ? sized : offered).map((offer) => atOwnPrice(offer, prices));
  const region = placement.region ?? defaultRegion(provider);
  let found = cheapest(
    everywhere.filter((offer) => offer.region === region),
    devices,
    pricing,
  );
  if (found !== undefined && placement.region === null && !isEverywhere(found.offer)) {
    assumptions.push({ kind: 'region', region, from: 'default' });
  }
  if (found === undefined) {
    const usual = everywhere.filter((offer) => offer.region === defaultRegion(provider));
    found = cheapest(usual, devices, pricing) ?? cheapest(everywhere, devices, pricing);
    if (found !== undefined && !isEverywhere(found.offer)) {
      assumptions.push({ kind: 'otherRegion', pricing, region, pricedRegion: found.offer.region });
    }
  }
  if (pricing === 'on-demand' && found?.offer.own === 'discount') {
    assumptions.push({ kind: 'discount', percent: prices.discountPercent, from: 'config' });
  }
  if (found === undefined) return { prices: [], spot: [], assumptions };
  return { prices: [found], spot: pricing === 'spot' ? [] : spotOffers(found, everywhere, devices), assumptions };
}

/**
 * The cheapest spot offer in the region. Its instance type can differ from the one that is cheapest on demand, unless the placement fixes
 * the instance type.
 */
function spotOffers({ offer }: PodPrice, candidates: readonly PricedOffer[], devices: number): readonly PodPrice[] {
  const sameRegion = candidates.filter(({ region }) => region === offer.region);
  const found = cheapest(sameRegion, devices, 'spot');
  return found === undefined ? [] : [found];
}

/** The offer at the project's own price or discount. Spot prices stay as listed. */
function atOwnPrice(offer: Offer, prices: OwnPrices): PricedOffer {
  const own = ownInstancePrice(prices, offer.instanceType);
  if (own !== undefined) return { ...offer, onDemand: own, own: 'instance' };
  if (prices.discountPercent === 0 || offer.onDemand === null) return { ...offer, own: null };
  return { ...offer, onDemand: offer.onDemand * (1 - prices.discountPercent / 100), own: 'discount' };
}

/** Whether the price has a date or is the project's own. */
function isCertain({ date, own }: PricedOffer): boolean {
  return date !== null || own === 'gpu' || own === 'instance';
}

/** Some providers have one price for all regions. */
function isEverywhere(offer: PricedOffer): boolean {
  return offer.region === '' || offer.region === 'all' || offer.region === 'global';
}

function cheapest(candidates: readonly PricedOffer[], devices: number, pricing: Pricing): PodPrice | undefined {
  const prices = candidates.flatMap((offer): PodPrice[] => {
    const instanceHourly = pricing === 'spot' ? offer.spot : offer.onDemand;
    if (instanceHourly === null || offer.gpuCount < devices) return [];
    const share = devices / offer.gpuCount;
    return [{ offer, pricing, share, hourly: instanceHourly * share }];
  });
  const dated = prices.filter(({ offer }) => isCertain(offer));
  return (dated.length > 0 ? dated : prices).reduce<PodPrice | undefined>(
    (best, price) => (best === undefined || isBetter(price, best) ? price : best),
    undefined,
  );
}

/** Cheaper, or nearly equal in price with fewer idle devices: a small instance is easier to get than an eighth of a large one. */
function isBetter(price: PodPrice, best: PodPrice): boolean {
  const ratio = price.hourly / best.hourly;
  return ratio < 0.995 || (ratio < 1.005 && price.share > best.share);
}
