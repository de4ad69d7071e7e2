import type { Connection } from 'vscode-languageserver';
import type { Host } from './confined-host.ts';
import { ErrorCodes, ResponseError } from './library.ts';
import { limitWork } from './limited-work.ts';
import {
  type ListFilesParams,
  type ListFilesResult,
  methods,
  type ReadFileParams,
  type ReadFileResult,
} from './protocol.ts';

/** Reads and lists files through the client, which has access to every file system of the editor. */
export function readThroughClient(connection: Connection): Required<Pick<Host, 'readFile' | 'listFiles'>> {
  const { run } = limitWork(64, 10_000);
  return {
    async readFile(uri) {
      const params: ReadFileParams = { uri };
      try {
        return (await run(() => connection.sendRequest<ReadFileResult>(methods.readFile, params))) ?? undefined;
      } catch (error) {
        // A client other than ours: only open documents are available.
        if (error instanceof ResponseError && error.code === ErrorCodes.MethodNotFound) return undefined;
        throw error;
      }
    },
    async listFiles(folder, limit) {
      const params: ListFilesParams = { folder, limit };
      try {
        return await run(() => connection.sendRequest<ListFilesResult>(methods.listFiles, params));
      } catch (error) {
        if (error instanceof ResponseError && error.code === ErrorCodes.MethodNotFound) return [];
        throw error;
      }
    },
  };
}
