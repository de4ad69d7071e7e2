import {
  type Connection,
  DidChangeWatchedFilesNotification,
  FileChangeType,
  type FileEvent,
  WatchKind,
} from 'vscode-languageserver';
import { configName, isWithin, normalizeUri } from '../config/places.ts';
import { maxListed } from '../config/schema.ts';
import type { ConfinedHost } from './confined-host.ts';
import { guarded, type Log } from './guard.ts';
import { watchedFiles } from './indexing.ts';
import { isPassedBy } from './requests.ts';

/** Has the client watch the manifests and configs of the workspace. */
export function watchFiles(connection: Connection, log: Log): void {
  void guarded(log, 'registerCapability', () =>
    connection.client.register(DidChangeWatchedFilesNotification.type, {
      watchers: [
        ...[`**/${configName}`, ...watchedFiles].map((globPattern) => ({ globPattern })),
        // Of what comes or goes with its folder only the folder may be reported.
        { globPattern: '**', kind: WatchKind.Create | WatchKind.Delete },
      ],
    }),
  );
}

/** What a batch of events says, with nothing twice. */
export interface Changes {
  /** Manifests, configs and kustomizations. */
  readonly files: readonly FileEvent[];
  /** What is gone and may have been folders, normalised. */
  readonly gone: ReadonlySet<string>;
  /** What has come and may be folders, none of them in another. */
  readonly come: readonly string[];
}

export function sortChanges(changes: readonly FileEvent[]): Changes {
  const files = new Map<string, FileEvent>();
  const others = changes.filter((change) => {
    if (/\.ya?ml$|\/Kustomization$/.test(change.uri)) files.set(normalizeUri(change.uri), change);
    else return !isPassedBy(change.uri);
    return false;
  });
  const of = (wanted: FileChangeType) => others.filter(({ type }) => type === wanted).map(({ uri }) => uri);
  const come = new Map(of(FileChangeType.Created).map((uri) => [normalizeUri(uri), uri]));
  const names = new Set(come.keys());
  return {
    files: [...files.values()],
    gone: new Set(of(FileChangeType.Deleted).map(normalizeUri)),
    come: [...come].filter(([key]) => !isWithin(key, names)).map(([, uri]) => uri),
  };
}

/** The files in a folder that has come, but for those that were reported: the editor may have begun to watch too late for them. */
export async function filesIn(
  folder: string,
  reported: readonly FileEvent[],
  host: ConfinedHost,
): Promise<readonly FileEvent[]> {
  // On other file systems every question may be a round trip over a network.
  if (!folder.startsWith('file:')) return [];
  const known = new Set(reported.map(({ uri }) => normalizeUri(uri)));
  const found = (await host.listFiles?.(folder, maxListed)) ?? [];
  return found.filter((uri) => !known.has(normalizeUri(uri))).map((uri) => ({ uri, type: FileChangeType.Created }));
}
