import { once } from '../yaml/once.ts';
import { isIdle, lastWord, waitOf, works } from './effects.ts';
import type { ProcessInput } from './processes.ts';
import { programWords, recognizeProgram } from './programs.ts';
import { allCommands, baseName, readCommandLine, type Statement } from './shell.ts';
import type { Waiting } from './waiting.ts';

/** A wait that starts only if a program fails. */
export interface FailureWait extends Waiting {
  /** The program, as written: `torchrun`. */
  readonly program: string;
}

/** The endless wait of a container whose program has failed: `vllm serve … || sleep infinity`. Undefined if a condition may also lead to it. */
export const findFailureWait = once(({ command, args, env }: ProcessInput): FailureWait | undefined => {
  const { complete, statements } = readCommandLine(command, args, env);
  if (!complete) return undefined;
  // The program without which the statements so far, joined by operators, succeed; null after a condition.
  let failing: string | null | undefined;
  for (const [index, statement] of statements.entries()) {
    const { after } = statement;
    const previous = statements[index - 1];
    if (after === '||' && typeof failing === 'string' && previous !== undefined) {
      const wait = statement.background ? undefined : (waitOf(statement) ?? waitIn(statement));
      if (wait?.seconds === Number.POSITIVE_INFINITY) {
        const before = statement.kind === 'command' ? lastWord(previous) : undefined;
        return { ...wait, kind: 'after-failure', before, program: failing };
      }
    }
    const program = programOf(statement);
    if (after === '||') failing = failing && (program ?? undefined);
    else if (after === '&&') failing = failing === null || program === null ? null : (program ?? failing);
    else failing = program;
  }
  return undefined;
});

/** The program that a statement runs; undefined if it always succeeds, and null if its success is a condition or unknown. */
function programOf(statement: Statement): string | null | undefined {
  if (statement.background) return null;
  const main = allCommands([statement]).find((one) => !isIdle(one) && (recognizeProgram([one]) || works(one)));
  if (main !== undefined) return recognizeProgram([main])?.program ?? (baseName(programWords(main)[0] ?? '') || null);
  const [program = ''] = statement.kind === 'command' ? programWords(statement) : [];
  return steps.has(program) ? undefined : null;
}

const steps: ReadonlySet<string> = new Set(['cd', 'echo', 'printf', 'export', 'date', 'mkdir', 'set', 'source', '.']);

/** The wait in `{ echo failed; sleep infinity; }`. */
function waitIn(statement: Statement) {
  if (statement.kind !== 'group' || (statement.keyword !== 'braces' && statement.keyword !== 'subshell'))
    return undefined;
  const last = statement.body.at(-1);
  return last !== undefined && statement.body.slice(0, -1).every(isIdle) ? waitOf(last) : undefined;
}
