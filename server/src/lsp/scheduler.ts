import { guarded, isOutdated, type Log, yieldOnce } from './guard.ts';

/** Work of which, for each document, only the newest counts. */
export interface Scheduler {
  schedule(uri: string): void;
  cancel(uri: string): void;
}

/** @param isCurrent false as soon as the same document was scheduled again */
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

/** The newer version has its own turn. */
function ignoreOutdated(error: unknown): void {
  if (!isOutdated(error)) throw error;
}
