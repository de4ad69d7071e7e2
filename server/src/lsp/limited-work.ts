import { accessDenied } from './access-denied.ts';

/** Work on a file system that may never respond. */
export interface LimitedWork {
  /** Runs work when a slot is free. Rejects with `accessDenied` if the work takes too long or all slots hang. */
  run<T>(work: () => Promise<T>): Promise<T>;
  /** Starts no more work, and resolves when no work is running, or after a timeout. */
  settled(): Promise<void>;
  /** Whether any work is running. */
  isBusy(): boolean;
}

/** Time in milliseconds that shutdown waits for running work. */
const timeoutMs = 500;

/**
 * @param atOnce number of slots. Work that hangs keeps its slot until it ends, because it blocks a thread of the system
 * @param milliseconds timeout of the work
 */
export function limitWork(atOnce: number, milliseconds: number): LimitedWork {
  const waiting: (() => void)[] = [];
  let running = 0;
  let late = 0;
  let isEnding = false;

  async function run<T>(work: () => Promise<T>): Promise<T> {
    while (running >= atOnce || isEnding) {
      if (late >= atOnce || isEnding) throw accessDenied('is on a file system that does not respond');
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
    running += 1;
    let isLate = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const overdue = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        isLate = true;
        late += 1;
        if (late >= atOnce) for (const wake of waiting.splice(0)) wake();
        reject(accessDenied(`took longer than ${milliseconds / 1000} s`));
      }, milliseconds);
    });
    // An async function, so that work that throws synchronously also ends.
    const ended = (async () => work())().finally(() => {
      clearTimeout(timer);
      running -= 1;
      if (isLate) late -= 1;
      waiting.shift()?.();
    });
    return Promise.race([ended, overdue]);
  }

  return {
    run,
    async settled() {
      isEnding = true;
      for (const wake of waiting.splice(0)) wake();
      const end = Date.now() + timeoutMs;
      while (running > 0 && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 5));
    },
    isBusy: () => running > 0,
  };
}
