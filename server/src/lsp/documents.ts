import type { FileEvent } from 'vscode-languageserver';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import { normalizeUri } from '../config/places.ts';
import { parseConfig } from '../config.ts';
import type { Diagnostics } from './diagnostics.ts';
import { guarded } from './guard.ts';
import type { Indexing } from './indexing.ts';
import { FileChangeType } from './library.ts';
import { isConfigUri } from './projects.ts';
import type { Refreshing } from './refreshing.ts';
import type { Session } from './session.ts';
import type { Summaries } from './summaries.ts';
import { filesIn, sortChanges } from './watching.ts';
import type { WorkspaceCosts } from './workspace-costs.ts';

/** The parts of the server that follow documents and files. */
export interface Followers {
  readonly diagnostics: Diagnostics;
  readonly summaries: Summaries;
  readonly refreshing: Refreshing;
  readonly indexing: Indexing;
  readonly costs: Pick<WorkspaceCosts, 'changed'>;
}

/** Handles documents that are opened, edited, saved and closed. @param closed called for each closed document */
export function followDocuments(session: Session, followers: Followers, closed: () => void): void {
  const { documents, projects, relatedFiles, shown, typing } = session;
  const { diagnostics, summaries, refreshing, indexing, costs } = followers;

  /** Hold back incomplete configs: each keystroke would change every price on screen. */
  function configEdited(document: TextDocument): void {
    const messages = parseConfig(document.getText()).problems.map(({ message }) => message);
    if (!typing.isConfigHeld(document.uri, messages)) projects.configEdited(document.uri, document.getText());
  }

  documents.onDidChangeContent(({ document }) => {
    const { uri } = document;
    if (isConfigUri(uri)) configEdited(document);
    else relatedFiles.changed(uri);
    // The client requests everything for this document by itself.
    shown.forget(uri);
    diagnostics.changed(uri);
    summaries.send(uri);
    refreshing.outdatedBy(uri);
    costs.changed();
  });
  documents.onDidSave(({ document: { uri } }) => {
    if (typing.settle(uri)) showHeldBack(session, refreshing, uri);
    // Some clients do not watch files.
    indexing.filesChanged([{ uri, type: FileChangeType.Changed }]);
  });
  documents.onDidClose(({ document: { uri } }) => {
    typing.forget(uri);
    if (isConfigUri(uri)) projects.configEdited(uri, undefined);
    else relatedFiles.changed(uri);
    projects.forget(uri);
    shown.forget(uri);
    diagnostics.closed(uri);
    summaries.forget(uri);
    indexing.filesChanged([{ uri, type: FileChangeType.Changed }]);
    refreshing.outdated();
    costs.changed();
    closed();
  });
}

/** Shows what was held back while a line was being typed. */
export function showHeldBack({ documents, projects }: Session, refreshing: Refreshing, uri: string): void {
  const config = isConfigUri(uri) ? documents.get(uri) : undefined;
  if (config !== undefined) projects.configEdited(uri, config.getText());
  refreshing.all();
}

/** Handles changes on disk. */
export function followFiles({ connection, host, projects, relatedFiles, log }: Session, { indexing }: Followers): void {
  function changed(changes: readonly FileEvent[]): void {
    for (const { uri } of changes) if (isConfigUri(uri)) projects.configChanged(uri);
    indexing.filesChanged(changes);
  }

  connection.onDidChangeWatchedFiles(({ changes }) => {
    const { files, removed, created } = sortChanges(changes);
    // Kustomizations and charts can name files of any kind, and folders.
    relatedFiles.filesChanged(changes.map(({ uri }) => normalizeUri(uri)));
    if (removed.size > 0) {
      projects.deleted(removed);
      indexing.deleted(removed);
    }
    changed(files);
    void guarded(log, 'indexing new folders', async () => {
      for (const folder of created) changed(await filesIn(folder, files, host));
    });
  });
}
