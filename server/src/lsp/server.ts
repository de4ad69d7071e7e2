import {
  CodeLensRefreshRequest,
  type Connection,
  DidChangeConfigurationNotification,
  DidChangeWatchedFilesNotification,
  type InitializeParams,
  MarkupKind,
  TextDocuments,
} from 'vscode-languageserver';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import type { FileAnalysis } from '../analysis.ts';
import { parseConfig } from '../config.ts';
import { codeActions } from '../features/code-actions.ts';
import { adviceLenses, codeLenses } from '../features/code-lens.ts';
import { complete } from '../features/completion.ts';
import { completeConfig, hoverConfig } from '../features/config-help.ts';
import { documentLinks } from '../features/document-links.ts';
import { hover } from '../features/hover.ts';
import { inlayHints } from '../features/inlay-hints.ts';
import { summarize } from '../features/report.ts';
import {
  actionToLsp,
  type ClientAbilities,
  completionToLsp,
  documentLinkToLsp,
  fromDiagnosticData,
  hoverToLsp,
  inlayHintToLsp,
  lensToLsp,
  lineIndex,
  linesOf,
} from './convert.ts';
import { registerDiagnostics } from './diagnostics.ts';
import { guard, guarded, type Log, outdated } from './guard.ts';
import { abilitiesOf, foldersOf, initializeResult, isOurs } from './initialize.ts';
import { createNeighbours } from './neighbours.ts';
import { registerPickers } from './pickers.ts';
import { analysisOf, configName, createProjects, type Host, isConfigUri, type Projects } from './projects.ts';
import { type ClientOptions, methods, type SummaryParams, type SyntaxElsewhereParams } from './requests.ts';
import { defaultSettings, type Settings, settingsFrom } from './settings.ts';
import { type Typing, watchTyping } from './typing.ts';
import { registerWorkspaceFixes } from './workspace-fixes.ts';

export type { Host } from './projects.ts';

/** What the editor features do; a record so that a test can make one of them fail. */
export interface Features {
  readonly hover: typeof hover;
  readonly codeLenses: typeof codeLenses;
  readonly codeActions: typeof codeActions;
  readonly summarize: typeof summarize;
  readonly complete: typeof complete;
  readonly inlayHints: typeof inlayHints;
}

/** What every part of the server stands on. */
export interface Session {
  readonly connection: Connection;
  readonly documents: TextDocuments<TextDocument>;
  readonly projects: Projects;
  readonly typing: Typing;
  readonly log: Log;
  /** Known from `initialize` on. */
  client: ClientAbilities;
  /**
   * The newest analysis of an open document of ours; undefined for all others. Rejects with «content modified» when the
   * document changed while configs were being read: what was asked about is gone.
   */
  analysed(uri: string): Promise<{ readonly file: FileAnalysis; readonly document: TextDocument } | undefined>;
}

/** Serves LSP on a connection until it closes. The mains differ only in the connection and the host. */
export function startServer(connection: Connection, host: Host, replaced: Partial<Features> = {}): void {
  const features: Features = { hover, codeLenses, codeActions, summarize, complete, inlayHints, ...replaced };
  const log: Log = (line) => {
    try {
      connection.console.error(line);
    } catch {
      // The client is gone, and nobody is left to be told.
    }
  };
  const typing = watchTyping();
  const documents = new TextDocuments(typing.documents);
  const crashes = new Set<string>();
  let params: InitializeParams | undefined;

  const projects = createProjects(host, log, readSettings, refresh);

  /** What is shown follows from more than the text. */
  function refresh(): void {
    diagnostics.refresh();
    refreshCosts();
  }
  const neighbours = createNeighbours(host, log, documents, refreshCosts);

  function refreshCosts(): void {
    if (params?.capabilities.workspace?.codeLens?.refreshSupport) {
      void guarded(log, 'codeLens/refresh', () => connection.sendRequest(CodeLensRefreshRequest.type));
    }
    if (params?.capabilities.workspace?.inlayHint?.refreshSupport) {
      void guarded(log, 'inlayHint/refresh', () => connection.languages.inlayHint.refresh());
    }
    for (const { uri } of documents.all()) sendSummary(uri);
  }

  async function readSettings(folder: string | undefined): Promise<Settings> {
    if (params?.capabilities.workspace?.configuration !== true) return defaultSettings;
    let value: unknown;
    await guarded(log, 'workspace/configuration', async () => {
      const item = { section: 'gpulint', ...(folder !== undefined && { scopeUri: folder }) };
      value = await connection.workspace.getConfiguration(item);
    });
    const { settings, problems } = settingsFrom(value);
    for (const problem of problems) log(`settings: ${problem}`);
    return settings;
  }

  const session: Session = {
    connection,
    documents,
    projects,
    typing,
    log,
    client: {
      hoverFormat: MarkupKind.PlainText,
      documentChanges: false,
      annotations: false,
      commands: false,
      syntaxElsewhere: [],
    },
    async analysed(uri) {
      const before = documents.get(uri);
      if (before === undefined || !isOurs(before)) return undefined;
      const { version } = before;
      const [config, beside] = [await projects.configOf(uri), await neighbours.besideOf(uri)];
      const document = documents.get(uri);
      if (document?.version !== version) throw outdated();
      const file = analysisOf(projects, uri, document.getText(), version, config, beside);
      logCrashes(file);
      return { file, document };
    },
  };

  const diagnostics = registerDiagnostics(session);
  registerPickers(session);
  registerWorkspaceFixes(session, host);

  connection.onInitialize((received) => {
    params = received;
    session.client = abilitiesOf(received);
    const pull = received.capabilities.textDocument?.diagnostic !== undefined;
    diagnostics.start(pull, received.capabilities.workspace?.diagnostics?.refreshSupport === true);
    projects.setFolders(foldersOf(received));
    return initializeResult(received, pull);
  });

  connection.onInitialized(() => {
    const workspace = params?.capabilities.workspace;
    if (workspace?.didChangeWatchedFiles?.dynamicRegistration) {
      const watchers = [{ globPattern: `**/${configName}` }, { globPattern: '**/*.{yaml,yml}' }];
      void guarded(log, 'registerCapability', () =>
        connection.client.register(DidChangeWatchedFilesNotification.type, { watchers }),
      );
    }
    if (workspace?.configuration && workspace.didChangeConfiguration?.dynamicRegistration) {
      void guarded(log, 'registerCapability', () =>
        connection.client.register(DidChangeConfigurationNotification.type, { section: 'gpulint' }),
      );
    }
    if (workspace?.workspaceFolders) {
      connection.workspace.onDidChangeWorkspaceFolders(
        () =>
          void guarded(log, 'workspaceFolders', async () => {
            const folders = await connection.workspace.getWorkspaceFolders();
            projects.setFolders((folders ?? []).map(({ uri }) => uri));
            diagnostics.refresh();
          }),
      );
    }
  });

  connection.onDidChangeConfiguration(() => projects.settingsChanged());
  connection.onNotification(methods.syntaxElsewhere, ({ languages }: SyntaxElsewhereParams) => {
    session.client = { ...session.client, syntaxElsewhere: languages };
    refresh();
  });
  connection.onDidChangeWatchedFiles(({ changes }) => {
    for (const { uri } of changes) {
      if (isConfigUri(uri)) projects.configChanged(uri);
      else neighbours.changed(uri);
    }
  });

  /** A config that is half typed would make the prices of all open files flicker. */
  function configEdited(document: TextDocument): void {
    const messages = parseConfig(document.getText()).problems.map(({ message }) => message);
    if (!typing.isConfigHeld(document.uri, messages)) projects.configEdited(document.uri, document.getText());
  }

  /** What was held back while a line was written is told now. */
  function settled(uri: string): void {
    const config = isConfigUri(uri) ? documents.get(uri) : undefined;
    if (config !== undefined) projects.configEdited(uri, config.getText());
    refresh();
  }

  documents.onDidChangeContent(({ document }) => {
    if (isConfigUri(document.uri)) configEdited(document);
    else neighbours.changed(document.uri);
    diagnostics.changed(document.uri);
    sendSummary(document.uri);
  });
  documents.onDidSave(({ document: { uri } }) => {
    if (typing.settle(uri)) settled(uri);
  });
  documents.onDidClose(({ document }) => {
    typing.forget(document.uri);
    if (isConfigUri(document.uri)) projects.configEdited(document.uri, undefined);
    else neighbours.changed(document.uri);
    projects.forget(document.uri);
    diagnostics.closed(document.uri);
    summaries.delete(document.uri);
  });

  connection.onHover(
    guard(log, 'hover', null, async ({ textDocument, position }) => {
      const config = isConfigUri(textDocument.uri) ? documents.get(textDocument.uri) : undefined;
      if (config !== undefined) {
        const lines = lineIndex(config.getText());
        const content = hoverConfig(config.getText(), lines.fromPosition(position));
        return content === undefined ? null : hoverToLsp(content, lines, session.client.hoverFormat);
      }
      const found = await session.analysed(textDocument.uri);
      if (found === undefined) return null;
      const lines = linesOf(found.file);
      const content = features.hover(found.file, lines.fromPosition(position));
      return content === undefined ? null : hoverToLsp(content, lines, session.client.hoverFormat);
    }),
  );

  connection.onCompletion(
    guard(log, 'completion', null, async ({ textDocument, position }) => {
      const snippets = params?.capabilities.textDocument?.completion?.completionItem?.snippetSupport === true;
      const config = isConfigUri(textDocument.uri) ? documents.get(textDocument.uri) : undefined;
      if (config !== undefined) {
        const lines = lineIndex(config.getText());
        const found = completeConfig(config.getText(), lines.fromPosition(position));
        return found.map((one) => completionToLsp(one, lines, snippets));
      }
      const found = await session.analysed(textDocument.uri);
      if (found === undefined) return null;
      const lines = linesOf(found.file);
      const completions = features.complete(found.file, lines.fromPosition(position));
      return completions.map((one) => completionToLsp(one, lines, snippets));
    }),
  );

  connection.onCodeLens(
    guard(log, 'codeLens', null, async ({ textDocument }) => {
      const found = await session.analysed(textDocument.uri);
      if (found === undefined) return null;
      const lines = linesOf(found.file);
      const { codeLens, advice } = await projects.settingsOf(textDocument.uri);
      const costs = codeLens.enabled ? features.codeLenses(found.file) : [];
      const advices = advice === 'lens' ? adviceLenses(found.file) : [];
      const lenses = [...costs, ...advices].map((lens) => lensToLsp(lens, textDocument.uri, lines, session.client));
      return [...typing.steady(found.file, 'lenses', lenses)];
    }),
  );

  connection.onCodeAction(
    guard(log, 'codeAction', null, async ({ textDocument, range, context }) => {
      // Editors ask wherever the caret goes, which is how it is known that it left the line.
      if (range.start.line === range.end.line && typing.settle(textDocument.uri, range.start.line))
        settled(textDocument.uri);
      const found = await session.analysed(textDocument.uri);
      if (found === undefined) return null;
      const lines = linesOf(found.file);
      const query = {
        span: lines.fromRange(range),
        only: context.only,
        shown: context.diagnostics.flatMap(({ data }) => fromDiagnosticData(data) ?? []),
        picker: session.client.commands,
      };
      const { document } = found;
      const { advice } = await projects.settingsOf(textDocument.uri);
      return features
        .codeActions(found.file, query)
        .map((action) => actionToLsp(action, document, lines, session.client, advice));
    }),
  );

  connection.onDocumentLinks(
    guard(log, 'documentLink', null, async ({ textDocument }) => {
      const found = await session.analysed(textDocument.uri);
      if (found === undefined) return null;
      const lines = linesOf(found.file);
      return documentLinks(found.file).map((link) => documentLinkToLsp(link, lines));
    }),
  );

  connection.languages.inlayHint.on(
    guard(log, 'inlayHint', null, async ({ textDocument, range }) => {
      const { enabled } = (await projects.settingsOf(textDocument.uri)).inlayHints;
      const found = enabled ? await session.analysed(textDocument.uri) : undefined;
      if (found === undefined) return null;
      const lines = linesOf(found.file);
      const hints = features.inlayHints(found.file, lines.fromRange(range)).map((hint) => inlayHintToLsp(hint, lines));
      return [...typing.steady(found.file, 'hints', hints)];
    }),
  );

  const summaries = new Map<string, string>();

  function sendSummary(uri: string): void {
    if ((params?.initializationOptions as ClientOptions | undefined)?.summary !== true) return;
    summaryRuns.schedule(uri);
  }

  const summaryRuns = diagnostics.scheduler(async (uri, isCurrent) => {
    const found = await session.analysed(uri);
    if (!isCurrent() || (found !== undefined && typing.isHeld(found.file))) return;
    const message: SummaryParams = { uri, summary: (found && features.summarize(found.file)) ?? null };
    const text = JSON.stringify(message);
    if (summaries.get(uri) === text) return;
    summaries.set(uri, text);
    await connection.sendNotification(methods.summary, message);
  });

  /** A rule that threw is told once, with its name; the other findings still stand. */
  function logCrashes(file: FileAnalysis): void {
    for (const { rule, error } of file.documents.flatMap((document) => document.crashes)) {
      if (crashes.has(rule + error)) continue;
      crashes.add(rule + error);
      log(`rule ${rule} failed on ${file.uri}: ${error}`);
    }
  }

  documents.listen(connection);
  connection.listen();
}
