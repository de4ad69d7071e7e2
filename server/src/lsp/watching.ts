import type { Connection, FileEvent } from 'vscode-languageserver';
import { configName, isWithin, normalizeUri } from '../config/places.ts';
import { maxListed } from '../config/schema.ts';
import type { ConfinedHost } from './confined-host.ts';
import { guarded, type Log } from './guard.ts';
import { DidChangeWatchedFilesNotification, FileChangeType, WatchKind } from './library.ts';
import { indexedNames, isExcluded, isIndexedName } from './protocol.ts';

/** Makes the client watch the manifests and configs of the workspace. */
export function watchFiles(connection: Connection, log: Log): void {
  void guarded(log, 'registerCapability', () =>
    connection.client.register(DidChangeWatchedFilesNotification.type, {
      watchers: [
        // `Kustomization` is a valid name without an extension. Kustomizations can name JSON files, and charts have named templates.
        ...[configName, ...indexedNames, 'Kustomization', '*.json', '_helpers.tpl'].map((name) => ({
          globPattern: `**/${name}`,
        })),
        // If a folder is created or deleted, some clients report only the folder.
        { globPattern: '**', kind: WatchKind.Create | WatchKind.Delete },
      ],
    }),
  );
}

/** A batch of events without duplicates. */
export interface Changes {
  /** Manifests, configs and kustomizations. */
  readonly files: readonly FileEvent[];
  /** The normalized URIs of deleted files and folders. */
  readonly removed: ReadonlySet<string>;
  /** New files and folders, none inside another. */
  readonly created: readonly string[];
}

export function sortChanges(changes: readonly FileEvent[]): Changes {
  const files = new Map<string, FileEvent>();
  const others = changes.filter((change) => {
    if (isIndexedName(change.uri) || change.uri.endsWith('/Kustomization')) files.set(normalizeUri(change.uri), change);
    else return !isExcluded(change.uri);
    return false;
  });
  const urisOf = (changeType: FileChangeType) => others.filter(({ type }) => type === changeType).map(({ uri }) => uri);
  const created = new Map(urisOf(FileChangeType.Created).map((uri) => [normalizeUri(uri), uri]));
  const names = new Set(created.keys());
  return {
    files: [...files.values()],
    removed: new Set(urisOf(FileChangeType.Deleted).map(normalizeUri)),
    created: [...created].filter(([key]) => !isWithin(key, names)).map(([, uri]) => uri),
  };
}

/** The files in a new folder that were not reported: the editor may have started to watch the folder too late. */
export async function filesIn(
  folder: string,
  reported: readonly FileEvent[],
  host: ConfinedHost,
): Promise<readonly FileEvent[]> {
  // On other file systems, each listing can be a round trip over a network.
  if (!folder.startsWith('file:')) return [];
  const known = new Set(reported.map(({ uri }) => normalizeUri(uri)));
  const found = (await host.listFiles?.(folder, maxListed)) ?? [];
  return found.filter((uri) => !known.has(normalizeUri(uri))).map((uri) => ({ uri, type: FileChangeType.Created }));
}
