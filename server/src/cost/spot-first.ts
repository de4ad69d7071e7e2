import type { Placement } from '../model/workload.ts';
import type { Assumption } from './assumption.ts';
import type { OwnPrices } from './custom-prices.ts';
import { type Quote, quote } from './offers.ts';
import { rangeOf } from './range.ts';
import type { Range } from './types.ts';

/** The prices of pods that may run on spot nodes and on demand. US dollars per hour and pod. */
export interface SpotFirstQuotes {
  readonly quotes: readonly Quote[];
  readonly spot: Range;
  /** Undefined if no node on demand has room for a pod. */
  readonly onDemand: Range | undefined;
  readonly isFirst: boolean;
}

/**
 * The prices on spot nodes and on the others; undefined if the terms allow only one of them, or without a price on spot nodes. Nodes on demand
 * without a price may have too few devices for a pod.
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
  return spot && { quotes: [...first, ...others], spot, onDemand, isFirst };
}

/** What to show of them, if both have prices. */
export function spotFirstNotes(quotes: SpotFirstQuotes | undefined): readonly Assumption[] {
  if (quotes?.onDemand === undefined) return [];
  const { spot, onDemand, isFirst } = quotes;
  return [{ kind: 'spotFirst', spot, onDemand, isFirst }];
}

/** From the lowest price to the highest; undefined without prices. */
export function rangeOfQuotes(quotes: readonly Quote[]): Range | undefined {
  return rangeOf(quotes.flatMap(({ prices }) => prices.map(({ hourly }) => hourly)));
}
