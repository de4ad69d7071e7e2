import type { PricesInUse, ProjectConfig } from '../config.ts';
import { listPrices, type OwnPrices } from '../cost/custom-prices.ts';
import { tableOf } from '../yaml/table.ts';
import { parsedJson } from './parsed-json.ts';

/** A project's own prices as text, for the thread that follows a cluster: tables lose their nature when they pass between threads. */
export function ownPricesText({ prices: { sheet: _sheet, ...own } }: Pick<ProjectConfig, 'prices'>): string {
  return JSON.stringify(own);
}

/** Own prices from their text; without any, the list prices. */
export function ownPricesOf(text: string, { sheet, today }: PricesInUse): OwnPrices {
  const own = parsedJson(text, asTables) as Partial<OwnPrices> | undefined;
  return { ...listPrices, ...own, sheet, today };
}

/** Names of machines are keys: they must not meet what every object has. */
function asTables(_: string, value: unknown): unknown {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? tableOf(Object.entries(value)) : value;
}
