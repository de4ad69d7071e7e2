import { PassThrough } from 'node:stream';
import { onTestFinished } from 'vitest';
import {
  type CodeAction,
  CodeActionRequest,
  type CodeLens,
  CodeLensRequest,
  ConfigurationRequest,
  createConnection,
  createProtocolConnection,
  type Diagnostic,
  DidChangeTextDocumentNotification,
  DidChangeWorkspaceFoldersNotification,
  DidCloseTextDocumentNotification,
  DidOpenTextDocumentNotification,
  type DocumentDiagnosticReport,
  DocumentDiagnosticRequest,
  type Hover,
  HoverRequest,
  InitializedNotification,
  type InitializeParams,
  InitializeRequest,
  type InitializeResult,
  LogMessageNotification,
  type Position,
  type ProtocolConnection,
  PublishDiagnosticsNotification,
  type PublishDiagnosticsParams,
  type Range,
  type Registration,
  RegistrationRequest,
  StreamMessageReader,
  StreamMessageWriter,
  UnregistrationRequest,
  WorkDoneProgressCreateRequest,
  type WorkspaceEdit,
  WorkspaceFoldersRequest,
} from 'vscode-languageserver/node';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { checkMessages } from '../../server/src/lsp/messages.ts';
import type { ClientOptions } from '../../server/src/lsp/protocol.ts';
import { type Features, type Host, startServer } from '../../server/src/lsp/server.ts';

export const folder = 'file:///work%20space';
export const configUri = `${folder}/.gpulint.yaml`;

export interface EditorOptions {
  /** Files that the host can read. */
  readonly files?: Readonly<Record<string, string>>;
  readonly capabilities?: InitializeParams['capabilities'];
  readonly options?: ClientOptions;
  /** The section `gpulint` of the editor's settings. */
  readonly settings?: Record<string, unknown>;
  /** Additional workspace folders, each with its own settings instead. */
  readonly folders?: Readonly<Record<string, Record<string, unknown>>>;
  readonly features?: Partial<Features>;
  readonly host?: Host;
  /** Called when the server shows progress. */
  readonly progress?: (token: unknown) => void;
}

/** An editor that speaks LSP to the real server in this process, over a pair of streams. */
export interface Editor {
  readonly connection: ProtocolConnection;
  readonly initialized: InitializeResult;
  readonly files: Record<string, string>;
  readonly settings: Record<string, unknown>;
  /** Lines that the server logged. */
  readonly log: readonly string[];
  /** The diagnostics that the server pushed, in order. */
  readonly pushed: readonly PublishDiagnosticsParams[];
  /** The names of the refreshes that the server requested. */
  readonly refreshes: readonly string[];
  /** The dynamic registrations of the server that are in effect. */
  readonly registrations: readonly Registration[];
  open(uri: string, text: string, languageId?: string): Promise<void>;
  /** Sends the change of a range, and applies it to the editor's own text. */
  change(uri: string, range: Range, text: string): Promise<void>;
  close(uri: string): Promise<void>;
  text(uri: string): string;
  diagnostics(uri: string): Promise<readonly Diagnostic[]>;
  report(uri: string, previousResultId?: string): Promise<DocumentDiagnosticReport>;
  hover(uri: string, position: Position): Promise<Hover | null>;
  lenses(uri: string): Promise<readonly CodeLens[]>;
  actions(
    uri: string,
    range: Range,
    only?: string[],
    diagnostics?: readonly Diagnostic[],
  ): Promise<readonly CodeAction[]>;
  /** The text of a document after an edit. */
  applied(uri: string, edit: WorkspaceEdit | undefined): string;
  /** Resolves when the condition holds; the timeout of the test bounds it. */
  until(condition: () => boolean): Promise<void>;
  /** Replaces the folders of the window. */
  setFolders(uris: readonly string[]): Promise<void>;
}

/** The capabilities of an editor with pull diagnostics, such as VS Code. */
export const modern: InitializeParams['capabilities'] = {
  textDocument: {
    diagnostic: { dynamicRegistration: true },
    hover: { contentFormat: ['markdown', 'plaintext'] },
  },
  workspace: {
    diagnostics: { refreshSupport: true },
    codeLens: { refreshSupport: true },
    didChangeWatchedFiles: { dynamicRegistration: true },
    workspaceFolders: true,
    workspaceEdit: { documentChanges: true },
  },
};

function withSettings(capabilities: InitializeParams['capabilities'], has: boolean): InitializeParams['capabilities'] {
  return has ? { ...capabilities, workspace: { ...capabilities.workspace, configuration: true } } : capabilities;
}

export async function openEditor(setup: EditorOptions = {}): Promise<Editor> {
  const toServer = new PassThrough();
  const toClient = new PassThrough();
  const files: Record<string, string> = { ...setup.files };
  const settings: Record<string, unknown> = { ...setup.settings };
  const host: Host = setup.host ?? { readFile: async (uri) => files[uri] };
  const [reader, writer] = [new StreamMessageReader(toServer), new StreamMessageWriter(toClient)];
  const serverSide = createConnection(reader, writer, checkMessages(reader, writer));
  startServer(serverSide, host, setup.features ?? {});

  const connection = createProtocolConnection(new StreamMessageReader(toClient), new StreamMessageWriter(toServer));
  const log: string[] = [];
  const pushed: PublishDiagnosticsParams[] = [];
  const refreshes: string[] = [];
  const documents = new Map<string, TextDocument>();
  let folders = [folder, ...Object.keys(setup.folders ?? {})].map((uri) => ({ uri, name: uri }));
  const waiting = new Set<() => void>();
  const check = () => {
    for (const wake of waiting) wake();
  };
  connection.onNotification(LogMessageNotification.type, ({ message }) => {
    log.push(message);
    check();
  });
  connection.onNotification(PublishDiagnosticsNotification.type, (params) => {
    pushed.push(params);
    check();
  });
  const registrations: Registration[] = [];
  connection.onRequest(RegistrationRequest.type, (params) => {
    registrations.push(...params.registrations);
    check();
  });
  connection.onRequest(UnregistrationRequest.type, ({ unregisterations }) => {
    for (const { id } of unregisterations)
      registrations.splice(
        registrations.findIndex((one) => one.id === id),
        1,
      );
    check();
  });
  connection.onRequest(WorkspaceFoldersRequest.type, () => folders);
  connection.onRequest(ConfigurationRequest.type, ({ items }) =>
    items.map(({ scopeUri }) => ({ ...(setup.folders?.[scopeUri ?? ''] ?? settings) })),
  );
  for (const name of ['workspace/diagnostic/refresh', 'workspace/codeLens/refresh']) {
    connection.onRequest(name, () => {
      refreshes.push(name);
      check();
      return null;
    });
  }
  connection.onRequest(WorkDoneProgressCreateRequest.type, ({ token }) => setup.progress?.(token));
  connection.onUnhandledNotification(check);
  connection.listen();
  onTestFinished(() => {
    connection.dispose();
    serverSide.dispose();
  });

  const initialized = await connection.sendRequest(InitializeRequest.type, {
    processId: null,
    rootUri: null,
    workspaceFolders: folders,
    capabilities: withSettings(setup.capabilities ?? modern, setup.settings !== undefined),
    ...(setup.options && { initializationOptions: setup.options }),
  });
  await connection.sendNotification(InitializedNotification.type, {});

  const report = (uri: string, previousResultId?: string) =>
    connection.sendRequest(DocumentDiagnosticRequest.type, {
      textDocument: { uri },
      ...(previousResultId !== undefined && { previousResultId }),
    });

  return {
    connection,
    initialized,
    files,
    settings,
    log,
    pushed,
    refreshes,
    registrations,
    report,
    async open(uri, text, languageId = 'yaml') {
      documents.set(uri, TextDocument.create(uri, languageId, 1, text));
      await connection.sendNotification(DidOpenTextDocumentNotification.type, {
        textDocument: { uri, languageId, version: 1, text },
      });
    },
    async change(uri, range, text) {
      const document = documents.get(uri)!;
      const version = document.version + 1;
      TextDocument.update(document, [{ range, text }], version);
      await connection.sendNotification(DidChangeTextDocumentNotification.type, {
        textDocument: { uri, version },
        contentChanges: [{ range, text }],
      });
    },
    async close(uri) {
      documents.delete(uri);
      await connection.sendNotification(DidCloseTextDocumentNotification.type, { textDocument: { uri } });
    },
    text: (uri) => documents.get(uri)!.getText(),
    async diagnostics(uri) {
      const answer = await report(uri);
      if (answer.kind !== 'full') throw new Error('unchanged, though nothing was known before');
      return answer.items;
    },
    hover: (uri, position) => connection.sendRequest(HoverRequest.type, { textDocument: { uri }, position }),
    async lenses(uri) {
      return (await connection.sendRequest(CodeLensRequest.type, { textDocument: { uri } })) ?? [];
    },
    async actions(uri, range, only, diagnostics = []) {
      const context = { diagnostics: [...diagnostics], ...(only && { only }) };
      const params = { textDocument: { uri }, range, context };
      return ((await connection.sendRequest(CodeActionRequest.type, params)) ?? []) as CodeAction[];
    },
    applied(uri, edit) {
      const document = documents.get(uri)!;
      const changes = edit?.documentChanges ?? [];
      const change = changes.find((one) => 'edits' in one && one.textDocument.uri === uri) ?? changes[0];
      if (change !== undefined && 'edits' in change) {
        if (change.textDocument.version !== document.version) throw new Error('an edit for another version');
        return TextDocument.applyEdits(document, change.edits as never);
      }
      return TextDocument.applyEdits(document, edit?.changes?.[uri] ?? []);
    },
    until(condition) {
      return new Promise((resolve) => {
        const wake = () => {
          if (!condition()) return;
          waiting.delete(wake);
          resolve();
        };
        waiting.add(wake);
        wake();
      });
    },
    async setFolders(uris) {
      const [removed, added] = [folders, uris.map((uri) => ({ uri, name: uri }))];
      folders = added;
      await connection.sendNotification(DidChangeWorkspaceFoldersNotification.type, { event: { added, removed } });
    },
  };
}

/** Removes the `$0` from a text and returns its offset. */
export function withCursor(marked: string): { readonly text: string; readonly position: Position } {
  const offset = marked.indexOf('$0');
  if (offset < 0) throw new Error('no $0 in the text');
  const text = marked.replace('$0', '');
  return { text, position: TextDocument.create('', '', 0, text).positionAt(offset) };
}

export function caret(position: Position): Range {
  return { start: position, end: position };
}
