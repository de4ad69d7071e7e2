import { CodeLensRefreshRequest } from 'vscode-languageserver';
import type { Diagnostics } from './diagnostics.ts';
import { guarded } from './guard.ts';
import { createScheduler } from './scheduler.ts';
import type { Session } from './session.ts';
import type { Summaries } from './summaries.ts';

/** Has the client fetch again what it shows. */
export interface Refreshing {
  /** Whatever it shows. */
  all(): void;
  /** Whatever it shows, if some of it rests on an answer that is another now: looked at once where many files change together. */
  outdated(): void;
  /** The same after the document was read: what it says to others may be new. */
  outdatedBy(uri: string): void;
  /** The same after all open documents were read under the configs and with the related files that hold now. */
  outdatedByInputs(): void;
}

export function createRefreshing(session: Session, diagnostics: Diagnostics, summaries: Summaries): Refreshing {
  const { connection, documents, shown, log } = session;

  function all(): void {
    shown.dropOutdated();
    diagnostics.refresh();
    const workspace = session.params?.capabilities.workspace;
    if (workspace?.codeLens?.refreshSupport) {
      void guarded(log, 'codeLens/refresh', () => connection.sendRequest(CodeLensRefreshRequest.type));
    }
    if (workspace?.inlayHint?.refreshSupport) {
      void guarded(log, 'inlayHint/refresh', () => connection.languages.inlayHint.refresh());
    }
    for (const { uri } of documents.all()) summaries.send(uri);
  }

  const checks = createScheduler(log, async () => {
    if (shown.isOutdated()) all();
  });
  const outdated = () => checks.schedule('');

  const updates = createScheduler(log, async (uri, isCurrent) => {
    await session.update(uri);
    if (isCurrent()) outdated();
  });

  const updatesOfAll = createScheduler(log, async (_, isCurrent) => {
    for (const { uri } of documents.all()) {
      // What is being typed has its own turn.
      await session.update(uri).catch(() => undefined);
      if (!isCurrent()) return;
    }
    outdated();
  });

  return {
    all,
    outdated,
    outdatedBy: (uri) => updates.schedule(uri),
    outdatedByInputs: () => updatesOfAll.schedule(''),
  };
}
