import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Connection, createConnection, IPCMessageReader, IPCMessageWriter } from 'vscode-languageserver/node';
import { readThroughClient } from './client-files.ts';
import type { Host } from './projects.ts';
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
    home: pathToFileURL(homedir()).href,
  };
}

async function readLocal(uri: string): Promise<string | undefined> {
  try {
    return await readFile(fileURLToPath(uri), 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EISDIR') return undefined;
    throw error;
  }
}
