import { commandNamed } from '../catalog/program-records.ts';
import { table } from '../yaml/table.ts';
import { programWords, recognizeProgram } from './programs.ts';
import { baseName, type CommandLine, readCommandLine, type SimpleCommand, type Statement, type Word } from './shell.ts';

/** A command line that waits for a long time or forever. */
export interface Waiting {
  /** The waiting command, as written: `sleep infinity`. */
  readonly what: string;
  /** `works-first`: work that ends comes before the wait. `looks-first`: the wait only follows a listing of the devices. */
  readonly kind: 'only-waits' | 'looks-first' | 'works-first';
  /** Seconds until the wait ends; Infinity if it never does. */
  readonly seconds: number;
  /** The first and last word of the wait. */
  readonly words: readonly [Word, Word];
}

/**
 * The wait that a container ends in. Undefined if there is none or if it may serve a purpose: a wait may keep a background server alive, or
 * follow an unknown command that leaves something running.
 */
export function findWaiting(command: readonly string[], args: readonly string[]): Waiting | undefined {
  const line: CommandLine = readCommandLine(command, args);
  if (!line.complete) return undefined;
  let kind: Waiting['kind'] = 'only-waits';
  let pending: Waiting | undefined;
  for (const statement of line.statements) {
    const waiting = waitOf(statement);
    if (waiting !== undefined) {
      // A wait after a failure or in a pipe may never run.
      if (statement.after === '||' || statement.after === '|') return undefined;
      const found: Waiting = { ...waiting, kind };
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
  }
  return undefined;
}

/** What a command does, according to the catalog, if it is known to end. */
function doesOf(command: SimpleCommand) {
  return commandNamed(baseName(programWords(command)[0] ?? ''))?.does;
}

function onlyListsDevices(statement: Statement): boolean {
  return statement.kind === 'command' && doesOf(statement) === 'lists';
}

/** A sleep this long counts as endless. */
const endlessSeconds = 30 * 86_400;

function waitOf(statement: Statement): Omit<Waiting, 'kind'> | undefined {
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
      return rest.includes('/dev/null') && rest.some((flag) => /^(-[a-zA-Z]*[fF]|--follow.*)$/.test(flag))
        ? { what, seconds: Number.POSITIVE_INFINITY, words: ends }
        : undefined;
    case 'pause':
      return rest.length === 0 ? { what, seconds: Number.POSITIVE_INFINITY, words: ends } : undefined;
    default:
      return undefined;
  }
}

/** The wait in `while true; do sleep 60; done`, whose body has only sleeps and messages. */
function loopWait({
  keyword,
  condition,
  body,
}: Extract<Statement, { kind: 'loop' }>): Omit<Waiting, 'kind'> | undefined {
  if (keyword === 'for' || condition.length !== 1) return undefined;
  const [test] = condition;
  const conditionText = test?.kind === 'command' ? test.words.map(({ text }) => text).join(' ') : '';
  const endless = keyword === 'while' ? /^(true|:|\[ (1|true) \]|\[\[ (1|true) \]\]|test 1)$/ : /^(false|\[ \])$/;
  if (!endless.test(conditionText)) return undefined;
  const waits = body.map((statement) => (statement.background ? undefined : waitOf(statement)));
  const idle = body.every(
    (statement, index) => waits[index] !== undefined || (!statement.background && effectOf(statement) === 'nothing'),
  );
  if (!idle || waits.every((wait) => wait === undefined)) return undefined;
  const wait = waits.find((one) => one !== undefined);
  return (
    wait && {
      ...wait,
      what: `${keyword} ${conditionText}; do … ${wait.what}; done`,
      seconds: Number.POSITIVE_INFINITY,
    }
  );
}

/** What a statement other than a wait does: nothing worth a GPU, work that ends, `wait`, or something unknown. */
function effectOf(statement: Statement): 'nothing' | 'works' | 'waits' | 'unknown' {
  if (statement.kind === 'group') {
    // A function is only declared here. It runs where it is called, under a name that is unknown there.
    if (statement.keyword === 'function') return 'nothing';
    if (statement.background) return 'unknown';
    return strongest(statement.body.map((inner) => (waitOf(inner) === undefined ? effectOf(inner) : 'unknown')));
  }
  if (statement.kind === 'loop') {
    if (statement.background) return 'unknown';
    const inner = [...statement.condition, ...statement.body].filter((part) => waitOf(part) === undefined);
    return strongest(inner.map(effectOf));
  }
  if (statement.words.length === 0) return 'nothing';
  const program = baseName(programWords(statement)[0] ?? '');
  if (program === 'wait') return 'waits';
  const does = program === '' ? 'nothing' : doesOf(statement);
  if (does === 'nothing' || does === 'lists') return 'nothing';
  if (statement.background) return 'unknown';
  if (does === 'ends') return 'works';
  const recognized = recognizeProgram([statement]);
  // A script named after training ends, as training does; other names are less certain.
  if (recognized?.use === 'training') return 'works';
  return recognized?.confidence === 'certain' && recognized.use === 'batch' ? 'works' : 'unknown';
}

function strongest(effects: readonly ('nothing' | 'works' | 'waits' | 'unknown')[]): 'nothing' | 'works' | 'unknown' {
  if (effects.some((effect) => effect === 'unknown' || effect === 'waits')) return 'unknown';
  return effects.includes('works') ? 'works' : 'nothing';
}

const sleepUnits = table({ s: 1, m: 60, h: 3600, d: 86_400 });

/** Seconds for GNU sleep, which adds up its operands and accepts units; `infinity` may be shortened. */
function sleepSeconds(operands: readonly string[]): number | undefined {
  let seconds = 0;
  for (const operand of operands) {
    const match = /^(\d+(?:\.\d*)?|\.\d+|inf|infinity)([smhd]?)$/i.exec(operand);
    if (match?.[1] === undefined) return undefined;
    const amount = /^inf/i.test(match[1]) ? Number.POSITIVE_INFINITY : Number(match[1]);
    const unit = sleepUnits[match[2] || 's'];
    if (unit === undefined) return undefined;
    seconds += amount * unit;
  }
  return operands.length === 0 ? undefined : seconds;
}
