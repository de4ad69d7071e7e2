import type { Diagnostic, DocumentDiagnosticReport } from 'vscode-languageserver';
import type { FileAnalysis } from '../analysis.ts';
import type { PriceSheet } from '../catalog/index.ts';
import { parseConfig } from '../config.ts';
import { unusedSuppressions } from '../features/actions/unused-suppressions.ts';
import { shownFindings } from '../features/shown-findings.ts';
import { rules } from '../rules/index.ts';
import { guard, guarded, isOutdated } from './guard.ts';
import { DocumentDiagnosticReportKind, LSPErrorCodes, ResponseError } from './library.ts';
import { lineIndex, linesOf } from './line-index.ts';
import { isConfigUri } from './projects.ts';
import { createScheduler } from './scheduler.ts';
import type { Session } from './session.ts';
import { type AdviceForm, configProblemToLsp, findingToLsp, unusedSuppressionToLsp } from './to-lsp.ts';

/** Provides diagnostics: on request if the client pulls them (LSP 3.17), otherwise after each change. */
export interface Diagnostics {
  /** @param pull whether the client pulls @param refresh whether the client supports refresh requests */
  start(pull: boolean, refresh: boolean): void;
  isPulled(): boolean;
  changed(uri: string): void;
  closed(uri: string): void;
  /** Something other than a document's text has changed. */
  refresh(): void;
}

/** Whether a problem comes and goes while a word is being typed. */
function judgesWords({ code }: Diagnostic): boolean {
  return rules.get(String(code))?.judgesWords === true;
}

/** @param release removes what is shown for a document that was not open: the client gets its diagnostics now */
export function registerDiagnostics(session: Session, release: (uri: string) => void): Diagnostics {
  const { connection, documents, projects, typing, log } = session;
  let pull = false;
  let canRefresh = false;
  const pushes = createScheduler(log, push);

  async function diagnose(uri: string): Promise<readonly Diagnostic[]> {
    const document = documents.get(uri);
    if (document === undefined) return [];
    if (isConfigUri(uri)) return typing.steadyConfig(uri, configDiagnostics(document.getText(), projects.sheet()));
    const found = await session.analyzed(uri);
    if (found === undefined) return [];
    const all = fileDiagnostics(found.file, (await projects.settingsOf(uri)).advice);
    // Another extension already reports the syntax error.
    const known = session.client.syntaxElsewhere.includes(document.languageId);
    const shown = known ? all.filter(({ code }) => code !== syntaxRule) : all;
    return typing.steady(found.file, 'diagnostics', typing.withoutUnfinished(uri, shown, judgesWords));
  }

  connection.languages.diagnostics.on(
    guard<{ textDocument: { uri: string }; previousResultId?: string }, DocumentDiagnosticReport>(
      log,
      'diagnostic',
      { kind: DocumentDiagnosticReportKind.Full, items: [] },
      async ({ textDocument: { uri }, previousResultId }) => {
        const found = await session.analyzed(uri).catch(retrigger);
        const analysis = found === undefined ? `${documents.get(uri)?.version ?? 'closed'}` : nameOf(found.file);
        const { advice } = await projects.settingsOf(uri);
        const elsewhere = session.client.syntaxElsewhere.join('+');
        const resultId = [analysis, typing.turn(uri), advice, elsewhere].join('-');
        if (resultId === previousResultId) return { kind: DocumentDiagnosticReportKind.Unchanged, resultId };
        const items = await diagnose(uri).catch(retrigger);
        if (documents.get(uri) !== undefined) release(uri);
        return { kind: DocumentDiagnosticReportKind.Full, resultId, items: [...items] };
      },
    ),
  );

  async function push(uri: string, isCurrent: () => boolean): Promise<void> {
    const version = documents.get(uri)?.version;
    if (version === undefined) return;
    const diagnostics = await diagnose(uri);
    if (!isCurrent()) return;
    release(uri);
    await connection.sendDiagnostics({ uri, version, diagnostics: [...diagnostics] });
  }

  return {
    start(pulls, refreshes) {
      pull = pulls;
      canRefresh = refreshes;
    },
    isPulled: () => pull,
    changed(uri) {
      if (!pull) pushes.schedule(uri);
    },
    closed(uri) {
      if (pull) return;
      pushes.cancel(uri);
      void guarded(log, 'publishDiagnostics', () => connection.sendDiagnostics({ uri, diagnostics: [] }));
    },
    refresh() {
      if (!pull) for (const { uri } of documents.all()) pushes.schedule(uri);
      else if (canRefresh) {
        void guarded(log, 'diagnostic/refresh', () => connection.languages.diagnostics.refresh());
      }
    },
  };
}

const names = new WeakMap<FileAnalysis, string>();
let lastName = 0;

/** A name for an analysis, which stays the same object until its text or a lookup changes. */
function nameOf(file: FileAnalysis): string {
  const known = names.get(file);
  if (known !== undefined) return known;
  lastName += 1;
  const name = `analysis ${lastName}`;
  names.set(file, name);
  return name;
}

const syntaxRule = 'yaml-syntax';

/** The findings and unused suppressions of a file. Files without accelerators have none. */
export function fileDiagnostics(file: FileAnalysis, advice: AdviceForm): readonly Diagnostic[] {
  const lines = linesOf(file);
  const found = shownFindings(file).flatMap(({ finding, base }) => findingToLsp(finding, base, lines, advice) ?? []);
  return [...found, ...unusedSuppressions(file).map((unused) => unusedSuppressionToLsp(unused, lines))];
}

function configDiagnostics(text: string, sheet: PriceSheet): readonly Diagnostic[] {
  const lines = lineIndex(text);
  return parseConfig(text, sheet).problems.map((problem) => configProblemToLsp(problem, lines));
}

/** Makes the client repeat a pull if its document has changed in the meantime. */
function retrigger(error: unknown): never {
  if (!isOutdated(error)) throw error;
  throw new ResponseError(LSPErrorCodes.ServerCancelled, 'the document has changed', { retriggerRequest: true });
}
