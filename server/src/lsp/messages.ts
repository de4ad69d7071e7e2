import type { ConnectionOptions, Message, MessageReader, MessageWriter } from 'vscode-languageserver';
import { ErrorCodes } from './library.ts';
import { problemOf } from './params.ts';

/** Connection options that reject messages which violate the protocol. */
export interface CheckedMessages extends ConnectionOptions {
  isShutDown(): boolean;
}

/**
 * The only gate for messages. It checks the parameters, the state of the server (`initialize` to `shutdown`), and the open documents and their
 * versions. An invalid request gets an error response, an invalid notification becomes a line in the log, and neither reaches a handler.
 * @param beforeExit runs before the process exits
 */
export function checkMessages(
  reader: MessageReader,
  writer: MessageWriter,
  beforeExit: () => Promise<void> = async () => undefined,
): CheckedMessages {
  let state: 'new' | 'running' | 'shut down' = 'new';
  const versions = new Map<string, number>();
  /** Documents with an ignored change. Their content is unknown until the client sends the full text. */
  const lost = new Set<unknown>();

  function send(message: object): void {
    // The client may be gone.
    writer.write({ jsonrpc: '2.0', ...message } as Message).catch(() => undefined);
  }

  const answer = (id: unknown, code: number, message: string) => send({ id: id ?? null, error: { code, message } });

  function ignore(method: string, reason: string): void {
    // A server must not send messages before it is initialized.
    const params = { type: 1, message: `${method} is ignored: ${reason}` };
    if (state === 'running') send({ method: 'window/logMessage', params });
  }

  /** Checks a notification about a document, and records the document's new state. */
  function problemOfDocument(method: string, params: unknown): string | undefined {
    const { uri, version } = (params as { textDocument?: { uri: string; version: number } } | undefined)
      ?.textDocument ?? {
      uri: '',
      version: 0,
    };
    const known = versions.get(uri);
    if (method === 'textDocument/didOpen') {
      if (known !== undefined) return `${uri} is already open`;
      versions.set(uri, version);
      // VS Code can send a change after closing a document. A later open sends the full text.
      lost.delete(uri);
    } else if (/^textDocument\/(?:didChange|didSave|didClose|willSave)$/.test(method)) {
      if (known === undefined) return `${uri} is not open`;
      if (method === 'textDocument/didClose') versions.delete(uri);
      if (method === 'textDocument/didClose') lost.delete(uri);
      if (method !== 'textDocument/didChange') return undefined;
      if (version <= known) return `version ${version} of ${uri} is not newer than version ${known}`;
      versions.set(uri, version);
      const [first] = (params as { contentChanges: readonly { range?: unknown }[] }).contentChanges;
      if (first !== undefined && first.range === undefined) lost.delete(uri);
      if (lost.has(uri)) return `an earlier change of ${uri} was ignored; send the full text`;
    }
    return undefined;
  }

  function isAllowed(id: unknown, method: string, params: unknown): boolean {
    const isRequest = id !== undefined;
    const reject = (code: number, reason: string) => {
      if (isRequest) answer(id, code, reason);
      else ignore(method, reason);
      return false;
    };
    if (state === 'new' && method !== 'initialize')
      return reject(ErrorCodes.ServerNotInitialized, 'the server is not initialized');
    if (state === 'running' && method === 'initialize')
      return reject(ErrorCodes.InvalidRequest, 'the server is already initialized');
    if (state === 'shut down') return reject(ErrorCodes.InvalidRequest, 'the server is shut down');
    const problem = problemOf(method, params) ?? (isRequest ? undefined : problemOfDocument(method, params));
    if (problem !== undefined) {
      if (method === 'textDocument/didChange') lost.add(Object(Object(params).textDocument).uri);
      return reject(ErrorCodes.InvalidParams, problem);
    }
    if (isRequest && method === 'initialize') state = 'running';
    if (isRequest && method === 'shutdown') state = 'shut down';
    return true;
  }

  reader.onError(({ message }) => answer(null, ErrorCodes.ParseError, message));
  return {
    isShutDown: () => state === 'shut down',
    messageStrategy: {
      async handleMessage(message, next) {
        const { id, method, params } = (message ?? {}) as { id?: unknown; method?: unknown; params?: unknown };
        const isNamed = id === undefined || typeof id === 'string' || typeof id === 'number';
        if (typeof method === 'string' && isNamed) {
          if (method === 'exit' && id === undefined) await beforeExit();
          else if (!isAllowed(id, method, params)) return;
        } else if (
          method !== undefined ||
          (!isNamed && id !== null) ||
          !('result' in Object(message) || 'error' in Object(message))
        ) {
          answer(null, ErrorCodes.InvalidRequest, 'Not a valid JSON-RPC message.');
          return;
        }
        next(message);
      },
    },
  };
}
