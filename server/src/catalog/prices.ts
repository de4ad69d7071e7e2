import { lazy } from '../yaml/lazy.ts';
import { once } from '../yaml/once.ts';
import { allInstanceTypes } from './instances.ts';
import { catalogPrices, everywhere, machineKey, type PriceSheet, withFetched } from './price-sheet.ts';
import { type StoredPriceGroup, sourceText, storedInterruptions, storedPrices } from './stored.ts';
import type { Offer, OfferQuery, Provider, Source } from './types.ts';

const defaultRegions: Readonly<Record<Provider, string>> = {
  aws: 'us-east-1',
  azure: 'eastus',
  gcp: 'us-central1',
  oci: everywhere,
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
 * @param sheet the prices in use
 */
export function offers(query: OfferQuery, sheet: PriceSheet): readonly Offer[] {
  const { gpu, provider, instanceType, region } = query;
  if (gpu === undefined || instanceType !== undefined || region !== undefined) return findOffers(query, sheet);
  const byModel = offersByModel.get(sheet) ?? new Map<string, readonly Offer[]>();
  offersByModel.set(sheet, byModel);
  const key = `${gpu} ${provider ?? ''}`;
  const found = byModel.get(key) ?? findOffers(query, sheet);
  // A config may name any number of models that have no offers.
  if (found.length > 0 || byModel.size < 5000) byModel.set(key, found);
  return found;
}

/** By sheet, then by model and provider: each range asks for the same ones. */
const offersByModel = new WeakMap<PriceSheet, Map<string, readonly Offer[]>>();

/** The models that have an offer. No offers are built for it, because most sessions need those of a few models only. */
export function soldModels(sheet: PriceSheet): ReadonlySet<string> {
  const sold = new Set<string>();
  for (const group of groupsOf(sheet)) {
    const gpu = group[2];
    if (sold.has(gpu)) continue;
    const isListed = group[4].some((part) => part[2].length > 0);
    if (isListed || sheet.prices.has(machineKey({ provider: group[0], instanceType: group[1] }))) sold.add(gpu);
  }
  return sold;
}

function findOffers(query: OfferQuery, sheet: PriceSheet): readonly Offer[] {
  const found: Offer[] = [];
  for (const group of groupsOf(sheet)) {
    const [provider, , gpu] = group;
    if (query.gpu !== undefined && gpu !== query.gpu) continue;
    if (query.provider !== undefined && provider !== query.provider) continue;
    if (query.instanceType !== undefined && !isType(group, query.instanceType, query.gpu)) continue;
    for (const offer of offersOf(group, sheet)) {
      if (query.region === undefined || offer.region === query.region || offer.region === everywhere) found.push(offer);
    }
  }
  return found.sort(cheaperFirst);
}

/** The date and the source of an offer's price. */
export function priceSource(
  { spotFrom, date, source }: Pick<Offer, 'spotFrom' | keyof Source>,
  capacity: 'on-demand' | 'spot',
): Source {
  return capacity === 'spot' && spotFrom !== undefined ? spotFrom : { date, source };
}

/** The dated offer with the lowest price per device and capacity type. Undated offers are never chosen. */
export function cheapestOffer(query: OfferQuery, capacity: 'on-demand' | 'spot'): Offer | undefined {
  let best: { readonly offer: Offer; readonly price: number } | undefined;
  for (const offer of offers(query, catalogPrices)) {
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
export function regionsOf(provider: Provider, sheet: PriceSheet = catalogPrices): readonly string[] {
  return regionsBySeller(sheet).get(provider) ?? [];
}

/** No offers are built for it: there are thousands, and a quote asks for the regions of each seller. */
const regionsBySeller = once((sheet: PriceSheet): ReadonlyMap<Provider, readonly string[]> => {
  const found = new Map<Provider, Set<string>>();
  for (const [provider, instanceType, , , parts] of groupsOf(sheet)) {
    const own = found.get(provider) ?? new Set<string>();
    found.set(provider, own);
    for (const [, , rows] of parts) for (const [place] of rows) own.add(storedPrices.regions[place] ?? '');
    for (const { region } of sheet.prices.get(machineKey({ provider, instanceType })) ?? []) own.add(region);
  }
  return new Map([...found].map(([provider, own]) => [provider, inOrder(own, defaultRegion(provider))]));
});

function inOrder(regions: ReadonlySet<string>, preferred: string): readonly string[] {
  if (regions.has(everywhere)) return [];
  const named = [...regions].filter((region) => !['', 'global'].includes(region)).sort();
  return named.includes(preferred) ? [preferred, ...named.filter((region) => region !== preferred)] : named;
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

/** `pricesAsOf`: the oldest date of all dated prices; `pricesUntil`: the newest. `sources`: every source of a price. */
export const catalogInfo: {
  readonly pricesAsOf: string;
  readonly pricesUntil: string;
  readonly sources: readonly string[];
} = {
  get pricesAsOf() {
    return priceDates()[0] ?? '';
  },
  get pricesUntil() {
    return priceDates().at(-1) ?? '';
  },
  get sources() {
    return storedPrices.sources;
  },
};

const priceDates = lazy(() => storedPrices.asOf.flatMap(([date]) => (date === null ? [] : [date])).sort());

/** By sheet, built on a group's first query: most sessions need only a few GPUs of the catalog. */
const builtOffers = new WeakMap<PriceSheet, Map<StoredPriceGroup, readonly Offer[]>>();

function offersOf(group: StoredPriceGroup, sheet: PriceSheet): readonly Offer[] {
  const all = builtOffers.get(sheet) ?? new Map<StoredPriceGroup, readonly Offer[]>();
  builtOffers.set(sheet, all);
  const built = all.get(group) ?? offersOn(group, sheet);
  all.set(group, built);
  return built;
}

function offersOn(group: StoredPriceGroup, sheet: PriceSheet): readonly Offer[] {
  if (sheet === catalogPrices) return listedOffers(group);
  const [provider, instanceType, gpu, gpuCount] = group;
  const machine = { provider, instanceType, gpu, gpuCount };
  const fetched = sheet.prices.get(machineKey(machine));
  const listed = offersOf(group, catalogPrices);
  return fetched === undefined ? listed : withFetched(listed, machine, fetched);
}

const groupsBySheet = new WeakMap<PriceSheet, readonly StoredPriceGroup[]>();

/** The instance types with prices: those of the catalog, and known ones for which only the sheet has prices. */
function groupsOf(sheet: PriceSheet): readonly StoredPriceGroup[] {
  const known = sheet.prices.size === 0 ? storedPrices.groups : groupsBySheet.get(sheet);
  if (known !== undefined) return known;
  const listed = new Set(storedPrices.groups.map(([provider, name]) => machineKey({ provider, instanceType: name })));
  const added = allInstanceTypes().flatMap(({ provider, name, gpu, gpuCount }): readonly StoredPriceGroup[] => {
    const key = machineKey({ provider, instanceType: name });
    if (gpu === null || gpuCount === null || listed.has(key) || !sheet.prices.has(key)) return [];
    return [[provider, name, gpu, gpuCount, []]];
  });
  const all = [...storedPrices.groups, ...added];
  groupsBySheet.set(sheet, all);
  return all;
}

function listedOffers([provider, instanceType, gpu, gpuCount, parts]: StoredPriceGroup): readonly Offer[] {
  const found = parts.flatMap(([place, basis, rows]) => {
    const { date, source } = priceSources()[place] ?? { date: null, source: '' };
    const spotBasis = basis === null ? null : (storedPrices.bases[basis] ?? null);
    return rows.map(([regionPlace, onDemand, spot = null, oneYear, threeYears]): Offer => {
      const region = storedPrices.regions[regionPlace] ?? '';
      const offer = { provider, instanceType, region, gpu, gpuCount, onDemand, spot, spotBasis, date, source };
      return oneYear === undefined || threeYears === undefined ? offer : { ...offer, committed: [oneYear, threeYears] };
    });
  });
  return found.sort((a, b) => (a.region < b.region ? -1 : 1));
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
