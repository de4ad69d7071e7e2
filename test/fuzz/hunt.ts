import fc from 'fast-check';
import { saveFailure } from './failures.ts';
import { createMeasure, type Measure } from './measure.ts';
import type { Seeds } from './seeds.ts';
import type { Problem, Target } from './target.ts';
import type { Watchdog } from './watchdog.ts';

/** A failure with the shortest input found for it. */
export interface Failure extends Problem {
  readonly target: string;
  readonly file: string;
  /** How often it occurred, not counting shrinking. */
  times: number;
}

export interface HuntOptions {
  readonly seed: number;
  readonly seeds: Seeds;
  /** When to stop, in terms of `performance.now()`. */
  readonly until: number;
  readonly measure: Measure;
  readonly watchdog: Watchdog;
  readonly found: (failure: Failure) => void;
}

const batch = 200;
const shrinkSeconds = 20;

/** Checks inputs until the time is up. Each failure is shrunk once; later failures with the same sign are only counted. */
export async function hunt<T>(
  target: Target<T>,
  { seed, seeds, until, measure, watchdog, found }: HuntOptions,
): Promise<void> {
  const known = new Map<string, Failure>();
  const arbitrary = fc.noBias(target.inputs(seeds));

  /** The problems of an input that are not known yet. */
  async function fresh(input: T): Promise<readonly Problem[]> {
    watchdog.checking(target.name, () => target.save(input));
    const problems = await target.check(input, { measure, everywhere: false });
    watchdog.idle();
    measure.count(target.unit);
    const slow = measure.problems.splice(0);
    const signs = new Set<string>();
    return [...problems, ...slow].filter((problem) => {
      if (signs.has(problem.sign)) return false;
      signs.add(problem.sign);
      measure.count(problem.kind);
      const before = known.get(problem.sign);
      if (before !== undefined) before.times += 1;
      return before === undefined;
    });
  }

  async function report(problem: Problem, input: T): Promise<void> {
    const smaller = await shrink(target, problem, input, watchdog);
    const failure = { ...problem, target: target.name, file: saveFailure(target, problem.sign, smaller), times: 1 };
    known.set(problem.sign, failure);
    found(failure);
  }

  for (const input of target.first?.(seeds) ?? []) {
    for (const problem of await fresh(input)) await report(problem, input);
  }
  for (let round = 0; performance.now() < until; round += 1) {
    let caught: { readonly problem: Problem; readonly input: T; readonly end: number } | undefined;
    const property = fc.asyncProperty(arbitrary, async (input) => {
      if (caught === undefined) {
        // fast-check's own time limit could strike while the last input is still being checked.
        if (performance.now() >= until) return true;
        const [problem, ...others] = await fresh(input);
        if (problem === undefined) return true;
        caught = { problem, input, end: performance.now() + shrinkSeconds * 1000 };
        // One input may show several bugs, and may be the only one that does.
        for (const other of others) await report(other, input);
        return false;
      }
      // fast-check would keep shrinking as long as it finds something smaller.
      return performance.now() > caught.end || !(await fails(target, caught.problem, input, watchdog));
    });
    const details = await fc.check(property, {
      seed: seed + round * 7919,
      numRuns: batch,
      endOnFailure: target.shrink !== undefined,
    });
    if (caught !== undefined) await report(caught.problem, details.counterexample?.[0] ?? caught.input);
  }
}

async function shrink<T>(target: Target<T>, problem: Problem, input: T, watchdog: Watchdog): Promise<T> {
  if (target.shrink === undefined) return input;
  const end = performance.now() + shrinkSeconds * 1000;
  const stillFails = async (smaller: T) => performance.now() < end && (await fails(target, problem, smaller, watchdog));
  // A problem that depends on where the generator happened to look cannot be shrunk.
  if (!(await stillFails(input))) return input;
  return target.shrink(input, stillFails);
}

async function fails<T>(target: Target<T>, { sign }: Problem, input: T, watchdog: Watchdog): Promise<boolean> {
  const measure = createMeasure();
  watchdog.checking(target.name, () => target.save(input));
  const problems = [...(await target.check(input, { measure, everywhere: true })), ...measure.problems];
  watchdog.idle();
  return problems.some((one) => one.sign === sign);
}
