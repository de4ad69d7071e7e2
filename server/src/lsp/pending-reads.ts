import { yieldOnce } from './guard.ts';

/** Other files that are being read: until they are, what is shown may be incomplete. */
export interface PendingReads {
  /** Counts work as reading until it ends. */
  reading<T>(work: () => Promise<T>): Promise<T>;
  /** Waits until nothing is read, for a limited time. @returns whether nothing is read any more */
  settled(): Promise<boolean>;
}

/** As long as a person waits for a hover without wondering. */
const timeoutMs = 1000;

export function createPendingReads(): PendingReads {
  const waiting = new Set<() => void>();
  let count = 0;

  async function ended(): Promise<void> {
    // What was read may name the next file.
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
