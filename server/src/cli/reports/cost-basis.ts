import { providerName } from '../../catalog/index.ts';
import type { CostBasis } from '../../cost/types.ts';
import { isRegion } from '../../features/hover/gpu-words.ts';
import type { CheckedFile } from './format.ts';

/**
 * `on-demand at AWS us-east-1 and Google Cloud us-central1, as of 2026-07-09 to 2026-07-20`: what the amounts of a report rest on, in a
 * line, because amounts without it are passed on without it. Undefined where there are none.
 */
export function priceBasis(files: readonly Pick<CheckedFile, 'costs'>[]): string | undefined {
  const costs = files.flatMap((file) => file.costs);
  const basis = costs.flatMap((cost) => cost.basis);
  const listed = basis.filter(({ source }) => source !== null);
  const said = (['on-demand', 'spot', 'reserved'] as const).flatMap((pricing) => {
    const places = new Set(listed.filter((one) => one.pricing === pricing).map(placeOf));
    return places.size === 0 ? [] : [`${pricing} at ${someOf([...places].sort())}`];
  });
  const dates = listed.flatMap(({ asOf }) => asOf ?? []).sort();
  const [oldest] = dates;
  const newest = dates.at(-1);
  if (oldest !== undefined) said.push(`as of ${oldest}${newest === oldest ? '' : ` to ${newest}`}`);
  if (dates.length < listed.length) said.push('some without a date');
  if (listed.length < basis.length) said.push('your prices');
  if (costs.some(({ assumptions }) => assumptions.some(({ kind }) => kind === 'discount')))
    said.push('less your discount');
  return said.length === 0 ? undefined : said.join(', ');
}

function placeOf({ provider, region }: CostBasis): string {
  return `${providerName(provider ?? '')}${isRegion(region) ? ` ${region}` : ''}`;
}

const mostPlaces = 4;

function someOf(places: readonly string[]): string {
  const shown = places.length > mostPlaces ? places.slice(0, mostPlaces) : places.slice(0, -1);
  const last = places.length > mostPlaces ? `${places.length - mostPlaces} more` : (places.at(-1) ?? '');
  return shown.length === 0 ? last : `${shown.join(', ')} and ${last}`;
}
