import type { Offer, PriceSheet, Provider } from '../catalog/index.ts';
import { defaultRegion, gpusInLabel, hasNodes, isInstanceTypeLabel, offers, regionsOf } from '../catalog/index.ts';
import { allowedValues, type NodeRequirement, type NodeTerm } from '../model/node-terms.ts';
import { once } from '../model/once.ts';
import { regionKey } from '../model/placement.ts';
import type { Placement } from '../model/workload.ts';
import { allowedOffers } from './allowed-offers.ts';
import type { Assumption } from './assumption.ts';
import { listPrices, type OwnPrices, ownPodPrice } from './custom-prices.ts';
import { byAmount, chosen, isCertain, type PodPrice, type Pricing, priceOn, type Request } from './pod-price.ts';
import { atOwnPrices, isEverywhere, ownTerms, type PricedOffer } from './priced-offer.ts';
import { signedPlace } from './signed-place.ts';

/** The known prices of one pod's devices, with what they assume. */
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
  const { provider, providers, otherCloud, ownMachine, region, regions, instanceType, nodeGpus, terms, needs } =
    placement;
  const sign = placement.sign?.();
  const key = JSON.stringify([
    [model, devices, pricing, instanceType, nodeGpus, terms, needs],
    [provider, providers, otherCloud, ownMachine, sign, region, regions],
  ]);
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
  if (known !== null) {
    const near = signedPlace(placement, prices.sheet);
    const found = quoteAt(model, devices, near ?? placement, known, pricing, prices);
    const sign = placement.sign?.();
    if (near === undefined || sign === undefined) return found;
    return { ...found, assumptions: [{ kind: 'sign', sign, isRegion: true }, ...found.assumptions] };
  }
  // A machine of a cloud that the catalog lacks costs what that cloud charges, not what the cheapest other one does.
  if (placement.ownMachine !== undefined || placement.otherCloud !== undefined) return noQuote;
  const { providers, tool } = placement;
  const sign = placement.sign?.();
  const where = signedPlace(placement, prices.sheet);
  const there = where && quoteAt(model, devices, where, where.provider as Provider, pricing, prices);
  if (sign !== undefined && there !== undefined && there.prices.length > 0)
    return { ...there, assumptions: [{ kind: 'sign', sign }, ...there.assumptions] };
  const sellers = providersOf(offers({ gpu: model }, prices.sheet)).filter((one) =>
    providers === undefined ? hasNodes(one) : providers.includes(one),
  );
  const inRegion = providersIn(placement, sellers, prices.sheet);
  const found = inRegion.map((provider) => quoteAt(model, devices, placement, provider, pricing, prices));
  const certain = found.filter((one) => one.prices.some(isCertain));
  // The region may be that of a provider whose prices have no date.
  const all = joined(certain.length === 0 && inRegion.length < sellers.length ? found : certain);
  const terms = all.assumptions.filter(({ kind }) => kind === 'discount' || kind === 'commitment');
  const isChoice = all.prices.length > 1 || (tool !== undefined && all.prices.length > 0);
  return {
    ...all,
    assumptions: [...(isChoice ? [{ kind: 'providers', ...(tool && { tool }) } as const] : []), ...terms],
  };
}

const noQuote: Quote = { prices: [], spot: [], cheaperSpot: undefined, assumptions: [] };

/** Every price of several quotes. */
function joined(quotes: readonly Quote[]): Quote {
  const spot = quotes.flatMap((one) => one.spot).sort(byAmount);
  const [cheaper] = quotes.flatMap((one) => one.cheaperSpot ?? []).sort(byAmount);
  return {
    // A region without prices has those of another one.
    prices: [...new Map(quotes.flatMap((one) => one.prices).map((price) => [price.offer, price])).values()].sort(
      byAmount,
    ),
    spot,
    cheaperSpot: cheaper !== undefined && cheaper.hourly < (spot[0]?.hourly ?? Infinity) ? cheaper : undefined,
    assumptions: quotes.flatMap((one) => one.assumptions),
  };
}

/** The providers that have the regions of the pods; all if none has them. */
function providersIn(placement: Placement, all: readonly Provider[], sheet: PriceSheet): readonly Provider[] {
  const { providers, tool, region, regions } = placement;
  const wanted = regions ?? (region === null ? [] : [region]);
  if (wanted.length === 0) return all;
  const found = all.filter((provider) => {
    const own = regionsOf(provider, sheet);
    // Some of the providers that a manifest names have no regions.
    return (
      wanted.some((one) => own.includes(one)) || (providers !== undefined && tool === undefined && own.length === 0)
    );
  });
  return found.length === 0 ? all : found;
}

/** The quote in each region of the placement. */
function quoteAt(
  model: string,
  devices: number,
  placement: Placement,
  provider: Provider,
  pricing: Pricing,
  prices: OwnPrices,
): Quote {
  const [first = placement.region, ...others] = (placement.region === null ? placement.regions : undefined) ?? [];
  const at = (region: string | null) => {
    const terms = placement.terms.filter((term) => isIn(term, region));
    if (terms.length === 0 && placement.terms.length > 0) return noQuote;
    const each = byLabel(model, terms).map((some) =>
      quoteOne(model, devices, { ...placement, region, terms: some }, provider, pricing, prices),
    );
    const [first = noQuote, ...others] = each.filter((one) => one.prices.length > 0);
    return others.length === 0 ? first : { ...joined([first, ...others]), assumptions: first.assumptions };
  };
  return others.length === 0 ? at(first) : joined([first, ...others].map(at));
}

/** The terms for each label of a card. GKE has two for one card, on different machines: `nvidia-h100-80gb` and `nvidia-h100-mega-80gb`. */
function byLabel(model: string, terms: readonly NodeTerm[]): readonly (readonly NodeTerm[])[] {
  const named = allowedValues(terms, (key) => key === cardLabel) ?? [];
  const labels = named.filter((value) => gpusInLabel(cardLabel, value).some(({ id }) => id === model));
  if (labels.length < 2) return [terms];
  return labels.map((label) =>
    terms
      .map((term) => term.map((one) => (isCardIn(one, label) ? { ...one, values: [label] } : one)))
      .filter((_, index) => terms[index]?.some((one) => isCardIn(one, label))),
  );
}

function isCardIn({ key, operator, values }: NodeRequirement, label: string): boolean {
  return key === cardLabel && operator === 'In' && values.includes(label);
}

const cardLabel = 'cloud.google.com/gke-accelerator';

/** Whether a term allows a region. */
function isIn(term: NodeTerm, region: string | null): boolean {
  return term.every(({ key, values }) => key !== regionKey || region === null || values.includes(region));
}

const providersOf = once((all: readonly Offer[]): readonly Provider[] => [
  ...new Set(all.map(({ provider }) => provider)),
]);

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
    const isOwn = found.length > 0 && pricing === 'on-demand' && found.every(({ offer }) => offer.own === 'instance');
    // The project's own price of a machine applies in all regions; the spot price of another region does not apply here.
    if (isOwn) found = found.map((one) => ({ ...one, offer: { ...one.offer, region, spot: null } }));
    candidates = other === undefined || isOwn ? [] : everywhere.filter(({ region: at }) => at === other.offer.region);
    if (other !== undefined && !isOwn && !isEverywhere(other.offer)) {
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

function namesSeveralTypes({ terms }: Placement): boolean {
  return (allowedValues(terms, isInstanceTypeLabel)?.length ?? 0) > 1;
}
