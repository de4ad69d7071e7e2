import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { createConnection, StreamMessageReader, StreamMessageWriter } from 'vscode-languageserver/node';
import { checkMessages } from '../../server/src/lsp/messages.ts';
import { startServer } from '../../server/src/lsp/server.ts';
import { root } from './seeds.ts';
import { type Message, openWire } from './wire.ts';

export const folder = 'file:///w';

/** The client side of a session, which counts the replies. */
export interface Session {
  request(method: string, params: unknown): Promise<Message>;
  /** Sends a request without waiting for its reply; returns its id. */
  send(method: string, params: unknown): number;
  notify(method: string, params: unknown): void;
  /** Resolves to false if some request has no reply in time. */
  settled(): Promise<boolean>;
  /** The number of replies to each request. */
  readonly replies: ReadonlyMap<number, number>;
  readonly unanswered: () => readonly string[];
  /** What the server logged as errors. */
  readonly log: readonly string[];
  end(): Promise<number | null>;
}

const timeoutMs = 30_000;

/** A session with the server in this process, or with the built server in its own, started as an editor starts it. */
export async function openSession(
  files: Readonly<Record<string, string>>,
  own: 'in-process' | 'process',
  settings: unknown,
): Promise<Session> {
  const transport = own === 'process' ? startProcess() : startHere(files);
  const replies = new Map<number, number>();
  const methods = new Map<number, string>();
  const waiting = new Map<number, (message: Message) => void>();
  const log: string[] = [];
  let wake: (() => void) | undefined;
  let next = 0;

  const wire = openWire(transport.input, transport.output, (message) => {
    const { id, method, params } = message;
    if (method !== undefined && id !== undefined) wire.send({ id, result: answerTo(method, params, settings) });
    else if (method === 'window/logMessage') log.push((params as { readonly message: string }).message);
    else if (method === undefined && id !== undefined) {
      replies.set(id, (replies.get(id) ?? 0) + 1);
      waiting.get(id)?.(message);
      waiting.delete(id);
      wake?.();
    }
  });

  const send = (method: string, params: unknown) => {
    next += 1;
    methods.set(next, method);
    wire.send({ id: next, method, params });
    return next;
  };
  const unanswered = () => [...methods].filter(([id]) => !replies.has(id)).map(([id, method]) => `${method} (${id})`);
  const request = (method: string, params: unknown) =>
    new Promise<Message>((resolve) => {
      const id = send(method, params);
      waiting.set(id, resolve);
    });

  await request('initialize', {
    processId: null,
    rootUri: folder,
    workspaceFolders: [{ uri: folder, name: 'w' }],
    capabilities,
  });
  wire.send({ method: 'initialized', params: {} });
  return {
    request,
    send,
    notify: (method, params) => wire.send({ method, params }),
    replies,
    unanswered,
    log,
    settled: () =>
      new Promise((resolve) => {
        const done = (all: boolean) => {
          clearTimeout(timer);
          wake = undefined;
          resolve(all);
        };
        const timer = setTimeout(() => done(false), timeoutMs);
        wake = () => {
          if (replies.size === methods.size) done(true);
        };
        wake();
      }),
    async end() {
      wire.send({ id: 1_000_000, method: 'shutdown' });
      // It ends the server's process.
      if (own === 'process') wire.send({ method: 'exit' });
      return transport.ended();
    },
  };
}

const capabilities = {
  textDocument: {
    diagnostic: {},
    hover: { contentFormat: ['markdown'] },
    codeAction: { codeActionLiteralSupport: { codeActionKind: { valueSet: [] } } },
  },
  workspace: {
    configuration: true,
    workspaceFolders: true,
    workspaceEdit: { documentChanges: true },
    didChangeWatchedFiles: { dynamicRegistration: true },
    diagnostics: { refreshSupport: true },
    codeLens: { refreshSupport: true },
  },
};

function answerTo(method: string, params: unknown, settings: unknown): unknown {
  if (method === 'workspace/configuration')
    return ((params as { readonly items: readonly unknown[] }).items ?? []).map(() => settings);
  return method === 'workspace/workspaceFolders' ? [{ uri: folder, name: 'w' }] : null;
}

interface Transport {
  readonly input: Readable;
  readonly output: Writable;
  ended(): Promise<number | null>;
}

function startHere(files: Readonly<Record<string, string>>): Transport {
  const [toServer, toClient] = [new PassThrough(), new PassThrough()];
  const [reader, writer] = [new StreamMessageReader(toServer), new StreamMessageWriter(toClient)];
  const connection = createConnection(reader, writer, checkMessages(reader, writer));
  const known = new Map(Object.entries(files));
  startServer(connection, { readFile: async (uri) => known.get(uri), listFiles: async () => [...known.keys()] });
  return {
    input: toClient,
    output: toServer,
    ended: async () => {
      connection.dispose();
      return 0;
    },
  };
}

const program = path.join(root, 'dist/cli.js');

/** Whether the server has been built. */
export const isBuilt = existsSync(program);

function startProcess(): Transport {
  const child = spawn(process.execPath, [program, 'lsp', '--stdio'], { stdio: 'pipe' });
  child.stderr.resume();
  const ended = new Promise<number | null>((resolve) => {
    child.on('close', resolve);
  });
  const late = new Promise<null>((resolve) => {
    setTimeout(() => resolve(null), timeoutMs).unref();
  });
  // However the server ends, pending writes to it must not end the harness.
  child.stdin.on('error', () => undefined);
  return {
    input: child.stdout,
    output: child.stdin,
    async ended() {
      const status = await Promise.race([ended, late]);
      if (child.exitCode === null) child.kill('SIGKILL');
      return status;
    },
  };
}
