import { byText, number, type Row, SourceTable } from './sources.ts';

type Stored = [region: string, onDemand: number | null, spot: number | null, asOf: number, spotBasis: number | null];

interface Group {
  readonly provider: string;
  readonly instanceType: string;
  readonly gpu: string;
  readonly gpuCount: number;
  readonly rows: Stored[];
}

/**
 * Prices in groups of one instance type. A row is [region, on-demand, spot, place in `asOf`, place in `bases`], in US
 * dollars an hour. Rows whose GPU or number of GPUs is not known are left out: no price per device follows from them.
 */
export function priceFile(rows: readonly Row[], gpus: ReadonlyMap<string, string>) {
  const sources = new SourceTable();
  const asOf: [string | null, readonly number[]][] = [];
  const asOfPlaces = new Map<string, number>();
  const bases: string[] = [];
  const groups = new Map<string, Group>();

  for (const row of [...rows].sort((a, b) => byText(order(a), order(b)))) {
    const gpu = gpus.get(row.gpu_model ?? '');
    const gpuCount = number(row.gpu_count);
    const onDemand = number(row.on_demand_usd_hour);
    const spot = number(row.spot_usd_hour);
    if (gpu === undefined || gpuCount === null || (onDemand === null && spot === null)) continue;
    const provider = row.provider ?? '';
    const instanceType = row.instance_type ?? '';
    const key = `${provider} ${instanceType} ${gpu} ${gpuCount}`;
    const group = groups.get(key) ?? { provider, instanceType, gpu, gpuCount, rows: [] };
    groups.set(key, group);
    group.rows.push([
      row.region ?? '',
      onDemand,
      spot,
      asOfPlace(row),
      spot === null ? null : basisPlace(row.spot_basis),
    ]);
  }
  return { sources: sources.toJSON(), asOf, bases, groups: [...groups.values()] };

  function asOfPlace(row: Row): number {
    const key = `${row.price_date} ${row.source}`;
    const known = asOfPlaces.get(key);
    if (known !== undefined) return known;
    asOfPlaces.set(key, asOf.length);
    return asOf.push([row.price_date || null, sources.refer(row.source ?? '')]) - 1;
  }

  function basisPlace(basis: string | undefined): number | null {
    if (basis === undefined || basis === '') return null;
    if (!bases.includes(basis)) bases.push(basis);
    return bases.indexOf(basis);
  }
}

function order(row: Row): string {
  return [row.provider, row.instance_type, row.gpu_model, row.gpu_count, row.region].join('\u0000');
}
