import { normalizeUri, pathBelow, withoutSlash } from '../config/places.ts';
import type { Log } from './guard.ts';
import { createPendingReads, type PendingReads } from './pending-reads.ts';

/** What the server needs of the machine it runs on. It is used through `confine` only. */
export interface Host {
  /**
   * The text of a file; undefined where there is none. Throws a `refusal` for one that must not be read.
   * @param folders of the workspace, the one that the URI is below first: with all links followed the file has to lie in one of them
   */
  readFile(uri: string, folders: readonly string[]): Promise<string | undefined>;
  /**
   * The YAML files below a folder, in no order, at most so many; links, and all below them, are passed by. Left out: files are seen only while
   * they are open.
   */
  listFiles?(folder: string, most: number, folders: readonly string[]): Promise<readonly string[]>;
  /** The person's home folder as a URI: configs further up do not count. */
  readonly home?: string;
  /** Gives back memory that nobody uses any more. Left out: the engine decides when. */
  collect?(): void;
}

/** The one way to files that are not open: whatever asks, nothing outside the workspace folders is read or listed. */
export interface ConfinedHost extends PendingReads {
  /** The text of a file of the workspace; undefined where there is none, and for what is refused, which the log says once. */
  readFile(uri: string): Promise<string | undefined>;
  readonly listFiles?: (folder: string, most: number) => Promise<readonly string[]>;
  readonly home?: string;
  setFolders(folders: readonly string[]): void;
  /** Whether a URI is below a workspace folder, by its name: what leads through links is known when it is read. */
  reaches(uri: string): boolean;
  /** Whether the file may be there although its last read gave nothing. */
  isRefused(uri: string): boolean;
}

/** Why a file is not read: a clause for the log, and no fault of the program. */
export function refusal(reason: string): Error {
  const error = new Error(reason);
  error.name = refused;
  return error;
}
const refused = 'Refused';

export function confine(host: Host, log: Log): ConfinedHost {
  let folders: readonly string[] = [];
  const refusals = new Set<string>();
  const pending = createPendingReads();
  const { listFiles, home } = host;

  function holding(uri: string): readonly string[] | undefined {
    if (leadsUp(uri)) return undefined;
    const holds = (folder: string) =>
      pathBelow(folder, uri) !== undefined || normalizeUri(folder) === normalizeUri(uri);
    const own = folders.filter(holds);
    return own.length === 0 ? undefined : [...own, ...folders.filter((folder) => !own.includes(folder))];
  }

  function refuse(uri: string, reason: string): void {
    if (refusals.has(uri)) return;
    // What somebody types into a kustomization may name new files forever.
    if (refusals.size >= mostRefusals) refusals.clear();
    refusals.add(uri);
    log(`${uri} is not read: it ${reason}`);
  }

  return {
    ...pending,
    ...(home !== undefined && { home }),
    async readFile(uri) {
      const own = holding(uri);
      if (own === undefined) {
        refuse(uri, outside);
        return undefined;
      }
      try {
        const text: unknown = await pending.reading(() => host.readFile(uri, own));
        refusals.delete(uri);
        return typeof text === 'string' ? text : undefined;
      } catch (error) {
        if (!(error instanceof Error) || error.name !== refused) throw error;
        refuse(uri, error.message);
        return undefined;
      }
    },
    ...(listFiles !== undefined && {
      async listFiles(folder: string, most: number) {
        const own = holding(folder);
        const found: unknown = own === undefined ? [] : await pending.reading(() => listFiles(folder, most, own));
        return Array.isArray(found) ? found.filter((uri) => typeof uri === 'string') : [];
      },
    }),
    setFolders(wanted) {
      folders = wanted.map(withoutSlash);
      refusals.clear();
    },
    reaches: (uri) => holding(uri) !== undefined,
    isRefused: (uri) => refusals.has(uri),
  };
}

export const outside = 'leads outside the workspace folders';

const mostRefusals = 1000;

/** Whether a URI could mean another place than its text says: by steps upward, escaped or not, or by characters that a parser drops. */
function leadsUp(uri: string): boolean {
  try {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: URL parsers drop tabs and line breaks, so that two dots may meet.
    return /[\0-\x1f\x7f]|(?:^|[/\\])\.\.?(?:[/\\?#]|$)/.test(decodeURIComponent(uri));
  } catch {
    // Clients decode what they can of such a URI, each in its own way.
    return true;
  }
}
