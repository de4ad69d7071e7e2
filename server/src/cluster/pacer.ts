import type { Clock } from './clock.ts';

const shortest = 250;
/** Also if the clock was set while it worked. */
const longest = 5000;
/** The work may take a fifth of the time of its thread. */
const share = 4;

/**
 * Does work after changes: at once, then at most four times per second, and less often if it takes long.
 * @returns a function to call after each change
 */
export function paced(clock: Clock, signal: AbortSignal, work: () => void | Promise<void>): () => void {
  let isDue = false;
  let isRunning = false;

  async function run(): Promise<void> {
    isRunning = true;
    // What has just changed may change more in the same turn.
    await Promise.resolve();
    while (isDue && !signal.aborted) {
      isDue = false;
      const start = clock.now();
      await work();
      await clock.wait(Math.min(Math.max(shortest, (clock.now() - start) * share), longest), signal);
    }
    isRunning = false;
  }

  return () => {
    isDue = true;
    if (!isRunning) void run();
  };
}
