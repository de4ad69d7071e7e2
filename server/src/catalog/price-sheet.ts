import type { Offer, Provider } from './types.ts';

/** The region name of providers with the same price everywhere. */
export const everywhere = 'all';

/** A price that was read from a public source. US dollars per hour for the whole instance. */
export interface FetchedPrice {
  readonly provider: Provider;
  readonly instanceType: string;
  readonly region: string;
  readonly pricing: 'on-demand' | 'spot';
  readonly hourly: number;
  /** How a spot price was derived; null if it is published. */
  readonly basis: string | null;
  /** The day on which it was read, YYYY-MM-DD. */
  readonly date: string;
  /** The address that it was read from. */
  readonly source: string;
}

/** Prices that take precedence over the catalog's: for the same machine, region and capacity type, the newer one applies. */
export interface PriceSheet {
  /** Sheets with the same id have the same prices: configs are compared by it. */
  readonly id: string;
  /** By provider and instance type. */
  readonly prices: ReadonlyMap<string, readonly FetchedPrice[]>;
}

/** Only the prices of the catalog. */
export const catalogPrices: PriceSheet = { id: 'catalog', prices: new Map() };

/** @param id see `PriceSheet` */
export function priceSheet(id: string, fetched: readonly FetchedPrice[]): PriceSheet {
  const prices = new Map<string, FetchedPrice[]>();
  for (const price of fetched) {
    const key = machineKey(price);
    const known = prices.get(key);
    if (known === undefined) prices.set(key, [price]);
    else known.push(price);
  }
  return { id, prices };
}

/** Identifies an instance type. */
export function machineKey({ provider, instanceType }: Pick<Offer, 'provider' | 'instanceType'>): string {
  return `${provider} ${instanceType}`;
}

/** The catalog's offers of one instance type with the fetched prices that are at least as new, by region; those of a provider with one price are for all regions. */
export function withFetched(
  listed: readonly Offer[],
  machine: Pick<Offer, 'provider' | 'instanceType' | 'gpu' | 'gpuCount'>,
  fetched: readonly FetchedPrice[],
): readonly Offer[] {
  const byRegion = new Map(listed.map((offer) => [offer.region, offer]));
  const isOnePrice = byRegion.has(everywhere);
  for (const one of fetched) {
    const price = isOnePrice ? { ...one, region: everywhere } : one;
    const { provider, instanceType, gpu, gpuCount } = machine;
    const unpriced = { onDemand: null, spot: null, spotBasis: null, date: null, source: '' };
    const before = byRegion.get(price.region) ?? {
      ...{ provider, instanceType, gpu, gpuCount, region: price.region },
      ...unpriced,
    };
    byRegion.set(price.region, replaced(before, price));
  }
  return [...byRegion.values()];
}

function replaced(offer: Offer, { pricing, hourly, basis, date, source }: FetchedPrice): Offer {
  if (pricing === 'on-demand') {
    if (offer.onDemand !== null && isNewer(offer.date, date)) return offer;
    // The other prices keep their own date and source.
    const { date: listed, source: from, spotFrom = { date: listed, source: from } } = offer;
    const committedFrom = offer.committedFrom ?? { date: listed, source: from };
    return { ...offer, onDemand: hourly, date, source, spotFrom, committedFrom };
  }
  const known = offer.spotFrom ?? offer;
  if (offer.spot !== null && isNewer(known.date, date)) return offer;
  const spot = { spot: hourly, spotBasis: basis, spotFrom: { date, source } };
  return offer.onDemand === null ? { ...offer, ...spot, date, source } : { ...offer, ...spot };
}

/** Whether a date is later than another; an unknown date is not. */
function isNewer(date: string | null, other: string): boolean {
  return date !== null && date > other;
}
