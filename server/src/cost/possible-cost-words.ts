import { providerName } from '../catalog/index.ts';
import { formatHourly, plural } from './money.ts';
import type { BoundCost, PossibleCost } from './possible-cost.ts';
import { sumOf } from './range.ts';
import { modelName } from './requested-words.ts';
import type { Range } from './types.ts';

// The wording of ranges over cards, for lenses, hovers and reports.

/** `$2.11/h on T4 … $71.21/h on B300`; with one card `$3.45–$6.00/h on MI300X`. */
export function rangeWords({ hourly, from, to, pricing }: PossibleCost): string {
  const spot = pricing === 'spot' ? ' spot' : '';
  if (from.model === to.model) return `${formatHourly(hourly)}${spot} on ${modelName(from.model)}`;
  return `${formatHourly(from.hourly)}${spot} on ${modelName(from.model)} … ${formatHourly(to.hourly)} on ${modelName(to.model)}`;
}

/** `$0.53/h … $17.80/h`: unlike `$0.53–$17.80/h`, not the floor and the ceiling of replicas. */
export function spreadWords({ min, max }: Range, format: (amount: number) => string = formatHourly): string {
  return min === max ? format(min) : `${format(min)} … ${format(max)}`;
}

/** The sum of workloads that have only a range. */
export interface RangedTotal {
  readonly workloads: number;
  readonly hourly: Range;
}

/** The exact total, and the total with the workloads that have only a range: `$6.88/h, or $7.94–$42.48/h with 1 workload whose GPU model is unknown`. */
export function rangedWords(
  exact: Range,
  ranged: RangedTotal | undefined,
  format: (hourly: Range) => string = formatHourly,
): string {
  if (ranged === undefined || ranged.workloads === 0) return format(exact);
  const which = `${plural(ranged.workloads, 'workload')} whose GPU model is unknown`;
  if (exact.max === 0) return `${format(ranged.hourly)} for ${which}`;
  return `${format(exact)}, or ${format(sumOf([exact, ranged.hourly]))} with ${which}`;
}

/** The ends of the range with their machines, for the hover. */
export function boundLines({ from, to }: PossibleCost): readonly string[] {
  const isOne = from.model === to.model && from.provider === to.provider;
  return isOne ? [boundLine('Only priced', from)] : [boundLine('Cheapest', from), boundLine('Most expensive', to)];
}

function boundLine(which: string, { model, provider, region, instanceType, hourly }: BoundCost): string {
  const place =
    provider === null ? 'your price' : [providerName(provider), region, instanceType].filter(isNamed).join(' ');
  return `${which}: ${modelName(model)}, ${formatHourly(hourly)}, ${place}`;
}

/** Some providers have one price for all regions; the catalog then names no region. */
function isNamed(name: string): boolean {
  return name !== '' && name !== 'all' && name !== 'global';
}
