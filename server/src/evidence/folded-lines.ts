import { wordSet } from '../catalog/word-patterns.ts';
import { allCommands, baseName, type Statement, type Word } from '../command/shell.ts';
import type { Container } from '../model/workload.ts';
import { spanInScalar } from '../rewrite/word-span.ts';
import type { YamlDocument } from '../yaml/node.ts';
import type { Span } from '../yaml/span.ts';

/** A line of a script that YAML joins with the one above, so that it is no command of its own. */
export interface JoinedLine {
  /** The line, as written. */
  readonly text: string;
  /** The program whose arguments it becomes. */
  readonly program: string;
  readonly span: Span;
}

/** Programs that take no command as an argument, so that what starts a command below them was meant as one. */
const takeNone = wordSet(
  'pip pip3 apt apt-get conda cd mkdir cp mv rm git wget curl export unset python python3 nvidia-smi chmod tar unzip sleep',
  'huggingface-cli hf wandb ollama source ls jupyter',
);

/** Lines that certainly start a command. */
const starts = new RegExp(
  `^(?:${[
    'python3? +(?:-[mu] |\\S+\\.py\\b)',
    'pip3? install ',
    'apt(?:-get)? (?:-\\S+ )*(?:update|install)\\b',
    'git clone ',
    'cd [\\w./~$]',
    '(?:wget|curl) .*https?://',
    'accelerate launch ',
    '(?:torchrun|deepspeed) --?\\w',
    'mkdir -p ',
    'export \\w+=',
    '(?:ba)?sh [\\w./-]+\\.sh\\b',
    '\\./[\\w/-]+',
    'nvidia-smi$',
    'sleep (?:\\d|inf)',
    'echo ["\'\\w]',
    'tail -f ',
    '(?:vllm|ollama) (?:serve|pull|run)\\b',
    'jupyter[ -](?:lab|notebook)\\b',
  ].join('|')})`,
);

/** Whether a line certainly starts a command. */
export function startsCommand(line: string): boolean {
  return starts.test(line);
}

/** The first line of a script that becomes an argument of the command in the line above, which the author meant to end there. */
export function joinedLine(
  statements: readonly Statement[],
  lines: Container['args'],
  document: YamlDocument,
): JoinedLine | undefined {
  for (const { words } of allCommands(statements)) {
    const [program] = words;
    if (program === undefined || !takeNone.has(baseName(program.text))) continue;
    const name = baseName(program.text);
    for (const [index, word] of words.entries()) {
      const line = lines[word.item];
      if (index === 0 || line === undefined || word.derived === true || !mayStart.test(word.text)) continue;
      if (mayTake(name, words.slice(1, index), word)) continue;
      const text = lineFrom(word, line, document);
      if (text !== undefined && starts.test(text.line)) return { text: text.line, program: name, span: text.span };
    }
  }
  return undefined;
}

/** Whether a program may read a word as its own argument: a path, the command that a launcher starts, or the value of a flag. */
function mayTake(program: string, before: readonly Word[], { text }: Word): boolean {
  const last = before.at(-1)?.text;
  if (text.startsWith('./')) return last === undefined || last.startsWith('-') || !takeNoPath.has(program);
  if (program === 'conda' && before.some((one) => one.text === 'run')) return true;
  return mayLaunch.has(program) && last?.startsWith('-') === true;
}

/** Programs that have no path of a file behind their first argument. */
const takeNoPath = wordSet('cd sleep nvidia-smi');

/** Programs whose last flag may precede a command: `python launcher.py -- python train.py`. */
const mayLaunch = wordSet('python python3 conda wandb jupyter');

/** A quick test of the first word of a line. */
const mayStart =
  /^(?:python3?|pip3?|apt|apt-get|git|cd|wget|curl|accelerate|torchrun|deepspeed|mkdir|export|(?:ba)?sh|nvidia-smi|sleep|echo|tail|vllm|ollama|jupyter\S*)$|^\.\//;

/** The line that starts with a word; undefined if something precedes the word in its line. */
function lineFrom(
  word: Word,
  line: Container['args'][number],
  document: YamlDocument,
): { readonly line: string; readonly span: Span } | undefined {
  if (line.at.node.kind !== 'scalar' || line.at.node.style === 'literal') return undefined;
  const span = spanInScalar(document, line, word);
  const { text } = document;
  const from = text.lastIndexOf('\n', span.start - 1) + 1;
  if (text.slice(from, span.start).trim() !== '') return undefined;
  const end = text.indexOf('\n', span.start);
  return { line: text.slice(span.start, end < 0 ? text.length : end).trim(), span };
}
