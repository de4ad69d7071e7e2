import process from 'node:process';
import type { Problem } from './target.ts';

/** The budget of one request, in milliseconds, on an otherwise idle machine. */
export const requestBudget = 1000;
/** Work grows with the text, and so does the budget of a longer one; bench/scale.mjs finds what grows faster. */
const budgetedLength = 50_000;

/** Times requests. A million durations do not fit into a list, so they are counted in logarithmic classes, each 5% wide. */
export interface Measure {
  /** Runs a request about a text of a length; if it was too slow, `fresh` repeats it from the start. Two slow runs are a problem. */
  time<T>(name: string, request: () => T, fresh?: () => unknown, length?: number): T;
  timeAsync<T>(name: string, request: () => Promise<T>, length?: number): Promise<T>;
  readonly problems: Problem[];
  /** Counts an event for the summary. */
  count(what: string, by?: number): void;
  readonly counts: ReadonlyMap<string, number>;
  summary(): { readonly requests: number; readonly p99: number; readonly worst: number; readonly slowest: string };
}

export function createMeasure(maxMs = requestBudget): Measure {
  const classes: number[] = [];
  const counts = new Map<string, number>();
  const problems: Problem[] = [];
  let [requests, worst, slowest] = [0, 0, ''];

  function limitFor(length: number): number {
    return maxMs * Math.max(1, length / budgetedLength);
  }

  function took(name: string, ms: number): void {
    const index = Math.max(0, Math.ceil(Math.log(Math.max(ms, 0.001) / 0.001) / Math.log(1.05)));
    classes[index] = (classes[index] ?? 0) + 1;
    requests += 1;
    if (ms > worst) [worst, slowest] = [ms, name];
  }

  function tooSlow(name: string, ms: number): void {
    problems.push({
      kind: 'slow request',
      sign: `slow-${name}`,
      message: `${name} took ${Math.round(ms)} ms of processor time`,
    });
  }

  return {
    problems,
    counts,
    time(name, request, fresh = request, length = 0) {
      const limit = limitFor(length);
      const start = performance.now();
      const answer = request();
      const ms = performance.now() - start;
      if (ms <= limit) took(name, ms);
      else {
        // Machines hiccup: the second run decides, and only by processor time spent on us.
        const again = processorTime(fresh);
        took(name, again);
        if (again > limit) tooSlow(name, again);
      }
      return answer;
    },
    async timeAsync(name, request, length = 0) {
      const [start, used] = [performance.now(), process.cpuUsage()];
      const answer = await request();
      const ms = performance.now() - start;
      const { user, system } = process.cpuUsage(used);
      const worked = Math.min(ms, (user + system) / 1000);
      took(name, worked);
      if (worked > limitFor(length)) tooSlow(name, worked);
      return answer;
    },
    count(what, by = 1) {
      counts.set(what, (counts.get(what) ?? 0) + by);
    },
    summary() {
      let left = requests * 0.01;
      let index = classes.length - 1;
      while (index > 0 && left >= (classes[index] ?? 0)) {
        left -= classes[index] ?? 0;
        index -= 1;
      }
      return { requests, p99: 0.001 * 1.05 ** index, worst, slowest };
    },
  };
}

function processorTime(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
