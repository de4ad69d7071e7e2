import { guarded, ignoreOutdated, type Log, yieldOnce } from './guard.ts';

/** Schedules work per document. Newer work replaces older work for the same document. */
export interface Scheduler {
  schedule(uri: string): void;
  cancel(uri: string): void;
}

/** @param isCurrent whether the document has not been scheduled again */
export type Run = (uri: string, isCurrent: () => boolean) => Promise<void>;

export function createScheduler(log: Log, run: Run): Scheduler {
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
