import { own } from '../yaml/table.ts';
import { csvColumns, csvRecords } from './csv.ts';
import {
  type Fact,
  type FoundPrice,
  grouped,
  isPlausible,
  machinesOf,
  type PriceSource,
  type SourcedFact,
  unexpected,
  type Wanted,
} from './price-source.ts';

// The bulk files of the AWS Price List, documented in "Getting price list files using the AWS Price List Bulk API", and the data of the Spot
// Instance Advisor: savings in percent of the on-demand price, by region, operating system and instance type.

const priceList = 'https://pricing.us-east-1.amazonaws.com';
const regionIndex = `${priceList}/offers/v1.0/aws/AmazonEC2/current/region_index.json`;
const spotAdvisor = 'https://spot-bid-advisor.s3.amazonaws.com/spot-advisor-data.json';

export const aws: PriceSource = {
  id: 'aws',
  name: 'the AWS price list',
  maxFiles: 100,
  start: () => [regionIndex, spotAdvisor],
  async read(url, body, wanted) {
    if (url === regionIndex) return { facts: [], next: regionFiles(await body.json(), wanted) };
    if (url === spotAdvisor) return { facts: savings(await body.json(), wanted), next: [] };
    return { facts: await onDemand(body.chunks, wanted), next: [] };
  },
  prices,
};

/** The CSV file of each wanted region: the index names the JSON file with the same content. */
function regionFiles(index: unknown, { regions, usualAwsRegions }: Wanted): readonly string[] {
  const listed = own(index, 'regions');
  if (typeof listed !== 'object' || listed === null) throw unexpected('it has no list of regions');
  return (regions.length === 0 ? usualAwsRegions : regions).flatMap((region) => {
    const path = own(own(listed, region), 'currentVersionUrl');
    // A region of another provider.
    if (path === undefined) return [];
    if (typeof path !== 'string' || !/^\/[\w./-]+\/index\.json$/.test(path))
      throw unexpected(`the region ${region} has no path of a price list`);
    return [`${priceList}${path.replace(/json$/, 'csv')}`];
  });
}

const columns = [
  'TermType',
  'Unit',
  'PricePerUnit',
  'Currency',
  'Instance Type',
  'Tenancy',
  'Operating System',
  'Pre Installed S/W',
  'CapacityStatus',
  'Location Type',
  'Region Code',
];

/** Linux without extras, on shared hardware, as GPU nodes are usually bought. */
async function onDemand(chunks: AsyncIterable<string>, wanted: Wanted): Promise<readonly Fact[]> {
  const machines = machinesOf('aws', wanted);
  const facts: Fact[] = [];
  let table: ReturnType<typeof csvColumns> | undefined;
  for await (const record of csvRecords(chunks)) {
    if (table === undefined) {
      // Lines about the file come first.
      if (!/^"?SKU"?,/.test(record)) continue;
      table = csvColumns(record);
      const missing = table.missing(columns);
      if (missing !== undefined) throw unexpected(`it has no column "${missing}"`);
      continue;
    }
    if (!record.includes('OnDemand')) continue;
    const row = table.row(record);
    const type = row('Instance Type');
    if (!machines.has(type)) continue;
    const isPlain =
      row('TermType') === 'OnDemand' &&
      row('Unit') === 'Hrs' &&
      row('Currency') === 'USD' &&
      row('Location Type') === 'AWS Region' &&
      row('Tenancy') === 'Shared' &&
      row('Operating System') === 'Linux' &&
      ['', 'NA'].includes(row('Pre Installed S/W')) &&
      row('CapacityStatus') === 'Used' &&
      // Older files have no such column. A capacity block is not bought on demand.
      ['', 'OnDemand'].includes(row('MarketOption'));
    const hourly = Number(row('PricePerUnit'));
    if (isPlain && isPlausible(hourly)) facts.push([type, row('Region Code'), 'on-demand', hourly, '']);
  }
  if (table === undefined) throw unexpected('it has no line of column names');
  return facts;
}

/** Savings of spot instances, as the amounts of facts. */
function savings(data: unknown, wanted: Wanted): readonly Fact[] {
  const machines = machinesOf('aws', wanted);
  const regions = own(data, 'spot_advisor');
  if (typeof regions !== 'object' || regions === null) throw unexpected('it has no "spot_advisor"');
  return Object.keys(regions).flatMap((region) => {
    const types = own(own(regions, region), 'Linux');
    return [...machines.keys()].flatMap((type): readonly Fact[] => {
      const percent = own(own(types, type), 's');
      const isPercent = typeof percent === 'number' && percent > 0 && percent < 100;
      return isPercent ? [[type, region, 'spot', percent, '']] : [];
    });
  });
}

function prices(facts: readonly SourcedFact[], _wanted: Wanted): readonly FoundPrice[] {
  const found: FoundPrice[] = [];
  const saved = new Map<string, SourcedFact>();
  for (const one of facts) if (one.url === spotAdvisor) saved.set(`${one.fact[0]} ${one.fact[1]}`, one);
  const listed = facts.filter(({ url }) => url !== spotAdvisor);
  for (const [first, ...others] of grouped(listed).values()) {
    // Rows that contradict each other are not the price of one plain machine.
    if (first === undefined || others.some(({ fact }) => fact[3] !== first.fact[3])) continue;
    const [instanceType, region, pricing, hourly] = first.fact;
    const machine = { provider: 'aws', instanceType, region } as const;
    found.push({ ...machine, pricing, hourly, basis: null, date: first.date, source: first.url });
    const saving = saved.get(`${instanceType} ${region}`);
    if (saving === undefined) continue;
    const spot = Math.round(hourly * (100 - saving.fact[3]) * 100) / 10_000;
    const basis = `derived: on-demand x (1 - Spot Advisor savings of ${saving.date})`;
    found.push({ ...machine, pricing: 'spot', hourly: spot, basis, date: saving.date, source: saving.url });
  }
  return found;
}
