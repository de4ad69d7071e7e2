import { wordSet } from '../catalog/word-patterns.ts';
import { once } from '../yaml/once.ts';
import { isIdle } from './effects.ts';
import type { ProcessInput } from './processes.ts';
import { programWords, recognizeProgram } from './programs.ts';
import { baseName, readCommandLine, type SimpleCommand, type Statement, type Word } from './shell.ts';

/** The main program of a script, whose exit status is not that of its container. */
export interface HiddenFailure {
  /** The program, as written: `torchrun`. */
  readonly program: string;
  /** What comes between the two, as written: `| tee`. */
  readonly behind: string;
  /** The first and last word of the command whose status counts instead. */
  readonly words: readonly [Word, Word];
}

/**
 * Whether a container succeeds if its work fails: behind a pipe without `pipefail`, behind `|| true`, or in a script that goes on after
 * errors and ends with a message. Undefined if anything may look at the status or at the results.
 */
export const findHiddenFailure = once(({ command, args, env }: ProcessInput): HiddenFailure | undefined => {
  const { statements, script, complete } = readCommandLine(command, args, env);
  const text = [...command, ...args].join('\n');
  if (!complete || !script || /\$\?|\bPIPESTATUS\b|\btrap\b/.test(text)) return undefined;
  const at = mainOf(statements);
  const main = statements[at];
  if (main?.kind !== 'command' || main.background) return undefined;
  const rest = statements.slice(at + 1);
  const piped = rest.findIndex(({ after }) => after !== '|');
  const pipeline = piped < 0 ? rest : rest.slice(0, piped);
  const others = piped < 0 ? [] : rest.slice(piped);
  if (pipeline.some(({ kind, background }) => kind !== 'command' || background)) return undefined;
  const end = endOf(others, text);
  if (!others.every(goesOn) && end === undefined) return undefined;
  const found =
    pipeline.length > 0 ? pipeOf(pipeline, text) : ((others.every(goesOn) ? fallbackOf(others) : undefined) ?? end);
  const first = found?.by.words[0];
  const last = found?.by.words.at(-1);
  if (found === undefined || first === undefined || last === undefined) return undefined;
  const name = baseName(programWords(found.by)[0] ?? first.text);
  return {
    program: baseName(programWords(main)[0] ?? ''),
    behind: `${found.operator} ${name}`,
    words: [first, last],
  };
});

interface Found {
  readonly operator: string;
  readonly by: SimpleCommand;
}

/** The last command of a pipeline, whose status is that of the pipeline. */
function pipeOf(pipeline: readonly Statement[], text: string): Found | undefined {
  const by = pipeline.at(-1);
  if (by?.kind !== 'command' || text.includes('pipefail')) return undefined;
  return filters.has(baseName(programWords(by)[0] ?? '')) ? { operator: '|', by } : undefined;
}

/** Programs that succeed whatever they read: others may judge the output, as `grep -q` does. */
const filters = wordSet(
  'tee ts cat tail head tr sed cut sort nl column less gzip logger rotatelogs multilog cronolog svlogd unbuffer',
);

/** What runs instead after a failure: `|| true`, `&& echo good || echo bad`. */
function fallbackOf(others: readonly SimpleCommand[]): Found | undefined {
  const end = others.findIndex(({ after }) => after === null);
  const chain = end < 0 ? others : others.slice(0, end);
  const by = chain.find(({ after }) => after === '||');
  return by && { operator: '||', by };
}

/** What ends a script that goes on after errors: a message, whatever runs before it, or a copy after nothing but messages. */
function endOf(others: readonly Statement[], text: string): Found | undefined {
  const by = others.at(-1);
  // `-e` of the shell, in any combination of options, or `set -e` in the script.
  const stops = /(?:^|\s)-[a-zA-Z]{0,12}e[a-zA-Z]{0,12}(?:\s|$)|errexit/.test(text);
  if (by === undefined || stops || by.after !== null || !goesOn(by)) return undefined;
  if (others.every((one) => (goesOn(one) || isNeutral(one)) && one.after === null)) return { operator: ';', by };
  // Other work can judge the results and end the script.
  return saysSomething(by) && !/\b(?:exit\b(?!\s+0\b)|return|exec|kill)\b/.test(text)
    ? { operator: ';', by }
    : undefined;
}

/** The index of the last statement that trains, or else of the only one that runs another Python script. */
function mainOf(statements: readonly Statement[]): number {
  const uses = statements.map((one) => (one.kind === 'command' ? (recognizeProgram([one])?.use ?? null) : undefined));
  const last = uses.lastIndexOf('training');
  if (last >= 0) return last;
  // An evaluation is work too.
  const isScript = (one: Statement, index: number) => (uses[index] ?? 'batch') === 'batch' && runsScript(one);
  return statements.filter(isScript).length === 1 && uses.every((use) => use !== 'serving')
    ? statements.findIndex(isScript)
    : -1;
}

function runsScript(statement: Statement): boolean {
  if (statement.kind !== 'command') return false;
  const [program = '', ...rest] = programWords(statement);
  if (!/^python[\d.]*$/.test(baseName(program))) return false;
  const [script] = rest.filter((word) => !/^-[BEIOPSWdsuvx]+$/.test(word));
  const module = rest[0] === '-m' ? rest[1] : undefined;
  if (module !== undefined) return !tools.has(module);
  // A variable in a path names a script, if not its ending.
  return rest.some((word) => word.endsWith('.py')) || /^[\w./~-]*\/?\$[({]?\w+[)}]?$/.test(script ?? '');
}

/** Modules that only prepare the work. */
const tools: ReadonlySet<string> = new Set(['pip', 'venv', 'ensurepip', 'compileall', 'json.tool', 'http.server']);

const messages = wordSet('echo printf date true : hostname pwd set');

/** Programs that copy to another machine, and the words by which they copy whole folders. */
const copiers = /^(?:aws s3|gsutil|gcloud storage|azcopy|s5cmd|rclone|mc|rsync) /;
const folders =
  /(?:^| )(?:(?:r|bi)?sync|mirror|--?recursive|-[a-zA-Z]{0,5}r[a-zA-Z]{0,5}|-a[a-zA-Z]{0,5})(?: |$)|^rclone (?:copy|move) /;

/** Whether a statement succeeds after a program that failed: a message, or a copy of the folder with the results. */
function goesOn(statement: Statement): statement is SimpleCommand {
  if (statement.kind !== 'command' || statement.background) return false;
  const words = programWords(statement);
  const text = words.map((word, index) => (index === 0 ? baseName(word) : word)).join(' ');
  // The folder exists before the program writes to it.
  return saysSomething(statement) || (copiers.test(text) && folders.test(text));
}

/** Whether a statement does the same whatever a program before it did: it sets variables or installs something. */
function isNeutral(statement: Statement): boolean {
  if (statement.kind !== 'command' || statement.background) return false;
  const [program = ''] = programWords(statement);
  return program === '' || neutral.has(baseName(program));
}

const neutral = wordSet('export unset mkdir sleep sync pip pip3 apt apt-get conda mamba');

/** Whether a statement only prints a message or ends with success. */
export function saysSomething(statement: Statement): statement is SimpleCommand {
  if (statement.kind !== 'command' || statement.background || statement.words.length === 0) return false;
  const [program = '', status] = statement.words.map(({ text }) => text);
  if (program === 'exit') return status === '0';
  // Others fail without the results, as `ls /out/model` does.
  return messages.has(baseName(program)) && isIdle(statement);
}
