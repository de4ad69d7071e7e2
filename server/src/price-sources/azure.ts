import { own } from '../yaml/table.ts';
import {
  type Fact,
  type FoundPrice,
  grouped,
  isPlausible,
  isWanted,
  machinesOf,
  type PriceSource,
  type SourcedFact,
  unexpected,
  type Wanted,
} from './price-source.ts';

// The Azure Retail Prices API: pages of meters, each with the address of the next page.

const api = 'https://prices.azure.com/api/retail/prices';

export const azure: PriceSource = {
  id: 'azure',
  name: 'the Azure Retail Prices API',
  // A page has up to 1,000 meters, and GPU machines some 10,000.
  maxFiles: 200,
  start({ regions }) {
    const all =
      "serviceName eq 'Virtual Machines' and priceType eq 'Consumption' and contains(armSkuName, 'Standard_N')";
    const filters =
      regions.length === 0 ? [all] : regions.map((region) => `${all} and armRegionName eq ${quoted(region)}`);
    return filters.map((filter) => `${api}?$filter=${encodeURIComponent(filter)}`);
  },
  async read(_url, body, wanted) {
    const page = await body.json();
    const items = own(page, 'Items');
    if (!Array.isArray(items)) throw unexpected('it has no list "Items"');
    const next = own(page, 'NextPageLink');
    if (next !== null && next !== undefined && next !== '' && typeof next !== 'string')
      throw unexpected('"NextPageLink" is not an address');
    const machines = machinesOf('azure', wanted);
    return { facts: items.flatMap((item) => factOf(item, machines, wanted)), next: next ? [next] : [] };
  },
  prices,
};

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

function factOf(item: unknown, machines: ReadonlyMap<string, unknown>, wanted: Wanted): readonly Fact[] {
  const text = (name: string) => String(own(item, name) ?? '');
  const type = text('armSkuName');
  const region = text('armRegionName');
  const hourly = own(item, 'retailPrice');
  const sku = `${text('skuName')} ${text('meterName')}`;
  const since = text('effectiveStartDate').slice(0, 10);
  const isPlain =
    text('type') === 'Consumption' &&
    text('unitOfMeasure') === '1 Hour' &&
    text('currencyCode') === 'USD' &&
    own(item, 'isPrimaryMeterRegion') !== false &&
    !text('productName').includes('Windows') &&
    !sku.includes('Low Priority') &&
    since <= wanted.today;
  if (!isPlain || !machines.has(type) || !isWanted(region, wanted)) return [];
  if (typeof hourly !== 'number' || !isPlausible(hourly)) return [];
  return [[type, region, /\bSpot\b/.test(sku) ? 'spot' : 'on-demand', hourly, since]];
}

/** The price that took effect last. */
function prices(facts: readonly SourcedFact[], _wanted: Wanted): readonly FoundPrice[] {
  return [...grouped(facts).values()].flatMap((group): readonly FoundPrice[] => {
    const latest = [...group].sort((a, b) => (a.fact[4] < b.fact[4] ? 1 : -1));
    const [last] = latest;
    if (last === undefined) return [];
    const [instanceType, region, pricing, hourly, since] = last.fact;
    // Two amounts since the same day: unknown which one applies.
    if (latest.some(({ fact }) => fact[4] === since && fact[3] !== hourly)) return [];
    const basis = pricing === 'spot' ? 'published' : null;
    return [{ provider: 'azure', instanceType, region, pricing, hourly, basis, date: last.date, source: api }];
  });
}
