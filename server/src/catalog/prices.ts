import { lazy } from '../yaml/lazy.ts';
import { type StoredPriceGroup, sourceText, storedInterruptions, storedPrices } from './stored.ts';
import type { Offer, OfferQuery, Provider } from './types.ts';

/** The region name of providers with the same price everywhere. */
export const everywhere = 'all';

const defaultRegions: Readonly<Record<Provider, string>> = {
  aws: 'us-east-1',
  azure: 'eastus',
  gcp: 'us-central1',
  oci: 'af-johannesburg-1',
  coreweave: everywhere,
  crusoe: everywhere,
  hyperstack: everywhere,
  lambda: 'us-east-1',
  nebius: 'eu-north1',
  runpod: everywhere,
};

/**
 * The offers that match every field of a query: dated offers first, then undated ones, each by price per device, lowest first. A region also
 * matches offers for all regions. The name of a GCP N1 machine does not identify its GPU, so N1 offers are found by GPU or by machine type and
 * GPU, never by machine type alone.
 */
export function offers(query: OfferQuery): readonly Offer[] {
  const found: Offer[] = [];
  for (const group of storedPrices.groups) {
    const [provider, , gpu] = group;
    if (query.gpu !== undefined && gpu !== query.gpu) continue;
    if (query.provider !== undefined && provider !== query.provider) continue;
    if (query.instanceType !== undefined && !isType(group, query.instanceType, query.gpu)) continue;
    for (const offer of offersOf(group)) {
      if (query.region === undefined || offer.region === query.region || offer.region === everywhere) found.push(offer);
    }
  }
  return found.sort(cheaperFirst);
}

/** The dated offer with the lowest price per device and capacity type. Undated offers are never chosen. */
export function cheapestOffer(query: OfferQuery, capacity: 'on-demand' | 'spot'): Offer | undefined {
  let best: { readonly offer: Offer; readonly price: number } | undefined;
  for (const offer of offers(query)) {
    const price = pricePerDevice(offer, capacity);
    if (offer.date !== null && price !== null && (best === undefined || price < best.price)) best = { offer, price };
  }
  return best?.offer;
}

/** US dollars per hour for one device of an offer; null if the offer has no such price. */
export function pricePerDevice(offer: Offer, capacity: 'on-demand' | 'spot'): number | null {
  const price = capacity === 'spot' ? offer.spot : offer.onDemand;
  return price === null ? null : price / offer.gpuCount;
}

/** The region used for prices if none is known. */
export function defaultRegion(provider: Provider): string {
  return defaultRegions[provider];
}

/** The regions with prices of a provider, default region first; empty if one price applies everywhere. */
export function regionsOf(provider: Provider): readonly string[] {
  const preferred = defaultRegion(provider);
  const found = new Set(offers({ provider }).map(({ region }) => region));
  for (const placeholder of ['', everywhere, 'global']) found.delete(placeholder);
  const others = [...found].filter((region) => region !== preferred).sort();
  return found.has(preferred) ? [preferred, ...others] : others;
}

/** The share of spot instances that AWS reclaimed within a month, as a band such as '<5%' or '>20%', with the date of the data. */
export function interruptionBand(
  instanceType: string,
  region: string,
): { readonly band: string; readonly date: string | null; readonly source: string } | undefined {
  const band = bands().get(`${instanceType} ${region}`);
  if (band === undefined) return undefined;
  return {
    band,
    date: storedInterruptions.date,
    source: sourceText(storedInterruptions.sources, storedInterruptions.source),
  };
}

/** `pricesAsOf`: the oldest date of all dated prices. `sources`: every source of a price. */
export const catalogInfo: { readonly pricesAsOf: string; readonly sources: readonly string[] } = {
  get pricesAsOf() {
    return storedPrices.asOf.flatMap(([date]) => (date === null ? [] : [date])).sort()[0] ?? '';
  },
  get sources() {
    return storedPrices.sources;
  },
};

/** Built on a group's first query: most sessions need only a few GPUs of the catalog. */
const builtOffers = new Map<StoredPriceGroup, readonly Offer[]>();

function offersOf(group: StoredPriceGroup): readonly Offer[] {
  const built = builtOffers.get(group);
  if (built !== undefined) return built;
  const [provider, instanceType, gpu, gpuCount, parts] = group;
  const found = parts.flatMap(([place, basis, rows]) => {
    const { date, source } = priceSources()[place] ?? { date: null, source: '' };
    const spotBasis = basis === null ? null : (storedPrices.bases[basis] ?? null);
    return rows.map(([regionPlace, onDemand, spot = null, oneYear, threeYears]): Offer => {
      const region = storedPrices.regions[regionPlace] ?? '';
      const offer = { provider, instanceType, region, gpu, gpuCount, onDemand, spot, spotBasis, date, source };
      return oneYear === undefined || threeYears === undefined ? offer : { ...offer, committed: [oneYear, threeYears] };
    });
  });
  found.sort((a, b) => (a.region < b.region ? -1 : 1));
  builtOffers.set(group, found);
  return found;
}

const priceSources = lazy(() =>
  storedPrices.asOf.map(([date, places]) => ({ date, source: sourceText(storedPrices.sources, places) })),
);

const bands = lazy(() => {
  const index = new Map<string, string>();
  const { bands: names, regions, types } = storedInterruptions;
  for (const [type, byBand] of types) {
    for (const [place, list] of byBand.entries())
      for (const region of list) index.set(`${type} ${regions[region]}`, names[place] ?? '');
  }
  return index;
});

/** Dated before undated offers, then by on-demand price per device; offers with only a spot price come last, by that price. */
function cheaperFirst(left: Offer, right: Offer): number {
  const dated = Number(left.date === null) - Number(right.date === null);
  if (dated !== 0) return dated;
  const onDemand = compare(pricePerDevice(left, 'on-demand'), pricePerDevice(right, 'on-demand'));
  return onDemand !== 0 ? onDemand : compare(pricePerDevice(left, 'spot'), pricePerDevice(right, 'spot'));
}

function compare(left: number | null, right: number | null): number {
  if (left === null || right === null) return Number(left === null) - Number(right === null);
  return left - right;
}

function isType([, name]: StoredPriceGroup, instanceType: string, gpu: string | undefined): boolean {
  return name === instanceType || (gpu !== undefined && name.startsWith(`${instanceType} + `));
}
