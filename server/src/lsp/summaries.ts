import type { summarize } from '../features/report.ts';
import { type ClientOptions, methods, type SummaryParams } from './protocol.ts';
import { createScheduler } from './scheduler.ts';
import type { Session } from './session.ts';

/** Sends the cost of each document in one line to clients that request it on initialization. */
export interface Summaries {
  /** Sends the summary if it has changed. */
  send(uri: string): void;
  forget(uri: string): void;
}

export function createSummaries(session: Session, summarizeFile: typeof summarize): Summaries {
  const { connection, typing, log } = session;
  const sent = new Map<string, string>();

  const runs = createScheduler(log, async (uri, isCurrent) => {
    const found = await session.analyzed(uri);
    if (!isCurrent() || (found !== undefined && typing.isHeld(found.file))) return;
    const message: SummaryParams = { uri, summary: (found && summarizeFile(found.file)) ?? null };
    const text = JSON.stringify(message);
    if (sent.get(uri) === text) return;
    sent.set(uri, text);
    await connection.sendNotification(methods.summary, message);
  });

  return {
    send(uri) {
      if ((session.params?.initializationOptions as ClientOptions | undefined)?.summary === true) runs.schedule(uri);
    },
    forget: (uri) => void sent.delete(uri),
  };
}
