import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import * as z from 'zod/mini';
import { catalogPrices, type FetchedPrice, type PriceSheet, priceSheet, providers } from '../catalog/index.ts';
import type { PricesInUse } from '../config.ts';
import { cacheFolder } from '../process/cache-folder.ts';
import { own } from '../yaml/table.ts';
import { parsedJson } from './json.ts';

// The prices that `gpulint prices refresh` has fetched: one file of the user, which the command line and the language server read. Without it,
// the prices of the catalog apply.

const date = z.string().check(z.regex(/^\d{4}-\d{2}-\d{2}$/));

/** `source` is an index into the sources, each an address and the day on which it was read. */
const sheetSchema = z.object({
  version: z.number(),
  updated: z.string(),
  sources: z.array(z.object({ url: z.string(), date })),
  prices: z.array(
    z.object({
      provider: z.enum(providers),
      instanceType: z.string().check(z.minLength(1)),
      region: z.string().check(z.minLength(1)),
      pricing: z.enum(['on-demand', 'spot']),
      hourly: z.number().check(z.positive(), z.maximum(100_000)),
      basis: z.nullable(z.string()),
      source: z.int().check(z.minimum(0)),
    }),
  ),
});

/** The content of the file. */
export interface StoredSheet {
  /** When it was last written, in ISO 8601. */
  readonly updated: string;
  readonly prices: readonly FetchedPrice[];
}

/** `none`: there is no file, or the environment turns it off; `unusable`: it is ignored, for the reason given. */
export type ReadSheet =
  | { readonly kind: 'sheet'; readonly file: string; readonly stored: StoredSheet }
  | { readonly kind: 'none'; readonly file: string | null }
  | { readonly kind: 'unusable'; readonly file: string; readonly reason: string };

type Environment = NodeJS.ProcessEnv;

/**
 * The path of the user's price sheet; null if the environment turns it off (`GPULINT_PRICES=none`). GPULINT_PRICES can name another file.
 */
export function sheetPath(env: Environment, platform: string = process.platform): string | null {
  const named = env.GPULINT_PRICES;
  if (named === 'none') return null;
  if (named) return path.resolve(named);
  return path.join(cacheFolder(env, platform), 'gpulint', 'prices.json');
}

/** Reads the price sheet. Never throws. */
export function readSheet(file: string | null): ReadSheet {
  if (file === null) return { kind: 'none', file };
  let text: string;
  try {
    const stats = fs.statSync(file);
    if (!stats.isFile()) return { kind: 'unusable', file, reason: 'it is not a regular file' };
    if (stats.size > maxBytes) return { kind: 'unusable', file, reason: 'it is larger than 64 MB' };
    text = fs.readFileSync(file, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'none', file };
    const isForbidden = code === 'EACCES' || code === 'EPERM';
    const message = error instanceof Error ? error.message : String(error);
    return { kind: 'unusable', file, reason: isForbidden ? 'permission denied' : message };
  }
  const value = parsedJson(text);
  if (value === undefined) return { kind: 'unusable', file, reason: 'it is not JSON' };
  const version = own(value, 'version');
  if (typeof version === 'number' && version !== 1)
    return { kind: 'unusable', file, reason: `another version of gpulint wrote it (format ${version})` };
  const read = sheetSchema.safeParse(value);
  const [issue] = read.error?.issues ?? [];
  if (!read.success) return { kind: 'unusable', file, reason: `it is damaged at ${issue?.path.join('.') ?? ''}` };
  const { updated, sources, prices } = read.data;
  const stored: FetchedPrice[] = [];
  for (const price of prices) {
    const source = sources[price.source];
    if (source === undefined) return { kind: 'unusable', file, reason: `it is damaged at prices.${stored.length}` };
    const provider = price.provider as FetchedPrice['provider'];
    stored.push({ ...price, provider, source: source.url, date: source.date });
  }
  return { kind: 'sheet', file, stored: { updated, prices: stored } };
}

const maxBytes = 64_000_000;

/** Replaces the price sheet: a reader sees the old or the new one, and a failure leaves the old one. */
export function writeSheet(file: string, { updated, prices }: StoredSheet): void {
  const places = new Map<string, number>();
  const sources: { readonly url: string; readonly date: string }[] = [];
  const rows = prices.map(({ source: url, date: day, ...price }) => {
    const key = `${day} ${url}`;
    let place = places.get(key);
    if (place === undefined) {
      place = sources.push({ url, date: day }) - 1;
      places.set(key, place);
    }
    return { ...price, source: place };
  });
  const lines = (values: readonly unknown[]) => `[\n${values.map((value) => JSON.stringify(value)).join(',\n')}\n]`;
  const text = `{"version":1,"updated":${JSON.stringify(updated)},\n"sources":${lines(sources)},\n"prices":${lines(rows)}}\n`;
  fs.mkdirSync(path.dirname(file), { recursive: true });
  const draft = `${file}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    fs.writeFileSync(draft, text, { flag: 'wx' });
    fs.renameSync(draft, file);
  } finally {
    fs.rmSync(draft, { force: true });
  }
}

/** The prices of this machine at the current date, and why its price sheet is ignored, as a sentence. */
export function pricesInUse(env: Environment): PricesInUse & { readonly problem: string | null } {
  const file = sheetPath(env);
  // In a container, the home folder can belong to another user: its cache has no sheet of this one.
  const read = readSheet(env.GPULINT_PRICES || isReachable(file) ? file : null);
  const sheet: PriceSheet = read.kind === 'sheet' ? priceSheet(read.stored.updated, read.stored.prices) : catalogPrices;
  return { sheet, today: today(env), problem: read.kind === 'unusable' ? sheetProblem(read) : null };
}

/** Whether the folders above a file can be searched. */
function isReachable(file: string | null): boolean {
  if (file === null) return false;
  try {
    fs.statSync(file);
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'EACCES');
  }
}

/** `/home/a/.cache/gpulint/prices.json is ignored: it is not JSON; …`. */
export function sheetProblem({ file, reason }: { readonly file: string; readonly reason: string }): string {
  return `the price sheet ${file} is ignored: ${reason}; run "gpulint prices refresh" or "gpulint prices reset"`;
}

/** The current date. SOURCE_DATE_EPOCH replaces it, so that a build can be repeated. */
export function today(env: Environment): string {
  const epoch = Number(env.SOURCE_DATE_EPOCH || Number.NaN);
  const now = new Date(Number.isFinite(epoch) && Math.abs(epoch) < 8e12 ? epoch * 1000 : Date.now());
  return now.toISOString().slice(0, 10);
}
