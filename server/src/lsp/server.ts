import type { Connection } from 'vscode-languageserver';
import { summarize } from '../features/report.ts';
import { createBaseTexts } from './base-texts.ts';
import { createClosedDiagnostics } from './closed-diagnostics.ts';
import { watchClosing } from './closed-files.ts';
import { registerCluster } from './cluster.ts';
import type { Host } from './confined-host.ts';
import { registerCostChanges } from './cost-changes.ts';
import { registerCostReport } from './cost-report.ts';
import { registerDiagnostics } from './diagnostics.ts';
import { type Followers, followDocuments, followFiles, showHeldBack } from './documents.ts';
import { registerFractionPicker } from './fraction-picker.ts';
import { guarded } from './guard.ts';
import { createIndexing } from './indexing.ts';
import { abilitiesOf, foldersOf, initializeResult, urisOf } from './initialize.ts';
import { type Features, registerLanguageFeatures } from './language-features.ts';
import { DidChangeConfigurationNotification } from './library.ts';
import { registerNavigation } from './navigation.ts';
import { registerPickers } from './pickers.ts';
import { methods, type SyntaxElsewhereParams } from './protocol.ts';
import { createRefreshing } from './refreshing.ts';
import { createSession, type Session } from './session.ts';
import { createSummaries } from './summaries.ts';
import { watchFiles } from './watching.ts';
import { createWorkspaceAnalyses } from './workspace-analyses.ts';
import { registerWorkspaceCosts } from './workspace-costs.ts';
import { registerWorkspaceFixes } from './workspace-fixes.ts';

export type { Host } from './confined-host.ts';
export type { Features } from './language-features.ts';

/** Serves LSP on a connection until it closes. The entry points differ only in the connection and the host. */
export function startServer(connection: Connection, machine: Host, replaced: Partial<Features> = {}): void {
  const session = createSession(connection, machine, {
    configChanged(folder) {
      indexing.configChanged(folder);
      refreshing.outdatedByInputs();
      workspaceChanged();
    },
    settingsChanged() {
      refreshing.all();
      workspaceChanged();
    },
    relatedFilesChanged() {
      refreshing.outdatedByInputs();
      costs.changed();
    },
  });
  const { host } = session;
  const diagnostics = registerDiagnostics(session, (uri) => closedDiagnostics.release(uri));
  const summaries = createSummaries(session, replaced.summarize ?? summarize);
  const refreshing = createRefreshing(session, diagnostics, summaries);
  const released = watchClosing(() => machine.collect?.());
  const analyses = createWorkspaceAnalyses(session, released);
  const indexed = () => {
    refreshing.outdated();
    workspaceChanged();
  };
  const indexing = createIndexing(session, host, analyses, indexed, () => costs.idle());
  const costs = registerWorkspaceCosts(session, analyses, indexing);
  registerCostReport(session, costs, indexing);
  const closedDiagnostics = createClosedDiagnostics(session, analyses, indexing, costs, diagnostics.isPulled);
  const workspaceChanged = () => {
    costs.changed();
    closedDiagnostics.changed();
  };
  const bases = createBaseTexts(session, refreshing.all);
  const followers: Followers = { diagnostics, summaries, refreshing, indexing, costs };

  registerLanguageFeatures(session, replaced, bases, (uri) => showHeldBack(session, refreshing, uri));
  registerPickers(session, host);
  registerFractionPicker(session, host);
  registerCostChanges(session);
  registerWorkspaceFixes(session, host);
  registerCluster(session, machine.startCluster, {
    figuresChanged: refreshing.outdated,
    answersChanged() {
      refreshing.outdated();
      workspaceChanged();
    },
  });
  registerNavigation(session, host);
  registerLifecycle(session, followers);
  followClient(session, followers);
  followFiles(session, followers);
  connection.onNotification(methods.basesChanged, () => {
    bases.changed();
    refreshing.all();
  });
  session.documents.onDidClose(({ document: { uri } }) => bases.closed(uri));
  followDocuments(session, followers, released);

  session.documents.listen(connection);
  connection.listen();
}

/** Handles initialization, and registers for the notifications that the client supports. */
function registerLifecycle(session: Session, followers: Followers): void {
  const { diagnostics, indexing } = followers;
  const { connection, log, projects } = session;

  connection.onInitialize((params) => {
    session.params = params;
    session.client = abilitiesOf(params);
    const pull = params.capabilities.textDocument?.diagnostic !== undefined;
    diagnostics.start(pull, params.capabilities.workspace?.diagnostics?.refreshSupport === true);
    projects.setFolders(foldersOf(params));
    return initializeResult(params, pull);
  });

  connection.onInitialized(() => {
    const { params } = session;
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
        () => void guarded(log, 'workspaceFolders', () => foldersChanged(session, followers)),
      );
    }
  });
}

async function foldersChanged(session: Session, { refreshing, indexing }: Followers): Promise<void> {
  const folders = urisOf(await session.connection.workspace.getWorkspaceFolders());
  session.projects.setFolders(folders);
  session.relatedFiles.foldersChanged();
  indexing.setFolders(folders);
  refreshing.all();
}

/** Handles changes of the client's settings. */
function followClient(session: Session, { refreshing }: Followers): void {
  const { connection, projects } = session;
  connection.onDidChangeConfiguration(() => projects.settingsChanged());
  connection.onNotification(methods.pricesChanged, () => projects.pricesChanged());
  connection.onNotification(methods.syntaxElsewhere, ({ languages }: SyntaxElsewhereParams) => {
    session.client = { ...session.client, syntaxElsewhere: languages };
    refreshing.all();
  });
}
