import { commandNamed } from '../catalog/program-records.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { once } from '../yaml/once.ts';
import { sleepSeconds, timeLimit } from './durations.ts';
import { endsByItself, onlyLooks, pythonCode } from './inline-python.ts';
import { wordsOf } from './name-words.ts';
import { preparesByName, setsVariables } from './preparing.ts';
import { programWords, recognizeProgram } from './programs.ts';
import { allCommands, baseName, type SimpleCommand, type Statement, type Word } from './shell.ts';
import { endsByName, isPlainName, serverWords } from './staying-names.ts';

/** A wait as a statement, without what comes before it. */
export interface Wait {
  /** The waiting command, as written. */
  readonly what: string;
  /** Seconds until the wait ends; Infinity if it never does. */
  readonly seconds: number;
  /** The first and last word of the wait. */
  readonly words: readonly [Word, Word];
}

/** The wait that a statement is; undefined for all others. */
export const waitOf = once((statement: Statement): Wait | undefined => {
  const wait = ownWait(statement);
  const limit = wait === undefined ? undefined : timeLimit(statement);
  if (wait === undefined || limit === undefined || limit >= wait.seconds || statement.kind !== 'command') return wait;
  return { ...wait, what: statement.words.map(({ text }) => text).join(' '), seconds: limit };
});

function ownWait(statement: Statement): Wait | undefined {
  if (statement.kind === 'group') {
    const [only, ...others] = statement.body;
    return (statement.keyword === 'braces' || statement.keyword === 'subshell') && only && others.length === 0
      ? waitOf(only)
      : undefined;
  }
  if (statement.kind === 'loop') return loopWait(statement);
  const words = programWords(statement);
  const [program = '', ...rest] = words;
  const what = words.join(' ');
  const first = statement.words[0];
  const last = statement.words.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const ends = [first, last] as const;
  switch (baseName(program)) {
    case 'sleep': {
      const seconds = sleepSeconds(rest);
      if (seconds === undefined || seconds === 0) return undefined;
      return { what, seconds: seconds >= endlessSeconds ? Number.POSITIVE_INFINITY : seconds, words: ends };
    }
    case 'tail':
      // With --pid, it ends with that process.
      if (rest.some((flag) => flag.startsWith('--pid'))) return undefined;
      return rest.includes('/dev/null') && rest.some((flag) => /^(-[a-zA-Z]*[fF]|--follow.*)$/.test(flag))
        ? { what, seconds: Number.POSITIVE_INFINITY, words: ends }
        : undefined;
    case 'pause':
      return rest.length === 0 ? { what, seconds: Number.POSITIVE_INFINITY, words: ends } : undefined;
    case 'watch':
      return rest.some((word) => doesName(word) === 'lists')
        ? { what, seconds: Number.POSITIVE_INFINITY, words: ends }
        : undefined;
    case 'nvidia-smi':
      return rest.some((word) => /^(?:-l\d*|-lms|--loop|--loop-ms|dmon|pmon)(?:=|$)/.test(word))
        ? { what, seconds: Number.POSITIVE_INFINITY, words: ends }
        : undefined;
    default: {
      const code = pythonCode(statement);
      const seconds = pythonSleep(code);
      const call = /signal\.pause|Event\(\)\.wait/.exec(code ?? '')?.[0] ?? 'time.sleep';
      return seconds === undefined ? undefined : { what: call, seconds, words: ends };
    }
  }
}

/** A sleep this long counts as endless. */
const endlessSeconds = 30 * 86_400;

/** The seconds of Python code that only sleeps. */
function pythonSleep(code: string | undefined): number | undefined {
  if (code === undefined || code.length > 200) return undefined;
  if (
    /^(?:import signal[\s;]+signal\.pause|import threading[\s;]+threading\.Event\(\)\.wait)\(\)[\s;]*$/.test(
      code.trim(),
    )
  )
    return Number.POSITIVE_INFINITY;
  const found =
    /^(?:import time|from time import sleep)[\s;]+(while True:)?\s*(?:time\.)?sleep\(([\d_.e* ]+)\)[\s;]*$/.exec(
      code.trim(),
    );
  // Python's `10**6` and `60 * 60`.
  const factors = (found?.[2] ?? '').replaceAll(/[_ ]/g, '').replaceAll('**', '^').split('*');
  const seconds = factors.reduce((product, factor) => {
    const [base, power = '1'] = factor.split('^');
    return product * Number(base) ** Number(power);
  }, 1);
  if (found === null || !(seconds > 0)) return undefined;
  return found[1] !== undefined || seconds >= endlessSeconds ? Number.POSITIVE_INFINITY : seconds;
}

/** The wait in `while true; do sleep 60; done`, whose body has only sleeps and messages. */
function loopWait({ keyword, condition, body }: Extract<Statement, { kind: 'loop' }>): Wait | undefined {
  if (keyword === 'for' || condition.length !== 1) return undefined;
  const [only] = condition;
  // `while (true)` is `while true` in a subshell.
  const test = only?.kind === 'group' && only.keyword !== 'function' && only.body.length === 1 ? only.body[0] : only;
  const conditionText = test?.kind === 'command' ? test.words.map(({ text }) => text).join(' ') : '';
  // `while sleep 60; do …`: a sleep succeeds.
  const between = keyword === 'while' && test !== undefined ? waitOf(test) : undefined;
  const endless =
    keyword === 'while' ? /^(true|:|\[ (1|true) \]|\[\[ (1|true) \]\]|\(\( 1|test 1)$/ : /^(false|\[ \])$/;
  if (between === undefined && !endless.test(conditionText)) return undefined;
  const waits = body.map((statement) => (statement.background ? undefined : waitOf(statement)));
  const idle = body.every(
    (statement, index) => waits[index] !== undefined || (!statement.background && effectOf(statement) === 'nothing'),
  );
  const wait = between ?? waits.find((one) => one !== undefined);
  const commands = allCommands(body);
  const changes = commands.some(
    ({ words, assignments }) => assignments.length > 0 || setters.has(words[0]?.text ?? ''),
  );
  const leaves = commands.some(
    (command, index) =>
      /^(?:break|exit|return)$/.test(command.words[0]?.text ?? '') &&
      (changes || !isAfterSignal(command, commands[index - 1])),
  );
  if (!idle || leaves) return undefined;
  return (
    wait && {
      ...wait,
      what: `${keyword} ${conditionText}; do ${between === undefined ? `… ${wait.what}` : '…'}; done`,
      seconds: Number.POSITIVE_INFINITY,
    }
  );
}

const setters = wordSet('read export eval source . declare let');

/**
 * Whether `break` depends on variables of the script only, as in `[[ $stop ]] && break`: in a loop that sets none, only the trap of a signal does.
 * Those of the environment have uppercase names.
 */
function isAfterSignal(command: SimpleCommand, test: SimpleCommand | undefined): boolean {
  const [first, ...others] = test?.words.map(({ text }) => text) ?? [];
  return (
    command.words[0]?.text === 'break' &&
    command.after === '&&' &&
    /^(?:\[\[?|test)$/.test(first ?? '') &&
    others.some((word) => /^\$\{?[a-z]/.test(word)) &&
    others.every((word) => /^(?:\]\]?|-[nz]|\$\{?[a-z]\w*\}?)$/.test(word))
  );
}

/** Whether a statement only prints or lists something, in the foreground. */
export function isIdle(statement: Statement): boolean {
  return !statement.background && waitOf(statement) === undefined && effectOf(statement) === 'nothing';
}

/** Whether a statement does work that ends, in the foreground. */
export function works(statement: Statement): boolean {
  return effectOf(statement) === 'works';
}

type Effect = 'nothing' | 'works' | 'waits' | 'unknown';

/** What a statement other than a wait does: nothing worth a GPU, work that ends, `wait`, or something unknown. */
export const effectOf = once((statement: Statement): Effect => {
  const effect = ownEffect(statement);
  return effect === 'unknown' && timeLimit(statement) !== undefined && !statement.background ? 'works' : effect;
});

function ownEffect(statement: Statement): Effect {
  if (statement.kind === 'group') {
    // A function is only declared here. It runs where it is called, under a name that is unknown there.
    if (statement.keyword === 'function') return 'nothing';
    if (statement.background) return 'unknown';
    // One exit in an `if` has a condition; several may leave nothing that goes on.
    const guarded = statement.keyword === 'if' && statement.body.filter(isExit).length === 1;
    const body = guarded ? statement.body.filter((inner) => !isExit(inner)) : statement.body;
    return strongest(body.map((inner) => (waitOf(inner) === undefined ? effectOf(inner) : 'unknown')));
  }
  if (statement.kind === 'loop') {
    if (statement.background) return 'unknown';
    const inner = [...statement.condition, ...statement.body].filter((part) => waitOf(part) === undefined);
    return strongest(inner.map(effectOf));
  }
  if (statement.words.length === 0) return 'nothing';
  const program = baseName(programWords(statement)[0] ?? '');
  if (program === 'wait') return 'waits';
  if ((isExit(statement) && statement.after === '||') || setsVariables(statement)) return 'nothing';
  const does = program === '' ? 'nothing' : doesOf(statement);
  if (does === 'nothing' || does === 'lists') return 'nothing';
  if (statement.background) return 'unknown';
  if (does === 'ends') return 'works';
  const words = programWords(statement);
  const code = pythonCode(statement);
  if (code !== undefined) return onlyLooks(code) ? 'nothing' : endsByItself(code) ? 'works' : 'unknown';
  const recognized = recognizeProgram([statement]);
  // A script named after training ends, as training does; other names are less certain.
  if (recognized?.use === 'training') return 'works';
  if (recognized !== undefined)
    return recognized.use === 'batch' && (recognized.confidence === 'certain' || startsPython(words))
      ? 'works'
      : 'unknown';
  if (isPython(words)) return endsByName(words.find((word) => word.endsWith('.py'))) ? 'works' : 'unknown';
  return preparesByName(words) ? 'works' : 'unknown';
}

function isExit(statement: Statement): boolean {
  return statement.kind === 'command' && statement.words[0]?.text === 'exit';
}

function strongest(effects: readonly ('nothing' | 'works' | 'waits' | 'unknown')[]): 'nothing' | 'works' | 'unknown' {
  if (effects.some((effect) => effect === 'unknown' || effect === 'waits')) return 'unknown';
  return effects.includes('works') ? 'works' : 'nothing';
}

/** The last word of a command. */
export function lastWord(statement: Statement): Word | undefined {
  return statement.kind === 'command' ? statement.words.at(-1) : undefined;
}

/** What a command does, according to the catalog, if it is known to end. */
export function doesOf(command: SimpleCommand) {
  const [program = '', option, module = ''] = programWords(command);
  if (taskRunners.has(baseName(program)) && startsServer(command)) return undefined;
  // Some commands are also modules: `python -m pip`.
  const own = commandNamed(baseName(program), option)?.does;
  return own ?? doesName(isPython([program]) && option === '-m' ? module : program);
}

const taskRunners = wordSet('make npm');

/** Whether a task of the project has the name of what stays: `npm start`, `make serve`, `npm run dev`. */
function startsServer(command: SimpleCommand): boolean {
  const [program = '', ...rest] = programWords(command);
  // `npm run build` is the task build, but `make run` is run.
  const tasks = rest.filter((word) => /^[a-z]/.test(word) && (word !== 'run' || baseName(program) === 'make'));
  return tasks.some((task) => wordsOf(task).some((word) => serverWords.has(word) || serves.has(word)));
}

const serves = wordSet('serve server serving api dev watch up preview prod production backend frontend');

function doesName(program: string) {
  return commandNamed(baseName(program))?.does;
}

/** Whether a statement only lists the devices: `nvidia-smi -L`. */
export function onlyListsDevices(statement: Statement): boolean {
  if (statement.kind !== 'command') return false;
  const code = pythonCode(statement);
  return code === undefined ? doesOf(statement) === 'lists' : onlyLooks(code);
}

function isPython([program = '']: readonly string[]): boolean {
  return /^python[\d.]*$/.test(baseName(program));
}

/** Whether words start Python code, also with a launcher of processes. */
function startsPython(words: readonly string[]): boolean {
  return isPython(words) || commandNamed(baseName(words[0] ?? ''))?.runs === 'processes';
}

/** Whether a statement only runs such a file, in the foreground. */
export function runsUnknownScript(statement: Statement): boolean {
  return statement.kind === 'command' && !statement.background && isScript(statement);
}

/** Whether a command runs a Python file of whose name nothing is known. */
export function isScript(command: SimpleCommand): boolean {
  const words = programWords(command);
  return isPython(words) && isPlainName(words[1] ?? '') && recognizeProgram([command]) === undefined;
}
