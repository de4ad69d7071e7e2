import type { Diagnostics } from './diagnostics.ts';
import { guarded, ignoreOutdated } from './guard.ts';
import { CodeLensRefreshRequest } from './library.ts';
import { createScheduler } from './scheduler.ts';
import type { Session } from './session.ts';
import type { Summaries } from './summaries.ts';

/** Makes the client request again what it shows. */
export interface Refreshing {
  /** Refreshes everything. */
  all(): void;
  /** Refreshes everything if any shown analysis is outdated. Checks once if many files change together. */
  outdated(): void;
  /** The same after an update of the document, whose objects other documents may look up. */
  outdatedBy(uri: string): void;
  /** The same after an update of all open documents with the current configs and related files. */
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
      // One document that fails must not keep the others from being updated.
      await guarded(log, `work on ${uri}`, () => session.update(uri).catch(ignoreOutdated));
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
