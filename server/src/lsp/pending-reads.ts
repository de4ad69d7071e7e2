import { yieldOnce } from './guard.ts';

/** Tracks reads of other files. Results can be incomplete until they end. */
export interface PendingReads {
  /** Counts work as a pending read until it ends. */
  reading<T>(work: () => Promise<T>): Promise<T>;
  /** Waits a limited time for all pending reads. @returns whether all have ended */
  settled(): Promise<boolean>;
}

/** Time in milliseconds that a hover may take. */
const timeoutMs = 1000;

export function createPendingReads(): PendingReads {
  const waiting = new Set<() => void>();
  let count = 0;

  async function ended(): Promise<void> {
    // A file that was read can reference the next one.
    await yieldOnce();
    if (count > 0) return;
    for (const wake of waiting) wake();
  }

  return {
    async reading(work) {
      count += 1;
      try {
        return await work();
      } finally {
        count -= 1;
        if (count === 0 && waiting.size > 0) void ended();
      }
    },
    async settled() {
      if (count === 0) return true;
      await new Promise<void>((resolve) => {
        const wake = () => {
          clearTimeout(timer);
          waiting.delete(wake);
          resolve();
        };
        const timer = setTimeout(wake, timeoutMs);
        waiting.add(wake);
      });
      return count === 0;
    },
  };
}
