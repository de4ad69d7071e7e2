import {
  type ConnectionOptions,
  ErrorCodes,
  type Message,
  type MessageReader,
  type MessageWriter,
} from 'vscode-languageserver';
import { problemOf } from './params.ts';

/** What a connection is made with so that it hears only what the protocol allows. */
export interface CheckedMessages extends ConnectionOptions {
  isShutDown(): boolean;
}

/**
 * The one gate for messages: a request that the protocol does not allow gets an error as its answer, a notification becomes a line in the log,
 * and neither reaches a handler. Held against it are the parameters, the life of the server (`initialize` … `shutdown`), and which documents are
 * open in which version.
 * @param beforeExit what the end of the process waits for
 */
export function checkMessages(
  reader: MessageReader,
  writer: MessageWriter,
  beforeExit: () => Promise<void> = async () => undefined,
): CheckedMessages {
  let state: 'new' | 'running' | 'shut down' = 'new';
  const versions = new Map<string, number>();
  /** Documents of which a change was ignored: what they read now only their full text can say. */
  const lost = new Set<unknown>();

  function send(message: object): void {
    // The client may be gone, and then nobody is left to be answered.
    writer.write({ jsonrpc: '2.0', ...message } as Message).catch(() => undefined);
  }

  const answer = (id: unknown, code: number, message: string) => send({ id: id ?? null, error: { code, message } });

  function ignore(method: string, reason: string): void {
    // Before it is initialized a server says nothing.
    const params = { type: 1, message: `${method} is ignored: ${reason}` };
    if (state === 'running') send({ method: 'window/logMessage', params });
  }

  /** Follows the documents, which is what they are held against next. */
  function problemOfDocument(method: string, params: unknown): string | undefined {
    const { uri, version } = (params as { textDocument?: { uri: string; version: number } } | undefined)
      ?.textDocument ?? {
      uri: '',
      version: 0,
    };
    const known = versions.get(uri);
    if (method === 'textDocument/didOpen') {
      if (known !== undefined) return `${uri} is open already`;
      versions.set(uri, version);
      // VS Code may send a change behind the close of a document that is opened again later, with its full text.
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
      if (lost.has(uri)) return `an earlier change of ${uri} was ignored; its full text is needed`;
    }
    return undefined;
  }

  function isAllowed(id: unknown, method: string, params: unknown): boolean {
    const isRequest = id !== undefined;
    const refuse = (code: number, reason: string) => {
      if (isRequest) answer(id, code, reason);
      else ignore(method, reason);
      return false;
    };
    if (state === 'new' && method !== 'initialize')
      return refuse(ErrorCodes.ServerNotInitialized, 'the server is not initialized');
    if (state === 'running' && method === 'initialize')
      return refuse(ErrorCodes.InvalidRequest, 'the server is initialized already');
    if (state === 'shut down') return refuse(ErrorCodes.InvalidRequest, 'the server is shut down');
    const problem = problemOf(method, params) ?? (isRequest ? undefined : problemOfDocument(method, params));
    if (problem !== undefined) {
      if (method === 'textDocument/didChange') lost.add(Object(Object(params).textDocument).uri);
      return refuse(ErrorCodes.InvalidParams, problem);
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
