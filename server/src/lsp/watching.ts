import {
  type Connection,
  DidChangeWatchedFilesNotification,
  type Disposable,
  FileChangeType,
  type FileEvent,
  WatchKind,
} from 'vscode-languageserver';
import { configName, isWithin, normalizeUri } from '../config/places.ts';
import { guarded, type Log } from './guard.ts';
import { mostFiles, watchedFiles } from './indexing.ts';
import type { Host, Projects } from './projects.ts';
import { isPassedBy } from './requests.ts';

/**
 * Has the client watch the manifests and configs of the workspace, and the configs above its folders, which count there too.
 * @param relative the client can watch what lies outside the workspace
 * @returns to be called with the workspace's folders, at first and whenever they change
 */
export function watchFiles(
  connection: Connection,
  projects: Projects,
  log: Log,
  relative: boolean,
): (folders: readonly string[]) => void {
  let registered: Promise<Disposable | undefined> = Promise.resolve(undefined);
  let known: string | undefined;

  function register(above: readonly string[]): Promise<Disposable> {
    return connection.client.register(DidChangeWatchedFilesNotification.type, {
      watchers: [
        ...[`**/${configName}`, ...watchedFiles].map((globPattern) => ({ globPattern })),
        // Of what comes or goes with its folder only the folder may be told.
        { globPattern: '**', kind: WatchKind.Create | WatchKind.Delete },
        ...above.map((baseUri) => ({ globPattern: { baseUri, pattern: configName } })),
      ],
    });
  }

  return (folders) => {
    const former = registered;
    registered = former.then(async () => {
      let made = await former;
      await guarded(log, 'registerCapability', async () => {
        const found = relative ? await Promise.all(folders.map((folder) => projects.foldersAbove(folder))) : [];
        const above = [...new Set(found.flat())];
        if (above.join('\n') === known) return;
        known = above.join('\n');
        made = await register(above);
        (await former)?.dispose();
      });
      return made;
    });
  };
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

/** The files in a folder that has come, but for those that were told: the editor may have begun to watch too late for them. */
export async function filesIn(folder: string, told: readonly FileEvent[], host: Host): Promise<readonly FileEvent[]> {
  // On other file systems every question may be a round trip over a network.
  if (!folder.startsWith('file:')) return [];
  const known = new Set(told.map(({ uri }) => normalizeUri(uri)));
  const found = (await host.listFiles?.(folder, mostFiles, 'passed by')) ?? [];
  return found.filter((uri) => !known.has(normalizeUri(uri))).map((uri) => ({ uri, type: FileChangeType.Created }));
}
