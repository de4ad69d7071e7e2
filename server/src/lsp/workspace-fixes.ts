import type { CancellationToken, TextDocumentEdit, WorkspaceEdit } from 'vscode-languageserver';
import type { FileAnalysis } from '../analysis.ts';
import { type FileFix, fixesOfRule, safeFixes } from '../features/actions/safe-fixes.ts';
import type { ConfinedHost } from './confined-host.ts';
import { canceled, failedWords, guard, guarded, yieldOnce } from './guard.ts';
import { type LineIndex, lineIndex } from './line-index.ts';
import {
  type EditResult,
  type FixWorkspaceParams,
  methods,
  type WorkspaceFixesParams,
  type WorkspaceFixesResult,
} from './protocol.ts';
import type { Session } from './session.ts';

/** Applies fixes in many files. The client lists the files, and unsaved documents take precedence over the disk. */
export function registerWorkspaceFixes(session: Session, host: ConfinedHost): void {
  const { connection, documents, projects, log } = session;

  connection.onRequest(
    methods.workspaceFixes,
    guard<WorkspaceFixesParams, WorkspaceFixesResult>(log, methods.workspaceFixes, [], async ({ uris }, token) => {
      const found = new Map<string, { fixes: number; files: number; safe: boolean }>();
      for await (const { file } of filesOf(uris, token)) {
        const rules = new Set(file.documents.flatMap(({ findings }) => findings.map(({ rule }) => rule)));
        for (const rule of rules) {
          const fixes = fixesOfRule(file, rule);
          if (fixes.length === 0) continue;
          const before = found.get(rule) ?? { fixes: 0, files: 0, safe: true };
          found.set(rule, {
            fixes: before.fixes + fixes.length,
            files: before.files + 1,
            safe: before.safe && fixes.every(({ safe }) => safe),
          });
        }
      }
      return [...found]
        .map(([rule, counts]) => ({ rule, ...counts }))
        .sort((a, b) => b.fixes - a.fixes || (a.rule < b.rule ? -1 : 1));
    }),
  );

  connection.onRequest<EditResult, void>(
    methods.fixWorkspace,
    guard<FixWorkspaceParams, EditResult>(
      log,
      methods.fixWorkspace,
      { problem: failedWords },
      async ({ uris, rule }, token) => {
        const changes: TextDocumentEdit[] = [];
        const annotations: NonNullable<WorkspaceEdit['changeAnnotations']> = {};
        for await (const { file, version } of filesOf(uris, token)) {
          const fixes = rule === null ? safeFixes(file) : fixesOfRule(file, rule);
          if (fixes.length === 0) continue;
          for (const { title, rule: by } of fixes) {
            annotations[title] ??= { label: title, description: by, needsConfirmation: true };
          }
          const lines = lineIndex(file.text);
          changes.push({
            textDocument: { uri: file.uri, version },
            edits: fixes.flatMap((fix) => toEdits(fix, lines, session.client.annotations)),
          });
        }
        if (changes.length === 0) return { problem: 'There is nothing to fix.' };
        if (!session.client.documentChanges)
          return { problem: 'This editor does not support changes in several files at once.' };
        return {
          edit: { documentChanges: changes, ...(session.client.annotations && { changeAnnotations: annotations }) },
        };
      },
    ),
  );

  /** The readable files that are not ignored, one by one, so that other requests can run in between. Rejects if the request is canceled. */
  async function* filesOf(
    uris: readonly string[],
    token: CancellationToken,
  ): AsyncGenerator<{ readonly file: FileAnalysis; readonly version: number | null }> {
    for (const uri of uris) {
      await yieldOnce();
      if (token.isCancellationRequested) throw canceled();
      const open = documents.get(uri);
      // Documents are changed in place, so read the text and the version together.
      let text = open?.getText();
      const version = open?.version ?? null;
      if (text === undefined) {
        await guarded(log, `reading ${uri}`, async () => {
          text = await host.readFile(uri);
        });
      }
      if (text === undefined || (open === undefined && (await projects.isIgnored(uri)))) continue;
      const config = await projects.configOf(uri);
      // Release everything about a file that is not open.
      if (open === undefined) projects.forget(uri);
      yield { file: projects.analysis.peek(uri, text, config), version };
    }
  }
}

function toEdits({ title, edits }: FileFix, lines: LineIndex, named: boolean) {
  return edits.map(({ span, newText }) => ({
    range: lines.toRange(span),
    newText,
    ...(named && { annotationId: title }),
  }));
}
