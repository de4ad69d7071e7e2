import type { Offer, Provider } from '../catalog/index.ts';
import { defaultRegion, offers } from '../catalog/index.ts';
import type { Placement } from '../model/workload.ts';

/** Whether the capacity that an offer is taken at is on-demand or spot. */
export type Pricing = 'on-demand' | 'spot';

/** What one pod's devices cost at one provider. */
export interface PodPrice {
  readonly offer: Offer;
  readonly pricing: Pricing;
  /** The part of the instance that the pod takes: devices / devices of the instance. */
  readonly share: number;
  /** Dollars an hour for the pod. */
  readonly hourly: number;
}

export interface Quote {
  /** One price a provider, cheapest first; a single one where the provider is told. Empty: no price is known. */
  readonly prices: readonly PodPrice[];
  readonly assumptions: readonly string[];
}

/**
 * The price of `devices` devices of a model on nodes that the placement allows: the whole instance's price, apportioned to the
 * devices that the pod takes of it. Of several instance types the one that is cheapest for this pod is taken, for that is
 * what an autoscaler would pick; offers without a date are taken only where there is no other.
 * @param devices devices per pod; a fraction for MIG slices and time slices
 */
export function quote(model: string, devices: number, placement: Placement, pricing: Pricing): Quote {
  const { provider, region, instanceType } = placement;
  const key = `${model} ${devices} ${provider} ${region} ${instanceType} ${pricing}`;
  const known = quotes.get(key) ?? findQuote(model, devices, placement, pricing);
  // A project asks for few different things, many times over: once for each workload and each keystroke.
  if (quotes.size >= 500) quotes.clear();
  quotes.set(key, known);
  return known;
}

const quotes = new Map<string, Quote>();

/** The same machines on spot, so that the two prices can be compared; nothing for those without a spot price. */
export function spotOf(onDemand: Quote): Quote {
  const prices = onDemand.prices.flatMap(({ offer, share }): PodPrice[] =>
    offer.spot === null ? [] : [{ offer, pricing: 'spot', share, hourly: offer.spot * share }],
  );
  return { prices, assumptions: [] };
}

function findQuote(model: string, devices: number, placement: Placement, pricing: Pricing): Quote {
  const told = placement.provider as Provider | null;
  if (told !== null) return quoteOne(model, devices, placement, told, pricing);
  const providers = [...new Set(offers({ gpu: model }).map(({ provider }) => provider))];
  const prices = providers
    .flatMap((provider) => quoteOne(model, devices, placement, provider, pricing).prices)
    .filter(({ offer }) => offer.date !== null)
    .sort((a, b) => a.hourly - b.hourly);
  const assumptions =
    prices.length > 1
      ? ['Provider not told: from the cheapest provider to the dearest, each with its cheapest offer']
      : [];
  return { prices, assumptions };
}

function quoteOne(model: string, devices: number, placement: Placement, provider: Provider, pricing: Pricing): Quote {
  const assumptions: string[] = [];
  const instanceType = placement.provider === provider ? placement.instanceType : null;
  const everywhere = offers({ gpu: model, provider, ...(instanceType !== null && { instanceType }) });
  const region = placement.region ?? defaultRegion(provider);
  let found = cheapest(
    everywhere.filter((offer) => offer.region === region),
    devices,
    pricing,
  );
  if (found !== undefined && placement.region === null && !isEverywhere(found.offer)) {
    assumptions.push(`Region not told: ${region}`);
  }
  if (found === undefined) {
    const usual = everywhere.filter((offer) => offer.region === defaultRegion(provider));
    found = cheapest(usual, devices, pricing) ?? cheapest(everywhere, devices, pricing);
    if (found !== undefined && !isEverywhere(found.offer)) {
      assumptions.push(`No ${pricing} price for ${region}: ${found.offer.region} instead`);
    }
  }
  return { prices: found === undefined ? [] : [found], assumptions };
}

/** Some providers have one price in all their regions. */
function isEverywhere(offer: Offer): boolean {
  return offer.region === '' || offer.region === 'all' || offer.region === 'global';
}

function cheapest(candidates: readonly Offer[], devices: number, pricing: Pricing): PodPrice | undefined {
  const prices = candidates.flatMap((offer): PodPrice[] => {
    const instanceHourly = pricing === 'spot' ? offer.spot : offer.onDemand;
    if (instanceHourly === null || offer.gpuCount < devices) return [];
    const share = devices / offer.gpuCount;
    return [{ offer, pricing, share, hourly: instanceHourly * share }];
  });
  const dated = prices.filter(({ offer }) => offer.date !== null);
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
