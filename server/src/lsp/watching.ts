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
import { watchedFiles } from './indexing.ts';
import type { Projects } from './projects.ts';

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
        // Of what is deleted with its folder only the folder is told.
        { globPattern: '**', kind: WatchKind.Delete },
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
export function mayBeFolder({ uri, type }: FileEvent): boolean {
  return type === FileChangeType.Deleted && !/\.ya?ml$/.test(uri);
}
