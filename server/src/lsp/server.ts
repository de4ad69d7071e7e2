import {
  CodeLensRefreshRequest,
  type Connection,
  DidChangeConfigurationNotification,
  FileChangeType,
  type FileEvent,
  type InitializeParams,
  MarkupKind,
  TextDocuments,
} from 'vscode-languageserver';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import type { FileAnalysis } from '../analysis.ts';
import { parseConfig } from '../config.ts';
import { summarize } from '../features/report.ts';
import { watchClosing } from './closed-files.ts';
import { confine, type Host } from './confined-host.ts';
import type { ClientAbilities } from './convert.ts';
import { registerDiagnostics } from './diagnostics.ts';
import { guarded, type Log, outdated } from './guard.ts';
import { createIndexing } from './indexing.ts';
import { abilitiesOf, foldersOf, initializeResult, isOurs, urisOf } from './initialize.ts';
import { type Features, registerLanguageFeatures } from './language-features.ts';
import { registerNavigation } from './navigation.ts';
import { registerPickers } from './pickers.ts';
import { analysisOf, createProjects, isConfigUri, type Projects } from './projects.ts';
import { createEditorRelatedFiles } from './related-files.ts';
import { type ClientOptions, methods, type SummaryParams, type SyntaxElsewhereParams } from './requests.ts';
import { defaultSettings, type Settings, settingsFrom } from './settings.ts';
import { type Typing, watchTyping } from './typing.ts';
import { filesIn, sortChanges, watchFiles } from './watching.ts';
import { registerWorkspaceFixes } from './workspace-fixes.ts';

export type { Host } from './confined-host.ts';
export type { Features } from './language-features.ts';

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
export function startServer(connection: Connection, machine: Host, replaced: Partial<Features> = {}): void {
  const log: Log = (line) => {
    try {
      connection.console.error(line);
    } catch {
      // The client is gone, and nobody is left to be told.
    }
  };
  const host = confine(machine, log);
  const closed = watchClosing(() => machine.collect?.());
  const typing = watchTyping();
  const documents = new TextDocuments(typing.documents);
  const crashes = new Set<string>();
  const toldStale = new WeakSet<FileAnalysis>();
  /** Analyses that rested on what another file no longer says, when a newer one took their place: the editor may still show them. */
  const replacedStale = new Set<FileAnalysis>();
  let params: InitializeParams | undefined;

  const projects = createProjects(host, log, readSettings, (folder) => {
    refresh();
    indexing.configChanged(folder);
    // What open files say of themselves to others was said under the old config, and not each of them is asked about.
    for (const { uri } of documents.all()) othersRuns.schedule(uri);
  });

  /** Something other than a document's text has changed: all that is shown is asked for again. */
  function refresh(): void {
    diagnostics.refresh();
    refreshCosts();
  }
  const neighbours = createEditorRelatedFiles(host, log, documents, refreshCosts);

  function refreshCosts(): void {
    if (params?.capabilities.workspace?.codeLens?.refreshSupport) {
      void guarded(log, 'codeLens/refresh', () => connection.sendRequest(CodeLensRefreshRequest.type));
    }
    if (params?.capabilities.workspace?.inlayHint?.refreshSupport) {
      void guarded(log, 'inlayHint/refresh', () => connection.languages.inlayHint.refresh());
    }
    for (const { uri } of documents.all()) sendSummary(uri);
  }

  /** The same, if what is shown of some document rests on another file that now says otherwise. */
  function refreshStale(): void {
    const now = documents.all().flatMap(({ uri }) => projects.analysis.stale(uri) ?? []);
    const stale = [...replacedStale, ...now];
    replacedStale.clear();
    // What a client does not show it does not ask for again, and is told of once.
    if (stale.every((file) => toldStale.has(file))) return;
    for (const file of stale) toldStale.add(file);
    refresh();
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
      progress: false,
      snippets: false,
      syntaxElsewhere: [],
    },
    async analysed(uri) {
      const before = documents.get(uri);
      // The config is no manifest: it has features of its own.
      if (before === undefined || !isOurs(before) || isConfigUri(uri)) return undefined;
      const { version } = before;
      const [config, relatedFiles] = [await projects.configOf(uri), await neighbours.relatedFilesOf(uri)];
      const document = documents.get(uri);
      if (document?.version !== version) throw outdated();
      const stale = projects.analysis.stale(uri);
      // After a change of its own text a document is asked about anyway.
      if (stale?.version === version) replacedStale.add(stale);
      const file = analysisOf(projects, uri, document.getText(), version, config, relatedFiles);
      // What it rests on may have been changed and changed back: it is shown, so the next change is news.
      toldStale.delete(file);
      logCrashes(file);
      return { file, document };
    },
  };

  const diagnostics = registerDiagnostics(session);
  registerLanguageFeatures(session, replaced, settled);
  registerPickers(session, host);
  registerWorkspaceFixes(session, host);
  registerNavigation(session, host);
  const indexing = createIndexing(session, host, changedElsewhere);

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
    if (workspace?.didChangeWatchedFiles?.dynamicRegistration) watchFiles(connection, log);
    if (params !== undefined) indexing.setFolders(foldersOf(params));
    if (workspace?.configuration && workspace.didChangeConfiguration?.dynamicRegistration) {
      void guarded(log, 'registerCapability', () =>
        connection.client.register(DidChangeConfigurationNotification.type, { section: 'gpulint' }),
      );
    }
    if (workspace?.workspaceFolders) {
      connection.workspace.onDidChangeWorkspaceFolders(
        () =>
          void guarded(log, 'workspaceFolders', async () => {
            const folders = urisOf(await connection.workspace.getWorkspaceFolders());
            projects.setFolders(folders);
            neighbours.foldersChanged();
            indexing.setFolders(folders);
            refresh();
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
    const { files, gone, come } = sortChanges(changes);
    if (gone.size > 0) {
      projects.deleted(gone);
      neighbours.deleted(gone);
      indexing.deleted(gone);
    }
    filesChanged(files);
    void guarded(log, 'looking through new folders', async () => {
      for (const folder of come) filesChanged(await filesIn(folder, files, host));
    });
  });

  function filesChanged(changes: readonly FileEvent[]): void {
    for (const { uri } of changes) {
      if (isConfigUri(uri)) projects.configChanged(uri);
      else neighbours.changed(uri);
    }
    indexing.filesChanged(changes);
  }

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
    othersRuns.schedule(document.uri);
  });
  documents.onDidSave(({ document: { uri } }) => {
    if (typing.settle(uri)) settled(uri);
    // Not every client watches files.
    indexing.filesChanged([{ uri, type: FileChangeType.Changed }]);
  });
  documents.onDidClose(({ document }) => {
    typing.forget(document.uri);
    if (isConfigUri(document.uri)) projects.configEdited(document.uri, undefined);
    else neighbours.changed(document.uri);
    projects.forget(document.uri);
    diagnostics.closed(document.uri);
    summaries.delete(document.uri);
    indexing.filesChanged([{ uri: document.uri, type: FileChangeType.Changed }]);
    changedElsewhere();
    closed();
  });

  const othersRuns = diagnostics.scheduler(async (uri, isCurrent) => {
    await session.analysed(uri);
    if (isCurrent()) changedElsewhere();
  });

  const staleRuns = diagnostics.scheduler(async () => refreshStale());

  /** Looks through all open documents once where many files change together. */
  function changedElsewhere(): void {
    staleRuns.schedule('');
  }

  const summaries = new Map<string, string>();

  function sendSummary(uri: string): void {
    if ((params?.initializationOptions as ClientOptions | undefined)?.summary !== true) return;
    summaryRuns.schedule(uri);
  }

  const summaryRuns = diagnostics.scheduler(async (uri, isCurrent) => {
    const found = await session.analysed(uri);
    if (!isCurrent() || (found !== undefined && typing.isHeld(found.file))) return;
    const message: SummaryParams = { uri, summary: (found && (replaced.summarize ?? summarize)(found.file)) ?? null };
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
