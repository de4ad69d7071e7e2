import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { FetchedPrice } from '../catalog/index.ts';
import { aws } from './aws.ts';
import { azure } from './azure.ts';
import { type DownloadLimits, download, usualLimits } from './download.ts';
import { gcp } from './gcp.ts';
import { type Journal, openJournal } from './journal.ts';
import type { PriceSource, SourcedFact, SourceId, Wanted } from './price-source.ts';
import type { StoredSheet } from './sheet-file.ts';
import { skypilot } from './skypilot.ts';
import { isConnectionError } from './web.ts';

export { type SourceId, sourceIds } from './price-source.ts';

export interface RefreshOptions extends Wanted {
  readonly sources: readonly SourceId[];
  /** An API key for Google Cloud. */
  readonly gcpKey: string | undefined;
  /** A folder for what arrived but is not complete yet. */
  readonly folder: string;
  readonly mirror?: string | undefined;
  readonly signal: AbortSignal;
  readonly progress: (step: RefreshStep) => void;
  readonly idleMs?: number;
  readonly limits?: Partial<DownloadLimits & { readonly facts: number }>;
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

export interface RefreshStep {
  readonly source: SourceId;
  /** The number of files that were read. */
  readonly files: number;
  /** The file that is being received. */
  readonly url: string;
  readonly received: number;
  readonly total: number | undefined;
}

/** What one source gave. */
export interface RefreshResult {
  readonly source: SourceId;
  readonly prices: readonly FetchedPrice[];
  /** Sentences; empty if everything was read. */
  readonly problems: readonly string[];
}

/**
 * Fetches prices from public sources, one after the other, and yields the result of each. What was read is kept in `folder` for a day: a refresh
 * that is interrupted continues there.
 * @throws the reason of `signal` if it is aborted
 */
export async function* refresh(options: RefreshOptions): AsyncGenerator<RefreshResult> {
  const unlock = lock(options.folder);
  removeOld(options.folder);
  try {
    for (const id of options.sources) {
      const source = sourceOf(id, options.gcpKey);
      if (source === undefined) yield { source: id, prices: [], problems: [noKey] };
      else yield await readSource(source, options);
    }
  } finally {
    unlock();
    removeEmpty(path.join(options.folder, 'parts'), options.folder);
  }
}

const noKey = 'Google Cloud requires an API key: set GPULINT_GCP_API_KEY to one that may use the Cloud Billing API';

function sourceOf(id: SourceId, key: string | undefined): PriceSource | undefined {
  switch (id) {
    case 'aws':
      return aws;
    case 'azure':
      return azure;
    case 'gcp':
      return key === undefined || key === '' ? undefined : gcp(key);
    case 'skypilot':
      return skypilot;
  }
}

const maxFacts = 400_000;
const endless = 'its pages never end';

async function readSource(source: PriceSource, options: RefreshOptions): Promise<RefreshResult> {
  // What was read for other regions is not complete for these.
  const name = [source.id, ...[...options.regions].sort()].join(' ').replace(/[^\w -]/g, '_');
  const journal = openJournal(path.join(options.folder, `${name}.ndjson`), options.today);
  const facts: SourcedFact[] = [];
  const problems: string[] = [];
  const waiting = [...source.start(options)];
  const seen = new Set(waiting);
  const unreachable = new Set<string>();
  let files = 0;
  for (let url = waiting.shift(); url !== undefined; url = waiting.shift()) {
    options.signal.throwIfAborted();
    const host = hostOf(url);
    if (unreachable.has(host)) continue;
    files += 1;
    try {
      const { page, date } = await readFile(url, source, files, journal, options);
      for (const fact of page.facts) facts.push({ fact, url, date });
      for (const next of page.next) {
        if (hostOf(next) !== host)
          throw new Error(`it continues on another host (${hostOf(next)}), which is not followed`);
        if (seen.has(next)) throw new Error(endless);
        seen.add(next);
        waiting.push(next);
      }
    } catch (error) {
      options.signal.throwIfAborted();
      problems.push(`${url}: ${error instanceof Error ? error.message : String(error)}`);
      // Its other files would only take as long to fail.
      if (isConnectionError(error)) unreachable.add(host);
    }
    const excess =
      facts.length > (options.limits?.facts ?? maxFacts)
        ? 'it has more rows than a price list can have'
        : files + waiting.length > source.maxFiles
          ? endless
          : undefined;
    if (excess !== undefined) {
      problems.push(`${url}: ${excess}`);
      break;
    }
  }
  const prices = source.prices(facts, options);
  if (prices.length === 0 && problems.length === 0)
    problems.push(`${source.name} has no prices of GPU machines${regionWords(options)}`);
  // What failed is tried again at once in the next run, and what was read need not be.
  if (problems.length === 0) journal.remove();
  return { source: source.id, prices, problems };
}

async function readFile(url: string, source: PriceSource, files: number, journal: Journal, options: RefreshOptions) {
  const known = journal.pages.get(url);
  if (known !== undefined) return known;
  const { folder, mirror, signal, idleMs = 60_000, limits, wait = pause } = options;
  const web = {
    folder: path.join(folder, 'parts'),
    mirror,
    signal,
    idleMs,
    wait,
    limits: { ...usualLimits, ...limits },
  };
  const progress = (received: number, total: number | undefined) =>
    options.progress({ source: source.id, files, url, received, total });
  progress(0, undefined);
  const page = await download(url, source.headers ?? {}, { ...web, progress }, (body) =>
    source.read(url, body, options),
  );
  const read = { page, date: options.today };
  journal.add(url, read);
  return read;
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal });
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : '';
}

function regionWords({ regions }: Wanted): string {
  return regions.length === 0 ? '' : ` in ${regions.join(', ')}`;
}

/** Removes what refreshes left behind that nobody continued. */
function removeOld(folder: string): void {
  const limit = Date.now() - 2 * 86_400_000;
  for (const here of [folder, path.join(folder, 'parts')]) {
    for (const entry of fs.existsSync(here) ? fs.readdirSync(here, { withFileTypes: true }) : []) {
      const file = path.join(here, entry.name);
      if (entry.isFile() && fs.statSync(file).mtimeMs < limit) fs.rmSync(file, { force: true });
    }
  }
}

/** After a complete refresh, nothing is left to continue. */
function removeEmpty(...folders: readonly string[]): void {
  for (const folder of folders) if (fs.existsSync(folder) && fs.readdirSync(folder).length === 0) fs.rmdirSync(folder);
}

/** Two refreshes at once would mix their parts. */
function lock(folder: string): () => void {
  fs.mkdirSync(folder, { recursive: true });
  const file = path.join(folder, 'lock');
  const holder = Number(fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : Number.NaN);
  if (Number.isInteger(holder) && holder !== process.pid && isRunning(holder))
    throw new Error(`another refresh is running (process ${holder}); wait for it, or end it`);
  fs.writeFileSync(file, String(process.pid));
  return () => fs.rmSync(file, { force: true });
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/**
 * The prices of a sheet with those that were fetched: for each machine, region and capacity type the newest, and of one day that of the provider
 * itself rather than a third party's.
 */
export function merged(
  before: StoredSheet | undefined,
  fetched: readonly FetchedPrice[],
  updated: string,
): StoredSheet {
  const all = new Map<string, FetchedPrice>();
  for (const price of [...(before?.prices ?? []), ...fetched]) {
    const { provider, instanceType, region, pricing } = price;
    const key = JSON.stringify([provider, instanceType, region, pricing]);
    const known = all.get(key);
    if (known === undefined || rank(price) >= rank(known)) all.set(key, price);
  }
  return { updated, prices: [...all.values()] };
}

function rank({ date, source }: FetchedPrice): string {
  return `${date} ${source.includes('skypilot-catalog') ? 0 : 1}`;
}
