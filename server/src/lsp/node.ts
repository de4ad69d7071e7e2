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
  keepYoungHeap();
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
 * Keeps V8's space for young objects at the size to which it has grown while the program loaded. With twice the size, which a long text would soon
 * bring about, the server needs 16 MB more and is no faster.
 */
function keepYoungHeap(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  // Code that is compiled with other flags is not kept for the next start.
  process.prependListener('exit', () => setFlagsFromString('--semi-space-growth-factor=2'));
}

/** Runs the garbage collector. It needs a flag, which is set at run time because VS Code starts the process. */
function collect(): void {
  setFlagsFromString('--expose-gc');
  const collectGarbage: unknown = runInNewContext('gc');
  // Code that is compiled with other flags is not kept for the next start.
  setFlagsFromString('--no-expose-gc');
  if (typeof collectGarbage === 'function') collectGarbage();
}
