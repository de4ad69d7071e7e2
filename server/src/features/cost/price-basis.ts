import { providerName } from '../../catalog/index.ts';
import { pricingWords } from '../../cost/money.ts';
import type { CostBasis, CostEstimate } from '../../cost/types.ts';
import { isRegion } from '../hover/gpu-words.ts';

/**
 * `on demand at AWS us-east-1 and Google Cloud us-central1, as of 2026-07-09 to 2026-07-20`: the basis of many amounts, in one line.
 * Undefined without amounts.
 */
export function priceBasis(
  costs: readonly (Pick<CostEstimate, 'basis'> & Partial<Pick<CostEstimate, 'assumptions'>>)[],
): string | undefined {
  const basis = costs.flatMap((cost) => cost.basis);
  const listed = basis.filter(({ source }) => source !== null);
  const parts = (['on-demand', 'spot', 'reserved'] as const).flatMap((pricing) => {
    const places = new Set(listed.filter((one) => one.pricing === pricing).map(placeOf));
    return places.size === 0 ? [] : [`${pricingWords(pricing)} at ${listOf([...places].sort())}`];
  });
  const dates = priceDates(costs);
  if (dates !== undefined) parts.push(dates);
  if (listed.some(({ asOf }) => asOf === null)) parts.push('some undated');
  if (listed.length < basis.length) parts.push('your prices');
  if (costs.some(({ assumptions = [] }) => assumptions.some(({ kind }) => kind === 'discount')))
    parts.push('minus your discount');
  return parts.length === 0 ? undefined : parts.join(', ');
}

/** `as of 2026-07-09 to 2026-07-20`; undefined without dated list prices. */
export function priceDates(costs: readonly Pick<CostEstimate, 'basis'>[]): string | undefined {
  const dates = costs.flatMap(({ basis }) =>
    basis.flatMap(({ asOf, source }) => (source === null ? [] : (asOf ?? []))),
  );
  const [oldest] = dates.sort();
  const newest = dates.at(-1);
  if (oldest === undefined) return undefined;
  return `as of ${oldest}${newest === oldest ? '' : ` to ${newest}`}`;
}

function placeOf({ provider, region }: CostBasis): string {
  return `${providerName(provider ?? '')}${isRegion(region) ? ` ${region}` : ''}`;
}

const maxPlaces = 4;

function listOf(places: readonly string[]): string {
  const shown = places.length > maxPlaces ? places.slice(0, maxPlaces) : places.slice(0, -1);
  const last = places.length > maxPlaces ? `${places.length - maxPlaces} more` : (places.at(-1) ?? '');
  return shown.length === 0 ? last : `${shown.join(', ')} and ${last}`;
}
