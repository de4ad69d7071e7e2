import { isConfigUri, isWithin, normalizeUri, pathBelow } from '../config/places.ts';
import { maxListed } from '../config/schema.ts';
import { isExcluded } from './requests.ts';

/** What of a workspace folder is indexed. */
export interface Share {
  readonly folder: string;
  /** The limit that holds for the folder. */
  readonly most: number;
  /** The files that are indexed, in the order in which they are read. */
  readonly uris: readonly string[];
  /** All that were found. */
  readonly total: number;
  /** Those that are indexed now, normalised. */
  readonly taken: Set<string>;
}

/** Of a folder with too many files the upper ones are taken, by name where they are equally deep: always the same, however a host lists them. */
export function shareOf(folder: string, found: readonly string[], most: number): Share {
  const manifests = found.filter(isManifest).map((uri) => ({ uri, depth: uri.split('/').length }));
  manifests.sort((a, b) => a.depth - b.depth || (a.uri < b.uri ? -1 : 1));
  const uris = manifests.slice(0, most).map(({ uri }) => uri);
  return { folder, most, uris, total: manifests.length, taken: new Set(uris.map(normalizeUri)) };
}

/** Whether a file that has changed is indexed, or can be. A new one takes what room there is. */
export function takes(shares: readonly Share[], uri: string): boolean {
  const key = normalizeUri(uri);
  const own = shares.filter(({ folder }) => isBelow(folder, uri));
  // While a folder is being listed nothing is known of it.
  if (own.length === 0 || own.some(({ taken }) => taken.has(key))) return true;
  const free = own.find(({ most, taken }) => taken.size < most);
  free?.taken.add(key);
  return free !== undefined;
}

/** What is gone makes room. @param uris normalised; files, or folders */
export function release(shares: readonly Share[], uris: ReadonlySet<string>): void {
  for (const { taken } of shares) for (const key of taken) if (uris.has(key) || isWithin(key, uris)) taken.delete(key);
}

/** Says what is not indexed; undefined where everything is. */
export function indexLimitMessage(shares: readonly Share[]): string | undefined {
  if (shares.every(({ total, most }) => total <= most)) return undefined;
  const sum = (counts: readonly number[]) => counts.reduce((all, one) => all + one, 0).toLocaleString('en');
  const total = `${shares.some((one) => one.total >= maxListed) ? 'at least ' : ''}${sum(shares.map((one) => one.total))}`;
  const indexed = sum(shares.map(({ uris }) => uris.length));
  return `gpulint has indexed ${indexed} of ${total} YAML files. The rest, the most deeply nested, are checked only while open, and other files cannot see what they define. To index more, raise gpulint.index.maxFiles.`;
}

/** As a host lists them. */
export function isManifest(uri: string): boolean {
  return /\.ya?ml$/.test(uri) && !isConfigUri(uri);
}

export function isBelow(folder: string, uri: string): boolean {
  const path = pathBelow(folder, uri);
  return path !== undefined && !isExcluded(path);
}
