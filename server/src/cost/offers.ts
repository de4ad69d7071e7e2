import type { Offer, Provider } from '../catalog/index.ts';
import { defaultRegion, gpus, offers } from '../catalog/index.ts';
import type { Placement } from '../model/workload.ts';
import type { Assumption } from './assumption.ts';
import { listPrices, type OwnPrices, ownGpuPrice, ownInstancePrice } from './custom-prices.ts';

/** Whether the capacity that an offer is taken at is on-demand or spot. */
export type Pricing = 'on-demand' | 'spot';

/** An offer of the catalogue, or the price that a project pays. */
export interface PricedOffer extends Omit<Offer, 'provider'> {
  /** null where the price is one for the GPU itself. */
  readonly provider: Provider | null;
  /** `gpu`: a price of the project's for one GPU, wherever it is; `instance`: one for the machine; `discount`: less than the list price. */
  readonly own: 'gpu' | 'instance' | 'discount' | null;
}

/** What one pod's devices cost at one provider. */
export interface PodPrice {
  readonly offer: PricedOffer;
  readonly pricing: Pricing;
  /** The part of the instance that the pod takes: devices / devices of the instance. */
  readonly share: number;
  /** Dollars an hour for the pod. */
  readonly hourly: number;
}

export interface Quote {
  /** One price a provider, cheapest first; a single one where the provider is known. Empty: no price is known. */
  readonly prices: readonly PodPrice[];
  /** With on-demand prices: what the same providers charge in the same regions on spot, cheapest first; none where they have no spot price. */
  readonly spot: readonly PodPrice[];
  readonly assumptions: readonly Assumption[];
}

/**
 * The price of `devices` devices of a model on nodes that the placement allows: the whole instance's price, apportioned to the
 * devices that the pod takes of it. Of several instance types the one that is cheapest for this pod is taken, for that is
 * what an autoscaler would pick; offers without a date are taken only where there is no other.
 * @param devices devices per pod; a fraction for MIG slices and time slices
 * @param prices what the project pays where that is not the list price
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
  // A project requests few different things, many times over: once for each workload and each keystroke.
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

/** A price for the GPU itself holds wherever the pod runs, unless the machine has a price of its own. */
function ownQuote(model: string, devices: number, placement: Placement, prices: OwnPrices): Quote | undefined {
  const price = ownGpuPrice(prices, model);
  const machine = placement.instanceType;
  if (price === undefined || (machine !== null && ownInstancePrice(prices, machine) !== undefined)) return undefined;
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
  // A size that nobody is known to sell is priced by the card.
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
      assumptions.push({ kind: 'otherRegion', pricing, wanted: region, region: found.offer.region });
    }
  }
  if (pricing === 'on-demand' && found?.offer.own === 'discount') {
    assumptions.push({ kind: 'discount', percent: prices.discountPercent, from: 'config' });
  }
  if (found === undefined) return { prices: [], spot: [], assumptions };
  return { prices: [found], spot: pricing === 'spot' ? [] : spotOffers(found, everywhere, devices), assumptions };
}

/**
 * Who turns to spot takes the cheapest spot offer, which need not be of the machine that is cheapest on demand. The machine is the same
 * where it is known, because then there are no others to choose from.
 */
function spotOffers({ offer }: PodPrice, machines: readonly PricedOffer[], devices: number): readonly PodPrice[] {
  const near = machines.filter(({ region }) => region === offer.region);
  const found = cheapest(near, devices, 'spot');
  return found === undefined ? [] : [found];
}

/** The offer as the project pays it. Spot prices are what the market charges. */
function atOwnPrice(offer: Offer, prices: OwnPrices): PricedOffer {
  const own = ownInstancePrice(prices, offer.instanceType);
  if (own !== undefined) return { ...offer, onDemand: own, own: 'instance' };
  if (prices.discountPercent === 0 || offer.onDemand === null) return { ...offer, own: null };
  return { ...offer, onDemand: offer.onDemand * (1 - prices.discountPercent / 100), own: 'discount' };
}

/** A price with a date, or the project's own price. */
function isCertain({ date, own }: PricedOffer): boolean {
  return date !== null || own === 'gpu' || own === 'instance';
}

/** Some providers have one price in all their regions. */
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

/** Cheaper, or as good as equal in price and closer to what the pod takes: an eighth of a big machine is harder to get than a small one. */
function isBetter(price: PodPrice, best: PodPrice): boolean {
  const ratio = price.hourly / best.hourly;
  return ratio < 0.995 || (ratio < 1.005 && price.share > best.share);
}
