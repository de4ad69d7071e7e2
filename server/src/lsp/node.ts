import { homedir } from 'node:os';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  type Connection,
  createConnection,
  IPCMessageReader,
  IPCMessageWriter,
  type MessageReader,
  type MessageWriter,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-languageserver/node';
import { startClusterThread } from '../cluster/thread.ts';
import { pricesInUse } from '../price-sources/sheet-file.ts';
import { readThroughClient } from './client-files.ts';
import type { Host } from './confined-host.ts';
import { checkMessages } from './messages.ts';
import { startReaderThread } from './node-bulk.ts';
import { type LocalFiles, localFiles } from './node-files.ts';
import { framesOf } from './node-framing.ts';
import { startServer } from './server.ts';

/** Speaks LSP over standard input and output, for `gpulint lsp --stdio`. */
function runStdioServer(): void {
  // Any other output on standard output would break the protocol.
  console.log = console.error;
  const ended = start(new StreamMessageReader(framesOf(process.stdin)), new StreamMessageWriter(process.stdout));
  process.stdin.on('end', ended);
  process.stdin.on('close', ended);
}

/** Speaks LSP over the channel to the parent process, as VS Code's client expects; with `--stdio`, over standard input and output. */
export function runServer(): void {
  if (process.argv.includes('--stdio')) {
    runStdioServer();
    return;
  }
  process.on('disconnect', start(new IPCMessageReader(process), new IPCMessageWriter(process)));
}

/** @returns a function to call when the client is gone */
function start(reader: MessageReader, writer: MessageWriter): () => void {
  const files = localFiles(startReaderThread);
  const messages = checkMessages(reader, writer, files.settled);
  const connection = createConnection(reader, writer, messages);
  // Log unexpected errors through the client: a single error must not end the server.
  const report = (error: unknown) =>
    connection.console.error(error instanceof Error ? (error.stack ?? error.message) : String(error));
  process.on('uncaughtException', report);
  process.on('unhandledRejection', report);
  // Node waits for its threads, but a read from a lost network drive never ends. Only a kill exits then.
  process.on('exit', () => {
    if (files.isBusy()) process.kill(process.pid, 'SIGKILL');
  });
  startServer(connection, nodeHost(connection, files));
  tuneEngine();
  return () => void files.settled().then(() => process.exit(messages.isShutDown() ? 0 : 1));
}

/** Files of this machine are read from its disk; those of other file systems (virtual workspaces) through the client. */
function nodeHost(connection: Connection, files: LocalFiles): Host {
  const client = readThroughClient(connection);
  const sourceOf = (uri: string) => (uri.startsWith('file:') ? files : client);
  return {
    readFile: (uri, folders) => sourceOf(uri).readFile(uri, folders),
    listFiles: (folder, limit, folders) => sourceOf(folder).listFiles(folder, limit, folders),
    inBulk: files.inBulk,
    home: pathToFileURL(homedir()).href,
    prices: () => pricesInUse(process.env),
    collect,
    startCluster: startClusterThread,
  };
}

/**
 * What V8 does otherwise while the server runs, each with its default.
 * - The space for young objects keeps the size to which it has grown while the program loaded. With twice the size, which a long text would soon
 *   bring about, the server needs 16 MB more and is no faster.
 * - A regular expression is compiled once. By default it is first compiled for an interpreter, and to machine code when it is used again: a fifth of
 *   the time in which a short text opens.
 */
const tuning = [
  ['--semi-space-growth-factor=1', '--semi-space-growth-factor=2'],
  ['--no-regexp-tier-up', '--regexp-tier-up'],
] as const;

function tuneEngine(): void {
  for (const [flag] of tuning) setFlagsFromString(flag);
  // Code that is compiled with other flags is not kept for the next start.
  process.prependListener('exit', () => {
    for (const [, usual] of tuning) setFlagsFromString(usual);
  });
}

/** Runs the garbage collector. It needs a flag, which is set at run time because VS Code starts the process. */
function collect(): void {
  setFlagsFromString('--expose-gc');
  const collectGarbage: unknown = runInNewContext('gc');
  // Code that is compiled with other flags is not kept for the next start.
  setFlagsFromString('--no-expose-gc');
  if (typeof collectGarbage === 'function') collectGarbage();
}
