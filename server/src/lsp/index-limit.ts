import { isConfigUri, isWithin, normalizeUri, pathBelow } from '../config/places.ts';
import { maxListed } from '../config/schema.ts';
import { isModelConfig } from '../workspace/model-configs.ts';
import { isTerraform } from '../workspace/terraform.ts';
import { isExcluded } from './protocol.ts';

/** The part of a workspace folder that is indexed. */
export interface Share {
  readonly folder: string;
  /** The limit of the folder. */
  readonly limit: number;
  /** The files that are indexed, in the order in which they are read. */
  readonly uris: readonly string[];
  /** The number of files found. */
  readonly total: number;
  /** The normalized URIs of the files that are indexed now. */
  readonly indexedKeys: Set<string>;
}

/** If a folder has too many files, the uppermost ones are indexed, sorted by name at the same depth. The order of the listing has no effect. */
export function shareOf(folder: string, found: readonly string[], limit: number): Share {
  const manifests = found.filter(isIndexable).map((uri) => ({ uri, depth: uri.split('/').length }));
  manifests.sort((a, b) => a.depth - b.depth || (a.uri < b.uri ? -1 : 1));
  const uris = manifests.slice(0, limit).map(({ uri }) => uri);
  return { folder, limit, uris, total: manifests.length, indexedKeys: new Set(uris.map(normalizeUri)) };
}

/** Whether a changed file is indexed or can be. A new file takes up free room. */
export function isWithinLimit(shares: readonly Share[], uri: string): boolean {
  const key = normalizeUri(uri);
  const own = shares.filter(({ folder }) => isBelow(folder, uri));
  // The contents of a folder are unknown while it is being listed.
  if (own.length === 0 || own.some(({ indexedKeys }) => indexedKeys.has(key))) return true;
  const free = own.find(({ limit, indexedKeys }) => indexedKeys.size < limit);
  free?.indexedKeys.add(key);
  return free !== undefined;
}

/** Frees the room of deleted files. @param uris normalized URIs of files or folders */
export function release(shares: readonly Share[], uris: ReadonlySet<string>): void {
  for (const { indexedKeys } of shares)
    for (const key of indexedKeys) if (uris.has(key) || isWithin(key, uris)) indexedKeys.delete(key);
}

/** The message about files that are not indexed; undefined if all are. */
export function indexLimitMessage(shares: readonly Share[]): string | undefined {
  if (shares.every(({ total, limit }) => total <= limit)) return undefined;
  const sum = (counts: readonly number[]) => counts.reduce((all, one) => all + one, 0).toLocaleString('en');
  const total = `${shares.some((one) => one.total >= maxListed) ? 'at least ' : ''}${sum(shares.map((one) => one.total))}`;
  const indexed = sum(shares.map(({ uris }) => uris.length));
  return `gpulint has indexed ${indexed} of ${total} YAML files. The rest, the most deeply nested, are checked only while open, and other files cannot see what they define. To index more, raise gpulint.index.maxFiles.`;
}

/** Whether a listed file can matter to manifests. */
export function isIndexable(uri: string): boolean {
  return isTerraform(uri) || isModelConfig(uri) || (/\.ya?ml$/.test(uri) && !isConfigUri(uri));
}

export function isBelow(folder: string, uri: string): boolean {
  const path = pathBelow(folder, uri);
  return path !== undefined && !isExcluded(path);
}
