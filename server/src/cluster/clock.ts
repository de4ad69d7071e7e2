/** Time and chance, which tests replace. */
export interface Clock {
  /** Resolves after so many milliseconds, or as soon as `signal` is aborted. */
  readonly wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** At least 0 and less than 1. */
  readonly random: () => number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** The clock of the machine. `wake` ends all waits: after a sleep, nobody should wait for what was scheduled before. */
export function machineClock(): Clock & { readonly wake: () => void } {
  const waiting = new Set<() => void>();
  return {
    wait: (milliseconds, signal) =>
      new Promise((resolve) => {
        const end = () => {
          clearTimeout(timer);
          signal.removeEventListener('abort', end);
          waiting.delete(end);
          resolve();
        };
        const timer = setTimeout(end, milliseconds);
        if (signal.aborted) end();
        else signal.addEventListener('abort', end);
        waiting.add(end);
      }),
    random: Math.random,
    now: Date.now,
    wake() {
      for (const end of waiting) end();
    },
  };
}

const tick = 10_000;
/** More than a busy machine delays a timer. */
const jump = 30_000;

/** Calls `woken` after the machine has slept, or its clock was set: connections are dead then, although no one has closed them. */
export async function watchSleep(clock: Clock, signal: AbortSignal, woken: () => void): Promise<void> {
  while (!signal.aborted) {
    const before = clock.now();
    await clock.wait(tick, signal);
    if (Math.abs(clock.now() - before - tick) > jump && !signal.aborted) woken();
  }
}
