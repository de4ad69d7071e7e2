import { once } from '../yaml/once.ts';
import { effectOf, isIdle, lastWord, onlyListsDevices, type Wait, waitOf } from './effects.ts';
import type { ProcessInput } from './processes.ts';
import { type CommandLine, readCommandLine, type Word } from './shell.ts';

/** A command line that waits for a long time or forever. */
export interface Waiting extends Wait {
  /**
   * `works-first`: work that ends comes before the wait. `looks-first`: the wait only follows a listing of the devices. `after-failure`: it
   * only follows a failure.
   */
  readonly kind: 'only-waits' | 'looks-first' | 'works-first' | 'after-failure';
  /** The last word of the command after which the wait starts with `&&`, or with `||` after a failure. */
  readonly before: Word | undefined;
}

/**
 * The wait that a container ends in. Undefined if there is none or if it may serve a purpose: a wait may keep a background server alive, or
 * follow an unknown command that leaves something running.
 */
export const findWaiting = once(({ command, args, env }: ProcessInput): Waiting | undefined => {
  const line: CommandLine = readCommandLine(command, args, env);
  if (!line.complete) return undefined;
  let kind: Waiting['kind'] = 'only-waits';
  let pending: Waiting | undefined;
  let before: Word | undefined;
  for (const statement of line.statements) {
    const waiting = waitOf(statement);
    if (waiting !== undefined) {
      // A wait after a failure or in a pipe may never run.
      if (statement.after === '||' || statement.after === '|') return undefined;
      const found: Waiting = { ...waiting, kind, before: statement.after === '&&' ? before : undefined };
      // `sleep infinity & wait`: the wait starts at `wait`.
      if (statement.background) pending = found;
      else return found;
      continue;
    }
    const effect = effectOf(statement);
    if (effect === 'unknown') return undefined;
    if (effect === 'waits') return pending;
    if (effect === 'works') kind = 'works-first';
    if (kind === 'only-waits' && onlyListsDevices(statement)) kind = 'looks-first';
    before = lastWord(statement);
  }
  return undefined;
});

/** Whether a command line certainly does no work: it only prints, lists devices or waits, as a smoke test does. */
export function doesNothing({ command, args, env }: ProcessInput): boolean {
  const { complete, statements } = readCommandLine(command, args, env);
  return complete && statements.length > 0 && statements.every((one) => waitOf(one) !== undefined || isIdle(one));
}
