import type { OutgoingHttpHeaders } from 'node:http';
import type { FetchedPrice, InstanceType } from '../catalog/index.ts';

/** A public source of prices. Its files are read one by one, and each leaves facts and the addresses of further files. */
export interface PriceSource {
  readonly id: SourceId;
  /** `the AWS price list`. */
  readonly name: string;
  /** The addresses to start from. */
  readonly start: (wanted: Wanted) => readonly string[];
  /** Reads one file; throws an error that says what is unexpected. */
  readonly read: (url: string, body: Body, wanted: Wanted) => Promise<Page>;
  /** The prices that follow from all facts. */
  readonly prices: (facts: readonly SourcedFact[], wanted: Wanted) => readonly FoundPrice[];
  /** More files than the source can have: an endless list ends here. */
  readonly maxFiles: number;
  readonly headers?: OutgoingHttpHeaders;
}

export const sourceIds = ['aws', 'azure', 'gcp', 'skypilot'] as const;
export type SourceId = (typeof sourceIds)[number];

/** What to fetch. */
export interface Wanted {
  /** The machines of the catalog: prices of others have no use. */
  readonly machines: readonly InstanceType[];
  /** Empty: what the source fetches by default. */
  readonly regions: readonly string[];
  /** The regions of AWS that are fetched by default: each has a file of some 300 MB. */
  readonly usualAwsRegions: readonly string[];
  /** YYYY-MM-DD. */
  readonly today: string;
}

/** The content of one file: as chunks of text, or as a whole. */
export interface Body {
  readonly chunks: AsyncIterable<string>;
  json(): Promise<unknown>;
}

/**
 * One figure of a source: what it is the price (or the saving in percent) of, and since when if the source says so. Plain JSON, because it is
 * stored until the refresh is complete.
 */
export type Fact = readonly [
  what: string,
  region: string,
  pricing: FetchedPrice['pricing'],
  amount: number,
  since: string,
];

export interface Page {
  readonly facts: readonly Fact[];
  readonly next: readonly string[];
}

/** A fact, and the address and the day of the file that it is from. */
export interface SourcedFact {
  readonly fact: Fact;
  readonly url: string;
  readonly date: string;
}

export type FoundPrice = FetchedPrice;

/** The median of amounts, for prices that differ by zone; 0 without amounts. */
export function median(amounts: readonly number[]): number {
  const sorted = [...amounts].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const high = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? high : ((sorted[middle - 1] ?? high) + high) / 2;
}

/** The machines with accelerators of a provider, by name. */
export function machinesOf(provider: string, { machines }: Wanted): ReadonlyMap<string, InstanceType> {
  const own = machines.filter((machine) => machine.provider === provider && machine.gpu !== null);
  return new Map(own.map((machine) => [machine.name, machine]));
}

/** Whether a region is to be fetched. */
export function isWanted(region: string, { regions }: Wanted): boolean {
  return regions.length === 0 || regions.includes(region);
}

/** A price that is not wildly wrong. */
export function isPlausible(hourly: number): boolean {
  return Number.isFinite(hourly) && hourly > 0.005 && hourly < 2000;
}

/** An error for a file that does not have the expected format. */
export function unexpected(what: string): Error {
  return new Error(`its format is unexpected: ${what}`);
}

/** Facts grouped by what they are of. */
export function grouped(facts: readonly SourcedFact[]): ReadonlyMap<string, readonly SourcedFact[]> {
  const groups = new Map<string, SourcedFact[]>();
  for (const one of facts) {
    const [what, region, pricing] = one.fact;
    const key = JSON.stringify([what, region, pricing]);
    const known = groups.get(key);
    if (known === undefined) groups.set(key, [one]);
    else known.push(one);
  }
  return groups;
}
