import type { InstanceType } from '../catalog/index.ts';
import { own } from '../yaml/table.ts';
import {
  type Fact,
  type FoundPrice,
  grouped,
  isWanted,
  machinesOf,
  type PriceSource,
  type SourcedFact,
  unexpected,
  type Wanted,
} from './price-source.ts';

// The Cloud Billing Catalog of Google Cloud (services.skus.list): the prices of cores, memory and accelerators, of which a machine's price is the
// sum. Local disks that come with a machine have their own price, which is not included, as in Google's price lists of machine types.

const catalog = 'https://cloudbilling.googleapis.com/v1/services/6F81-5844-456A/skus';
const skus = `${catalog}?pageSize=5000`;

/** @param key an API key of the user; it is sent as a header, so no address contains it */
export function gcp(key: string): PriceSource {
  return {
    id: 'gcp',
    name: 'the Cloud Billing Catalog of Google Cloud',
    maxFiles: 50,
    headers: { 'x-goog-api-key': key },
    start: () => [skus],
    async read(_url, body, wanted) {
      const page = await body.json();
      const listed = own(page, 'skus');
      if (!Array.isArray(listed)) throw unexpected('it has no list "skus"');
      const token = own(page, 'nextPageToken') ?? '';
      if (typeof token !== 'string') throw unexpected('"nextPageToken" is not a text');
      const next = token === '' ? [] : [`${skus}&pageToken=${encodeURIComponent(token)}`];
      return { facts: listed.flatMap((sku) => factsOf(sku, wanted)), next };
    },
    prices,
  };
}

/** The families whose price is the sum of their parts, with the accelerators that the descriptions of parts name. */
const families: readonly { readonly prefix: string; readonly series: string; readonly gpus: readonly string[] }[] = [
  { prefix: 'a2-highgpu-', series: 'A2 Instance', gpus: ['Tesla A100 GPU'] },
  { prefix: 'a2-megagpu-', series: 'A2 Instance', gpus: ['Tesla A100 GPU'] },
  { prefix: 'a2-ultragpu-', series: 'A2 Instance', gpus: ['Tesla A100 80GB GPU', 'A100 80GB GPU'] },
  { prefix: 'a3-highgpu-', series: 'A3 Instance', gpus: ['H100 80GB GPU'] },
  {
    prefix: 'a3-megagpu-',
    series: 'A3 Instance',
    gpus: ['H100 80GB Mega GPU', 'H100 Mega 80GB GPU', 'H100 80GB Plus GPU'],
  },
  { prefix: 'g2-standard-', series: 'G2 Instance', gpus: ['L4 GPU'] },
];

const otherTerms = /custom|commitment|reserv|sole tenancy|premium|calendar|dws|flex|confidential/i;

function factsOf(sku: unknown, wanted: Wanted): readonly Fact[] {
  const category = own(sku, 'category');
  const usage = own(category, 'usageType');
  const description = String(own(sku, 'description') ?? '');
  const regions = own(sku, 'serviceRegions');
  if ((usage !== 'OnDemand' && usage !== 'Preemptible') || otherTerms.test(description) || !Array.isArray(regions))
    return [];
  const part = partOf(description, own(category, 'resourceGroup'));
  const amount = part === undefined ? undefined : unitPrice(sku);
  if (part === undefined || amount === undefined) return [];
  const pricing = usage === 'Preemptible' ? 'spot' : 'on-demand';
  return regions.flatMap((region): readonly Fact[] =>
    typeof region === 'string' && isWanted(region, wanted) ? [[part, region, pricing, amount, '']] : [],
  );
}

/** What a SKU is the price of: `A2 Instance core`, `L4 GPU`. */
function partOf(description: string, group: unknown): string | undefined {
  if (group === 'GPU') {
    const names = new Set(families.flatMap(({ gpus }) => gpus));
    // "Tesla A100 80GB GPU" also contains "A100 80GB GPU": the longest name is the exact one.
    return [...names].filter((name) => description.includes(name)).sort((a, b) => b.length - a.length)[0];
  }
  const series = families.find((family) => description.includes(family.series))?.series;
  if (series === undefined) return undefined;
  if (/\bCore\b/.test(description)) return `${series} core`;
  return /\bRam\b/i.test(description) ? `${series} ram` : undefined;
}

/** US dollars per hour for a unit: a core, a GiB or an accelerator. */
function unitPrice(sku: unknown): number | undefined {
  const infos = own(sku, 'pricingInfo');
  const expression = Array.isArray(infos) ? own(infos.at(-1), 'pricingExpression') : undefined;
  const rates = own(expression, 'tieredRates');
  const unit = String(own(expression, 'usageUnit') ?? '');
  if (!Array.isArray(rates) || !['h', 'GiBy.h'].includes(unit)) return undefined;
  const price = own(rates.at(-1), 'unitPrice');
  const currency = own(price, 'currencyCode') ?? 'USD';
  const amount = Number(own(price, 'units') ?? 0) + Number(own(price, 'nanos') ?? 0) / 1e9;
  return currency === 'USD' && Number.isFinite(amount) && amount > 0 ? amount : undefined;
}

function prices(facts: readonly SourcedFact[], wanted: Wanted): readonly FoundPrice[] {
  const parts = new Map<string, SourcedFact>();
  for (const [key, [first, ...others]] of grouped(facts)) {
    // Different prices for one description: it names more than one part.
    if (first !== undefined && others.every(({ fact }) => fact[3] === first.fact[3])) parts.set(key, first);
  }
  const regions = new Set(facts.map(({ fact }) => fact[1]));
  const machines = [...machinesOf('gcp', wanted).values()];
  const found: FoundPrice[] = [];
  for (const machine of machines)
    for (const region of regions)
      for (const pricing of ['on-demand', 'spot'] as const) found.push(...sumOf(machine, region, pricing, parts));
  return found;
}

function sumOf(
  { name, gpuCount, vcpu, memoryGiB }: InstanceType,
  region: string,
  pricing: FoundPrice['pricing'],
  parts: ReadonlyMap<string, SourcedFact>,
): readonly FoundPrice[] {
  const family = families.find(({ prefix }) => name.startsWith(prefix));
  if (family === undefined || gpuCount === null || vcpu === null || memoryGiB === null) return [];
  const partOf = (what: string) => parts.get(JSON.stringify([what, region, pricing]));
  const core = partOf(`${family.series} core`);
  const ram = partOf(`${family.series} ram`);
  const gpu = family.gpus.map(partOf).find((one) => one !== undefined);
  if (core === undefined || ram === undefined || gpu === undefined) return [];
  const sum = core.fact[3] * vcpu + ram.fact[3] * memoryGiB + gpu.fact[3] * gpuCount;
  const hourly = Math.round(sum * 1e6) / 1e6;
  const basis = pricing === 'spot' ? 'published' : null;
  return [{ provider: 'gcp', instanceType: name, region, pricing, hourly, basis, date: core.date, source: catalog }];
}
