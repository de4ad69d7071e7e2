import type { Placement } from '../model/workload.ts';
import type { OwnPrices } from './custom-prices.ts';
import { type Quote, quote } from './offers.ts';
import { rangeOf } from './range.ts';
import type { Range } from './types.ts';

/** The prices of pods that may run on spot nodes and on demand. US dollars per hour and pod. */
export interface SpotFirstQuotes {
  readonly quotes: readonly Quote[];
  readonly spot: Range;
  readonly onDemand: Range;
  readonly isFirst: boolean;
}

/**
 * The prices on spot nodes and on the others; undefined if pods run only on one of them, or without prices of both.
 * @param devices of a model per pod
 */
export function spotFirstQuotes(
  models: readonly string[],
  devices: (model: string) => number,
  placement: Placement,
  prices: OwnPrices,
): SpotFirstQuotes | undefined {
  const { spotFirst } = placement;
  if (spotFirst === undefined) return undefined;
  const pricesOn = (pricing: 'spot' | 'on-demand', terms: Placement['terms']) =>
    models
      .map((model) => quote(model, devices(model), { ...placement, terms }, pricing, prices))
      .filter((one) => one.prices.length > 0);
  const first = pricesOn('spot', spotFirst.spot);
  const others = pricesOn('on-demand', spotFirst.onDemand);
  const spot = rangeOfQuotes(first);
  const onDemand = rangeOfQuotes(others);
  const { isFirst } = spotFirst;
  return spot && onDemand && { quotes: [...first, ...others], spot, onDemand, isFirst };
}

/** From the lowest price to the highest; undefined without prices. */
export function rangeOfQuotes(quotes: readonly Quote[]): Range | undefined {
  return rangeOf(quotes.flatMap(({ prices }) => prices.map(({ hourly }) => hourly)));
}
