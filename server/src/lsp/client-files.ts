import { type Connection, ErrorCodes, ResponseError } from 'vscode-languageserver';
import type { Host } from './projects.ts';
import { methods, type ReadFileParams, type ReadFileResult } from './requests.ts';

/** Reads files through the client, which reaches every file system of the editor. */
export function readThroughClient(connection: Connection): Host {
  return {
    async readFile(uri) {
      const params: ReadFileParams = { uri };
      try {
        return (await connection.sendRequest<ReadFileResult>(methods.readFile, params)) ?? undefined;
      } catch (error) {
        // An editor other than ours: what it does not open is not there for us.
        if (error instanceof ResponseError && error.code === ErrorCodes.MethodNotFound) return undefined;
        throw error;
      }
    },
  };
}
