import type { Diagnostic } from 'vscode-languageserver';
import { normalizeUri, pathBelow } from '../config/places.ts';
import { createSlices, guarded } from './guard.ts';
import type { Indexing } from './indexing.ts';
import type { Session } from './session.ts';
import type { Settings } from './settings.ts';
import type { AdviceForm } from './to-lsp.ts';
import type { WorkspaceAnalyses } from './workspace-analyses.ts';
import type { WorkspaceCosts } from './workspace-costs.ts';

/** Pushes the findings in files that are not open. */
export interface ClosedDiagnostics {
  /** Handles changes on disk, of configs and of settings, but not typing: unsaved text must not change what is shown elsewhere. */
  changed(): void;
  /** Removes the findings of a document whose diagnostics the client is about to show itself. @param uri as the client spells it */
  release(uri: string): void;
}

export function createClosedDiagnostics(
  session: Session,
  analyses: WorkspaceAnalyses,
  indexing: Pick<Indexing, 'totalAround' | 'isIndexed' | 'folders'>,
  costs: Pick<WorkspaceCosts, 'idle'>,
  isPull: () => boolean,
): ClosedDiagnostics {
  const { connection, documents, projects, log } = session;
  /** What the client shows, by normalized URI. */
  const shown = new Map<string, { readonly uri: string; readonly diagnostics: readonly Diagnostic[] }>();
  let isRunning = false;
  let isOutdated = false;

  async function run(): Promise<void> {
    if (isRunning) return;
    isRunning = true;
    while (isOutdated) {
      isOutdated = false;
      await guarded(log, 'findings of files that are not open', pass);
    }
    isRunning = false;
  }

  async function pass(): Promise<void> {
    const slice = createSlices();
    const found = new Set<string>();
    const adviceFor = adviceIn();
    for (const file of analyses.files()) {
      // Another pass starts over.
      if (isOutdated) return;
      found.add(file.key);
      if (file.document !== undefined) continue;
      await costs.idle();
      await guarded(log, `reading ${file.uri}`, async () => {
        const advice = await adviceFor(file.uri);
        const analysis = advice && (await analyses.update(file, advice));
        publish(file.key, file.uri, analysis?.diagnostics ?? []);
      });
      await slice();
    }
    for (const [key, { uri }] of shown) if (!found.has(key)) publish(key, uri, []);
    analyses.releaseTexts();
  }

  /** How to report advice in a file; undefined if its findings are not reported. Requests the settings of each folder once. */
  function adviceIn(): (uri: string) => Promise<AdviceForm | undefined> {
    const byFolder = new Map<string, Promise<Settings>>();
    return async (uri) => {
      const holding = indexing.folders().filter((one) => pathBelow(one, uri) !== undefined);
      // Nested folders can have different settings.
      const folder = holding.join('\n');
      const reading = byFolder.get(folder) ?? projects.settingsOf(uri);
      byFolder.set(folder, reading);
      const { closedFiles, advice } = await reading;
      return indexing.totalAround(uri) <= closedFiles.maxFiles ? advice : undefined;
    };
  }

  function publish(key: string, uri: string, diagnostics: readonly Diagnostic[]): void {
    const before = shown.get(key)?.diagnostics ?? none;
    // The document may have been opened in the meantime, and then it has its own diagnostics.
    const isOpen = diagnostics.length > 0 && documents.all().some((one) => normalizeUri(one.uri) === key);
    if (isOpen || before === diagnostics || (before.length === 0 && diagnostics.length === 0)) return;
    if (diagnostics.length === 0) shown.delete(key);
    else shown.set(key, { uri, diagnostics });
    void guarded(log, 'publishDiagnostics', () => connection.sendDiagnostics({ uri, diagnostics: [...diagnostics] }));
  }

  return {
    changed() {
      isOutdated = true;
      // Files are incomplete without each other.
      if (indexing.isIndexed()) void run();
    },
    release(uri) {
      const key = normalizeUri(uri);
      const before = shown.get(key);
      if (before === undefined) return;
      // Pushed diagnostics of the document replace these, if its URI is spelled in the same way.
      if (isPull() || before.uri !== uri) publish(key, before.uri, []);
      else shown.delete(key);
    },
  };
}

const none: readonly Diagnostic[] = [];
