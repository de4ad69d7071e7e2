import type { StartThread } from '../cluster/client.ts';
import { normalizeUri, pathBelow, withoutSlash } from '../config/places.ts';
import type { PricesInUse } from '../config.ts';
import { isAccessDenied, outside } from './access-denied.ts';
import type { Log } from './guard.ts';
import { createPendingReads, type PendingReads } from './pending-reads.ts';

/** What the server needs from the machine on which it runs. Use it only through `confine`. */
export interface Host {
  /**
   * The text of a file; undefined if it does not exist. Throws `accessDenied` for a file that must not be read.
   * @param folders of the workspace, starting with the one that contains the URI. With all links resolved, the file must be in one of them
   */
  readFile(uri: string, folders: readonly string[]): Promise<string | undefined>;
  /** The files below a folder that are indexed, unordered, up to a limit; links are not followed. Without this function, only open files are known. */
  listFiles?(folder: string, limit: number, folders: readonly string[]): Promise<readonly string[]>;
  /** Does work that reads many files, so that reading them is faster. */
  inBulk?<T>(work: () => Promise<T>): Promise<T>;
  /** The user's home folder as a URI: configs above it are ignored. */
  readonly home?: string;
  /** The prices of this machine, read again by each call. Without this function, those of the catalog apply. */
  prices?(): MachinePrices;
  /** Runs the garbage collector. Without this function, the engine decides when. */
  collect?(): void;
  /** Starts the thread that follows a cluster. Without this function, there are no clusters. */
  readonly startCluster?: StartThread;
}

/** Prices, and why the price sheet of the user is ignored, as a sentence. */
export type MachinePrices = PricesInUse & { readonly problem: string | null };

/** The only access to files that are not open. Nothing outside the workspace folders is read or listed. */
export interface ConfinedHost extends PendingReads {
  /** The text of a file in the workspace; undefined if it does not exist or access is denied, which is logged once. */
  readFile(uri: string): Promise<string | undefined>;
  readonly listFiles?: (folder: string, limit: number) => Promise<readonly string[]>;
  /** Does work that reads many files. */
  inBulk<T>(work: () => Promise<T>): Promise<T>;
  readonly home?: string;
  readonly prices?: () => MachinePrices;
  setFolders(folders: readonly string[]): void;
  /** Whether a URI is below a workspace folder by its path. Links are resolved only when the file is read. */
  reaches(uri: string): boolean;
  /** Whether access was denied to the last read, so that the file may exist. */
  isDenied(uri: string): boolean;
}

export function confine(host: Host, log: Log): ConfinedHost {
  let folders: readonly string[] = [];
  const denials = new Set<string>();
  const pending = createPendingReads();
  const { listFiles, home, prices } = host;

  function foldersHolding(uri: string): readonly string[] | undefined {
    if (isAmbiguous(uri)) return undefined;
    const holds = (folder: string) =>
      pathBelow(folder, uri) !== undefined || normalizeUri(folder) === normalizeUri(uri);
    const own = folders.filter(holds);
    return own.length === 0 ? undefined : [...own, ...folders.filter((folder) => !own.includes(folder))];
  }

  function deny(uri: string, reason: string): void {
    if (denials.has(uri)) return;
    // Typing in a kustomization can produce new names indefinitely.
    if (denials.size >= maxDenials) denials.clear();
    denials.add(uri);
    log(`${uri} is not read: it ${reason}`);
  }

  return {
    ...pending,
    inBulk: (work) => (host.inBulk === undefined ? work() : host.inBulk(work)),
    ...(home !== undefined && { home }),
    ...(prices !== undefined && { prices }),
    async readFile(uri) {
      const own = foldersHolding(uri);
      if (own === undefined) {
        deny(uri, outside);
        return undefined;
      }
      try {
        const text: unknown = await pending.reading(() => host.readFile(uri, own));
        denials.delete(uri);
        return typeof text === 'string' ? text : undefined;
      } catch (error) {
        if (!isAccessDenied(error)) throw error;
        deny(uri, error.message);
        return undefined;
      }
    },
    ...(listFiles !== undefined && {
      async listFiles(folder: string, limit: number) {
        const own = foldersHolding(folder);
        const found: unknown = own === undefined ? [] : await pending.reading(() => listFiles(folder, limit, own));
        return Array.isArray(found) ? found.filter((uri) => typeof uri === 'string') : [];
      },
    }),
    setFolders(newFolders) {
      folders = newFolders.map(withoutSlash);
      denials.clear();
    },
    reaches: (uri) => foldersHolding(uri) !== undefined,
    isDenied: (uri) => denials.has(uri),
  };
}

const maxDenials = 1000;

/** Whether a URI can mean another path than its text shows: through `..`, escaped or not, or through characters that parsers drop. */
function isAmbiguous(uri: string): boolean {
  try {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: URL parsers drop tabs and line breaks, so that two dots may meet.
    return /[\0-\x1f\x7f]|(?:^|[/\\])\.\.?(?:[/\\?#]|$)/.test(decodeURIComponent(uri));
  } catch {
    // Clients decode such a URI in different ways.
    return true;
  }
}
