import { lstat, readdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Connection, createConnection, IPCMessageReader, IPCMessageWriter } from 'vscode-languageserver/node';
import { readThroughClient } from './client-files.ts';
import type { Host } from './projects.ts';
import { passedBy } from './requests.ts';
import { startServer } from './server.ts';

/** Speaks LSP over standard input and output, for `gpulint lsp --stdio`. */
export function runStdioServer(): void {
  // What is printed to standard output would break the protocol.
  console.log = console.error;
  // Given the streams, the connection ends the process when its input ends.
  start(createConnection(process.stdin, process.stdout));
}

/** Speaks LSP over the channel to the parent process, as VS Code's client starts it; with `--stdio` over standard input and output. */
export function runServer(): void {
  if (process.argv.includes('--stdio')) {
    runStdioServer();
    return;
  }
  process.on('disconnect', () => process.exit());
  start(createConnection(new IPCMessageReader(process), new IPCMessageWriter(process)));
}

function start(connection: Connection): void {
  // The log goes through the client; nothing that goes wrong in one place may end the server.
  const report = (error: unknown) =>
    connection.console.error(error instanceof Error ? (error.stack ?? error.message) : String(error));
  process.on('uncaughtException', report);
  process.on('unhandledRejection', report);
  startServer(connection, nodeHost(connection));
}

/** Files of this machine are read from its disk; those of other file systems (virtual workspaces) through the client. */
function nodeHost(connection: Connection): Host {
  const client = readThroughClient(connection);
  return {
    readFile: (uri) => (uri.startsWith('file:') ? readLocal(uri) : client.readFile(uri)),
    listFiles: (folder, most, links) =>
      folder.startsWith('file:') ? listLocal(fileURLToPath(folder), most, links) : client.listFiles(folder, most),
    home: pathToFileURL(homedir()).href,
  };
}

/** A home folder, or a disk, has more folders than a project. */
const mostFolders = 20_000;

/** Breadth first, so that what is cut off is deepest; links are passed by, so that it ends. */
async function listLocal(folder: string, most: number, links?: 'passed by'): Promise<readonly string[]> {
  if (links !== undefined && !(await lstat(folder).catch(() => undefined))?.isDirectory()) return [];
  const folders = [folder];
  const files: string[] = [];
  for (let next = 0; next < folders.length && files.length < most; next += 1) {
    const here = folders[next] ?? '';
    // A folder that may not be read is passed by.
    for (const entry of await readdir(here, { withFileTypes: true }).catch(() => [])) {
      const name = path.join(here, entry.name);
      if (entry.isDirectory() && !passedBy.includes(entry.name) && folders.length < mostFolders) folders.push(name);
      else if (entry.isFile() && /\.ya?ml$/.test(entry.name) && files.length < most)
        files.push(pathToFileURL(name).href);
    }
  }
  return files;
}

/** Without a byte order mark, as editors show a file: places are counted behind it. */
async function readLocal(uri: string): Promise<string | undefined> {
  try {
    return (await readFile(fileURLToPath(uri), 'utf8')).replace(/^\uFEFF/, '');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EISDIR') return undefined;
    throw error;
  }
}
