import { byText, type Row, SourceTable } from './sources.ts';

/** How often AWS reclaims spot instances per month: instance type -> for each of `bands`, indexes into `regions`. */
export function interruptionFile(rows: readonly Row[]) {
  const sources = new SourceTable();
  const date = rows.map((row) => row.data_date ?? '').sort(byText)[0] ?? null;
  const source = sources.refer(rows[0]?.source ?? '');
  const bands = [...new Set(rows.map((row) => row.interruption_range ?? ''))].sort((a, b) => floor(a) - floor(b));
  const regions = [...new Set(rows.map((row) => row.region ?? ''))].sort(byText);
  const types = new Map<string, Map<string, number[]>>();
  for (const row of [...rows].sort((a, b) => byText(order(a), order(b)))) {
    const type = row.instance_type ?? '';
    const byBand = types.get(type) ?? new Map<string, number[]>();
    types.set(type, byBand);
    const band = row.interruption_range ?? '';
    byBand.set(band, [...(byBand.get(band) ?? []), regions.indexOf(row.region ?? '')]);
  }
  return {
    sources: sources.toJSON(),
    date,
    source,
    bands,
    regions,
    types: [...types].map(([type, byBand]) => [type, bands.map((band) => byBand.get(band) ?? [])]),
  };
}

function order(row: Row): string {
  return `${row.instance_type} ${row.region}`;
}

/** The lower bound of a band: '<5%' starts at 0, '5-10%' at 5, '>20%' above 20. */
function floor(band: string): number {
  const first = Number(/\d+/.exec(band)?.[0] ?? 0);
  return band.startsWith('<') ? 0 : band.startsWith('>') ? first + 1 : first;
}
