import { byText, number, type Row, SourceTable } from './sources.ts';

type Stored = [region: number, onDemand: number | null, spot?: number | null, oneYear?: number, threeYears?: number];
type Part = readonly [asOf: number, spotBasis: number | null, rows: Stored[]];
type Group = readonly [provider: string, instanceType: string, gpu: string, gpuCount: number, parts: Part[]];

const key = ({ provider, instance_type }: Row) => `${provider} ${instance_type}`;

/** Rows of instance types with the number and model of GPUs that other tables have, if they have none. */
export function withCounts(rows: readonly Row[], counts: readonly Row[], notes: readonly Row[]): readonly Row[] {
  const counted = new Map(counts.map((row) => [key(row), row]));
  const models = new Map(notes.filter(({ fact }) => fact === 'gpu_model').map((row) => [key(row), row.value]));
  return rows.map((row): Row => {
    const count = row.gpu_count ? undefined : counted.get(key(row));
    if (count === undefined) return row;
    return {
      ...row,
      gpu_count: count.gpu_count ?? '',
      gpu_model: row.gpu_model || count.gpu_model || (models.get(key(row)) ?? ''),
    };
  });
}

/** The price rows with the name that nodes carry, where a price page names its products otherwise. */
export function withNodeNames(rows: readonly Row[], notes: readonly Row[]): readonly Row[] {
  const named = new Map(notes.filter(({ fact }) => fact === 'node_instance_type').map((row) => [key(row), row.value]));
  return rows.map((row): Row => ({ ...row, instance_type: named.get(key(row)) ?? row.instance_type ?? '' }));
}

/**
 * The price rows without the on-demand price of machines that are not sold on demand: retired and preview sizes, capacity blocks, machines for
 * reservations and flex-start only.
 */
export function withoutReserved(rows: readonly Row[], notes: readonly Row[]): readonly Row[] {
  const reserved = new Set(
    notes.filter(({ fact, value }) => fact === 'on_demand' && (value === 'no' || value === 'unknown')).map(key),
  );
  return rows.map((row): Row => (reserved.has(key(row)) ? { ...row, on_demand_usd_hour: '' } : row));
}

/**
 * The price rows with one row per machine of providers that charge the same in all regions: their sources list a few of these.
 * https://docs.oracle.com/en/cloud/paas/ociov/oci_governance.html ("All the OCI region have same pricing", 2026-11-30)
 */
export function withOnePrice(rows: readonly Row[]): readonly Row[] {
  const merged = new Map<string, Row>();
  for (const row of rows.filter(({ provider }) => provider === 'oci')) {
    const price = [row.instance_type, row.on_demand_usd_hour, row.spot_usd_hour].join('\u0000');
    merged.set(price, { ...row, region: 'all' });
  }
  return [...rows.filter(({ provider }) => provider !== 'oci'), ...merged.values()];
}

/**
 * Prices in US dollars per hour, grouped by instance type and then by source, so that shared values are stored once. Rows with an unknown GPU
 * or number of GPUs are omitted: they have no price per device.
 */
export function priceFile(rows: readonly Row[], gpus: ReadonlyMap<string, string>) {
  const sources = new SourceTable();
  const asOf: [string | null, readonly number[]][] = [];
  const asOfPlaces = new Map<string, number>();
  const bases: string[] = [];
  const regions: string[] = [];
  const groups = new Map<string, Group>();

  for (const row of [...rows].sort((a, b) => byText(order(a), order(b)))) {
    const gpu = gpus.get(row.gpu_model ?? '');
    const gpuCount = number(row.gpu_count);
    const onDemand = number(row.on_demand_usd_hour);
    const spot = number(row.spot_usd_hour);
    if (gpu === undefined || gpuCount === null || (onDemand === null && spot === null)) continue;
    const provider = row.provider ?? '';
    const instanceType = row.instance_type ?? '';
    const place = `${provider} ${instanceType} ${gpu} ${gpuCount}`;
    const group = groups.get(place) ?? [provider, instanceType, gpu, gpuCount, []];
    groups.set(place, group);
    const basis = spot === null ? null : basisPlace(row.spot_basis);
    const region = placeIn(regions, row.region ?? '');
    const oneYear = number(row.reserved_1y_usd_hour);
    const threeYears = number(row.reserved_3y_usd_hour);
    partOf(group[4], asOfPlace(row), basis).push(
      oneYear !== null && threeYears !== null
        ? [region, onDemand, spot, oneYear, threeYears]
        : spot === null
          ? [region, onDemand]
          : [region, onDemand, spot],
    );
  }
  return {
    sources: sources.toJSON(),
    asOf,
    bases,
    regions,
    columns: [
      'provider',
      'instanceType',
      'gpu',
      'gpuCount',
      ['asOf', 'spotBasis', ['region', 'onDemand', 'spot', 'oneYear', 'threeYears']],
    ],
    groups: [...groups.values()],
  };

  function asOfPlace(row: Row): number {
    const key = `${row.price_date} ${row.source}`;
    const known = asOfPlaces.get(key);
    if (known !== undefined) return known;
    asOfPlaces.set(key, asOf.length);
    return asOf.push([row.price_date || null, sources.refer(row.source ?? '')]) - 1;
  }

  function basisPlace(basis: string | undefined): number | null {
    if (basis === undefined || basis === '') return null;
    return placeIn(bases, basis);
  }
}

function partOf(parts: Part[], asOf: number, spotBasis: number | null): Stored[] {
  const known = parts.find((part) => part[0] === asOf && part[1] === spotBasis);
  if (known !== undefined) return known[2];
  const rows: Stored[] = [];
  parts.push([asOf, spotBasis, rows]);
  return rows;
}

/** The index of a text in a table; a new text is appended. */
function placeIn(table: string[], text: string): number {
  if (!table.includes(text)) table.push(text);
  return table.indexOf(text);
}

function order(row: Row): string {
  return [row.provider, row.instance_type, row.gpu_model, row.gpu_count, row.region].join('\u0000');
}
