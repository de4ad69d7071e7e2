import { once } from '../yaml/once.ts';
import { conditionalStatements } from './certain-commands.ts';
import {
  doesOf,
  effectOf,
  isIdle,
  lastWord,
  onlyListsDevices,
  runsUnknownScript,
  type Wait,
  waitOf,
} from './effects.ts';
import type { ProcessInput } from './processes.ts';
import { programWords, recognizeProgram } from './programs.ts';
import { allCommands, baseName, type CommandLine, readCommandLine, type Statement, type Word } from './shell.ts';
import { isViewer } from './viewers.ts';

/** A command line that waits for a long time or forever. */
export interface Waiting extends Wait {
  /**
   * `works-first`: work that ends comes before the wait. `looks-first`: the wait only follows a listing of the devices. `after-failure`: it
   * only follows a failure.
   */
  readonly kind: 'only-waits' | 'looks-first' | 'works-first' | 'after-failure';
  /** The last word of the command after which the wait starts with `&&`, or with `||` after a failure. */
  readonly before: Word | undefined;
  /** Whether the work is a script that may be a server. */
  readonly mayServe?: boolean;
  /** Whether the wait is a program that shows the results of the work. */
  readonly shows?: boolean;
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
  let mayServe = false;
  let viewer: Wait | undefined;
  const conditional = conditionalStatements(line.statements);
  for (const [index, statement] of line.statements.entries()) {
    const view = viewOf(statement);
    // It keeps nothing from ending unless something waits for it.
    if (view !== undefined && statement.background) {
      viewer = view;
      continue;
    }
    const waiting = waitOf(statement) ?? (kind === 'works-first' ? (view ?? followsFile(statement)) : undefined);
    if (waiting !== undefined) {
      if (viewer !== undefined && kind !== 'works-first') return undefined;
      // A wait after a failure or in a pipe may never run.
      if (statement.after === '||' || statement.after === '|') return undefined;
      // `[ -n "$DEBUG" ] && sleep infinity`: usually, what follows runs.
      if (conditional.has(statement)) continue;
      // The work follows: `sleep 3600; python train.py`.
      const next = Number.isFinite(waiting.seconds) ? line.statements.slice(index + 1) : [];
      if (next.some((one) => waitOf(one) === undefined && /^(?:works|unknown)$/.test(effectOf(one)))) return undefined;
      const place = { kind, before: statement.after === '&&' ? before : undefined, mayServe };
      const found: Waiting = { ...waiting, ...place, ...(waiting === view && { shows: true }) };
      // `sleep infinity & wait`: the wait starts at `wait`.
      if (statement.background) pending = found;
      else return found;
      continue;
    }
    // A script that serves never comes to the wait.
    mayServe ||= runsUnknownScript(statement);
    if (mayServe && listens(statement)) return undefined;
    const isWork = runsUnknownScript(statement) || isBackgroundWork(statement) || isDetachedWork(statement);
    const effect = isWork ? 'works' : isEmptySession(statement) ? 'nothing' : effectOf(statement);
    if (effect === 'unknown') return undefined;
    if (effect === 'waits') return pending ?? waitFor(statement);
    if (effect === 'works') kind = 'works-first';
    if (kind === 'only-waits' && onlyListsDevices(statement)) kind = 'looks-first';
    before = lastWord(statement);
  }
  return undefined;

  /** `wait` without a process waits for all of them, also for a viewer. */
  function waitFor(statement: Statement): Waiting | undefined {
    const isForAll = statement.kind === 'command' && statement.words.length === 1;
    if (viewer === undefined || kind !== 'works-first' || !isForAll) return undefined;
    return { ...viewer, kind, before: undefined, mayServe, shows: true };
  }
});

/** A program that shows the results of other work until somebody stops it. */
function viewOf(statement: Statement): Wait | undefined {
  if (statement.kind !== 'command' || statement.after === '|' || !isViewer(programWords(statement))) return undefined;
  const [first, last] = [statement.words[0], statement.words.at(-1)];
  const ends = statement.words.some(({ text }) => /^(?:--help|--version|--inspect|dev|timeout)$/.test(text));
  const what = programWords(statement).join(' ');
  return first && last && !ends ? { what, seconds: Number.POSITIVE_INFINITY, words: [first, last] } : undefined;
}

/** Whether a command names an address, as one that serves does. */
function listens(statement: Statement): boolean {
  const words = statement.kind === 'command' ? statement.words : [];
  return words.some(({ text }) => /^--?(?:listen|host|port|bind|share|server[-_]?name)\b|^0\.0\.0\.0/.test(text));
}

/** Training in the background ends, whatever the script does next. */
function isBackgroundWork(statement: Statement): boolean {
  return (
    statement.kind === 'command' &&
    statement.background &&
    (doesOf(statement) === 'ends' || recognizeProgram([statement])?.use === 'training')
  );
}

/** Training in a session of its own, which ends with it: `tmux new-session -d 'python train.py'`, `screen -dmS run python train.py`. */
function isDetachedWork(statement: Statement): boolean {
  const [program = '', ...rest] = statement.kind === 'command' ? programWords(statement) : [];
  const name = baseName(program);
  const isDetached =
    name === 'screen' ? rest.some((word) => /^-d/.test(word)) : name === 'tmux' && starts.test(rest[0] ?? '');
  if (!isDetached) return false;
  const inner = rest
    .slice(
      Math.max(
        0,
        rest.findIndex((word) => / |^python[\d.]*$|^torchrun$/.test(word)),
      ),
    )
    .join(' ');
  const commands = allCommands(readCommandLine(['bash', '-c', inner], [], []).statements);
  return recognizeProgram(commands)?.use === 'training';
}

const starts = /^(?:new|new-session|send|send-keys)$/;

/** A session with only a shell, to which people attach: `tmux new-session -d -s work`. */
function isEmptySession(statement: Statement): boolean {
  if (statement.kind !== 'command') return false;
  const text = programWords(statement).join(' ');
  return /^(?:\S*\/)?(?:tmux new(?:-session)?(?: -d| -[snxyc] \S+| -ds \S+)*|screen -d ?-?m ?-?S? ?\S*)$/.test(text);
}

/** `tail -f train.log`, which goes on when nothing writes to the file any more. */
function followsFile(statement: Statement): Wait | undefined {
  if (statement.kind !== 'command' || statement.after === '|' || statement.background) return undefined;
  const [program = '', ...rest] = programWords(statement);
  const [first, last] = [statement.words[0], statement.words.at(-1)];
  const follows = rest.some((flag) => /^(?:-[a-zA-Z0-9]*[fF]|--follow\b.*)$/.test(flag));
  if (baseName(program) !== 'tail' || !follows || rest.some((flag) => flag.startsWith('--pid'))) return undefined;
  const what = ['tail', ...rest].join(' ');
  return first && last && { what, seconds: Number.POSITIVE_INFINITY, words: [first, last] };
}

/** Whether a command line certainly does no work: it only prints, lists devices or waits, as a smoke test does. */
export const doesNothing = once(({ command, args, env }: ProcessInput): boolean => {
  const { complete, statements } = readCommandLine(command, args, env);
  return complete && statements.length > 0 && statements.every((one) => waitOf(one) !== undefined || isIdle(one));
});
