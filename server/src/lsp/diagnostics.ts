import {
  type Diagnostic,
  type DocumentDiagnosticReport,
  DocumentDiagnosticReportKind,
  LSPErrorCodes,
  ResponseError,
} from 'vscode-languageserver';
import type { FileAnalysis } from '../analysis.ts';
import { parseConfig } from '../config.ts';
import { unusedSuppressions } from '../features/actions/unused-suppressions.ts';
import {
  type AdviceForm,
  configProblemToLsp,
  findingToLsp,
  lineIndex,
  linesOf,
  unusedSuppressionToLsp,
} from './convert.ts';
import { guard, guarded, yieldOnce } from './guard.ts';
import { isConfigUri } from './projects.ts';
import type { Session } from './server.ts';

/** Hands out diagnostics: on request where the client asks for them (LSP 3.17), else unasked after each change. */
export interface Diagnostics {
  /** @param pull the client asks; @param refresh it can be told to ask again */
  start(pull: boolean, refresh: boolean): void;
  changed(uri: string): void;
  closed(uri: string): void;
  /** Something other than a document's text has changed. */
  refresh(): void;
  scheduler(run: Run): Scheduler;
}

/** @param isCurrent false as soon as the same document was scheduled again */
type Run = (uri: string, isCurrent: () => boolean) => Promise<void>;

/** Work for a document of which only the newest counts. */
export interface Scheduler {
  schedule(uri: string): void;
  cancel(uri: string): void;
}

export function registerDiagnostics(session: Session): Diagnostics {
  const { connection, documents, projects, typing, log } = session;
  let pull = false;
  let canRefresh = false;
  const pushes = scheduler(push);

  async function diagnose(uri: string): Promise<readonly Diagnostic[]> {
    const document = documents.get(uri);
    if (document === undefined) return [];
    if (isConfigUri(uri)) return typing.steadyConfig(uri, configDiagnostics(document.getText()));
    const found = await session.analysed(uri);
    if (found === undefined) return [];
    const all = fileDiagnostics(found.file, (await projects.settingsOf(uri)).advice);
    // A syntax error that is told twice is told badly.
    const told = session.client.syntaxElsewhere.includes(document.languageId);
    const shown = told ? all.filter(({ code }) => code !== syntaxRule) : all;
    return typing.steady(found.file, 'diagnostics', shown);
  }

  connection.languages.diagnostics.on(
    guard<{ textDocument: { uri: string }; previousResultId?: string }, DocumentDiagnosticReport>(
      log,
      'diagnostic',
      { kind: DocumentDiagnosticReportKind.Full, items: [] },
      async ({ textDocument: { uri }, previousResultId }) => {
        // What is told of the file may change its findings, so it must be known before the result has a name.
        await projects.configOf(uri);
        const found = await session.analysed(uri).catch(retrigger);
        const elsewhere = session.client.syntaxElsewhere.join('+');
        const version = documents.get(uri)?.version ?? 'closed';
        const resultId = [version, projects.generation, typing.turn(uri), nameOf(found?.file), elsewhere].join('-');
        if (resultId === previousResultId) return { kind: DocumentDiagnosticReportKind.Unchanged, resultId };
        const items = await diagnose(uri).catch(retrigger);
        return { kind: DocumentDiagnosticReportKind.Full, resultId, items: [...items] };
      },
    ),
  );

  async function push(uri: string, isCurrent: () => boolean): Promise<void> {
    const version = documents.get(uri)?.version;
    if (version === undefined) return;
    const diagnostics = await diagnose(uri);
    if (!isCurrent()) return;
    await connection.sendDiagnostics({ uri, version, diagnostics: [...diagnostics] });
  }

  function scheduler(run: Run): Scheduler {
    const latest = new Map<string, symbol>();
    return {
      schedule(uri) {
        const ticket = Symbol(uri);
        const isCurrent = () => latest.get(uri) === ticket;
        latest.set(uri, ticket);
        void guarded(log, `work on ${uri}`, async () => {
          await yieldOnce();
          if (isCurrent()) await run(uri, isCurrent).catch(ignoreOutdated);
        }).then(() => {
          if (isCurrent()) latest.delete(uri);
        });
      },
      cancel(uri) {
        latest.delete(uri);
      },
    };
  }

  return {
    scheduler,
    start(pulls, refreshes) {
      pull = pulls;
      canRefresh = refreshes;
    },
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

const names = new WeakMap<FileAnalysis, number>();
let lastName = 0;

/** An analysis is made anew when another file changes what this one rests on. */
function nameOf(file: FileAnalysis | undefined): number {
  if (file === undefined) return 0;
  const name = names.get(file) ?? lastName + 1;
  lastName = Math.max(lastName, name);
  names.set(file, name);
  return name;
}

const syntaxRule = 'yaml-syntax';

/** What an analysed file has wrong, and the suppressions in it that can go. Nothing for a file that concerns no accelerator. */
function fileDiagnostics(file: FileAnalysis, advice: AdviceForm): readonly Diagnostic[] {
  const lines = linesOf(file);
  const found = file.documents.flatMap(({ base, findings }) =>
    findings.flatMap((finding) => findingToLsp(finding, base, lines, advice) ?? []),
  );
  return [...found, ...unusedSuppressions(file).map((unused) => unusedSuppressionToLsp(unused, lines))];
}

function configDiagnostics(text: string): readonly Diagnostic[] {
  const lines = lineIndex(text);
  return parseConfig(text).problems.map((problem) => configProblemToLsp(problem, lines));
}

/** A pull that the document ran away from is asked again by the client. */
function retrigger(error: unknown): never {
  if (!isOutdated(error)) throw error;
  throw new ResponseError(LSPErrorCodes.ServerCancelled, 'the document has changed', { retriggerRequest: true });
}

/** The newer version has its own turn. */
function ignoreOutdated(error: unknown): void {
  if (!isOutdated(error)) throw error;
}

function isOutdated(error: unknown): boolean {
  return error instanceof ResponseError && error.code === LSPErrorCodes.ContentModified;
}
