import {
  type Connection,
  DidChangeWatchedFilesNotification,
  type Disposable,
  FileChangeType,
  type FileEvent,
  WatchKind,
} from 'vscode-languageserver';
import { configName } from '../config/places.ts';
import { guarded, type Log } from './guard.ts';
import { mostFiles, passedBy, watchedFiles } from './indexing.ts';
import type { Host, Projects } from './projects.ts';

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

  async function register(folders: readonly string[]): Promise<Disposable> {
    const above = relative ? await Promise.all(folders.map((folder) => projects.foldersAbove(folder))) : [];
    return connection.client.register(DidChangeWatchedFilesNotification.type, {
      watchers: [
        ...[`**/${configName}`, ...watchedFiles].map((globPattern) => ({ globPattern })),
        // Of what comes or goes with its folder only the folder may be told.
        { globPattern: '**', kind: WatchKind.Create | WatchKind.Delete },
        ...[...new Set(above.flat())].map((baseUri) => ({ globPattern: { baseUri, pattern: configName } })),
      ],
    });
  }

  return (folders) => {
    const former = registered;
    registered = former.then(async () => {
      let made: Disposable | undefined;
      await guarded(log, 'registerCapability', async () => {
        made = await register(folders);
        (await former)?.dispose();
      });
      return made;
    });
  };
}

/** Whether something is gone that may have been a folder. */
export function mayHaveBeenFolder({ uri, type }: FileEvent): boolean {
  return type === FileChangeType.Deleted && !isYaml(uri);
}

/** The files in folders that have come: the editor may have begun to watch too late for them. */
export async function comeWithFolder(changes: readonly FileEvent[], host: Host): Promise<readonly FileEvent[]> {
  const folders = changes
    .filter(({ uri, type }) => type === FileChangeType.Created && !isYaml(uri) && uri.startsWith('file:'))
    .filter(({ uri }) => !passedBy.test(`${uri}/`));
  const files: FileEvent[] = [];
  for (const { uri } of folders) {
    const found = (await host.listFiles?.(uri, mostFiles)) ?? [];
    files.push(...found.map((file) => ({ uri: file, type: FileChangeType.Created as FileChangeType })));
  }
  return files;
}

function isYaml(uri: string): boolean {
  return /\.ya?ml$/.test(uri);
}
