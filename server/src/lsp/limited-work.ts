import { accessDenied } from './confined-host.ts';

/** Work on a file system that may never answer. */
export interface LimitedWork {
  /** Runs when there is room; rejects with a refusal when it takes too long, or while so much work hangs that there will be no room. */
  run<T>(work: () => Promise<T>): Promise<T>;
  /** Starts nothing more, and resolves when nothing runs, or after a moment. */
  settled(): Promise<void>;
  /** Whether some work has not ended. */
  isBusy(): boolean;
}

/** How long the end of the server waits for what still runs, in milliseconds. */
const timeoutMs = 500;

/**
 * @param atOnce so much runs at the same time: work that hangs holds its place until it ends, because the system's thread under it does
 * @param milliseconds that it may take
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
    // What throws at once ends, too.
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
