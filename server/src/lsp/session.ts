import type { Connection, InitializeParams } from 'vscode-languageserver';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import { type FileAnalysis, withFindings } from '../analysis.ts';
import { mayInstallCharts } from '../model/chart-installs.ts';
import { type ConfinedHost, confine, type Host } from './confined-host.ts';
import { createEditorRelatedFiles, type EditorRelatedFiles } from './editor-related-files.ts';
import { guarded, type Log, outdated } from './guard.ts';
import { isOurs } from './initialize.ts';
import { MarkupKind, TextDocuments } from './library.ts';
import { createProjects, isConfigUri, type Projects, type ProjectsListener } from './projects.ts';
import { defaultSettings, type Settings, settingsFrom } from './settings.ts';
import { type Shown, watchShown } from './shown.ts';
import type { ClientAbilities } from './to-lsp.ts';
import { type Typing, watchTyping } from './typing.ts';

/** The state that all parts of the server share. */
export interface Session {
  readonly connection: Connection;
  readonly host: ConfinedHost;
  readonly documents: TextDocuments<TextDocument>;
  readonly projects: Projects;
  readonly relatedFiles: EditorRelatedFiles;
  readonly typing: Typing;
  readonly shown: Shown;
  readonly log: Log;
  /** Writes a line for users: what was read, and why a file was not. */
  readonly note: Log;
  /** Set by `initialize`, like `params`. */
  client: ClientAbilities;
  params: InitializeParams | undefined;
  /**
   * The latest analysis of an open document that gpulint supports, to be shown; undefined for other documents. Rejects with "content
   * modified" if the document changes while configs are being read.
   */
  analyzed(uri: string): Promise<AnalyzedDocument | undefined>;
  /** The same, if the result is not shown. */
  update(uri: string): Promise<AnalyzedDocument | undefined>;
}

export interface AnalyzedDocument {
  readonly file: FileAnalysis;
  readonly document: TextDocument;
}

export interface SessionListener extends ProjectsListener {
  /** The related files of an open document may have changed. */
  relatedFilesChanged(): void;
}

/** @param listener is not called before all parts of the server exist */
export function createSession(connection: Connection, machine: Host, listener: SessionListener): Session {
  const log = logTo(connection, 'error');
  const host = confine(machine, log);
  const typing = watchTyping();
  const documents = new TextDocuments(typing.documents);
  const readSettings = (folder: string | undefined) => settingsOf(session, folder);
  const logCrashes = crashLog(log);

  async function update(uri: string): Promise<AnalyzedDocument | undefined> {
    const before = documents.get(uri);
    // A config is not a manifest and has its own features.
    if (before === undefined || !isOurs(before) || isConfigUri(uri)) return undefined;
    const { version } = before;
    const config = await session.projects.configOf(uri);
    if (documents.get(uri)?.version !== version) throw outdated();
    const relatedFiles = await session.relatedFiles.relatedFilesOf(uri, mayInstallCharts(before.getText()));
    const document = documents.get(uri);
    if (document?.version !== version) throw outdated();
    const file = session.projects.analysis.setFile(uri, document.getText(), version, config, relatedFiles);
    logCrashes(file);
    return { file, document };
  }

  const projects = createProjects(host, log, readSettings, listener);
  const session: Session = {
    connection,
    host,
    documents,
    projects,
    relatedFiles: createEditorRelatedFiles(host, log, documents, projects.analysis.workspace, () =>
      listener.relatedFilesChanged(),
    ),
    typing,
    shown: watchShown(),
    log,
    note: logTo(connection, 'info'),
    client: noAbilities,
    params: undefined,
    update,
    async analyzed(uri) {
      const found = await update(uri);
      if (found !== undefined) session.shown.add(found.file);
      return found;
    },
  };
  return session;
}

const noAbilities: ClientAbilities = {
  hoverFormat: MarkupKind.PlainText,
  documentChanges: false,
  annotations: false,
  commands: false,
  progress: false,
  snippets: false,
  baseTexts: false,
  syntaxElsewhere: [],
};

function logTo(connection: Connection, level: 'error' | 'info'): Log {
  return (line) => {
    try {
      connection.console[level](line);
    } catch {
      // The client is gone.
    }
  };
}

async function settingsOf({ connection, params, log }: Session, folder: string | undefined): Promise<Settings> {
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

/** Logs each rule that threw an error once. The findings of other rules are not affected. */
function crashLog(log: Log): (file: FileAnalysis) => void {
  const crashes = new Set<string>();
  return (file) => {
    for (const { rule, error } of withFindings(file).documents.flatMap((document) => document.crashes)) {
      if (crashes.has(rule + error)) continue;
      crashes.add(rule + error);
      log(`rule ${rule} failed on ${file.uri}: ${error}`);
    }
  };
}
