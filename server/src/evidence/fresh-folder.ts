import { type CheckpointSign, signOfFlag } from '../command/checkpoint.ts';
import { meaningOf } from '../command/flag-meaning.ts';
import { readFlags } from '../command/flags.ts';
import { wordsOf } from '../command/name-words.ts';
import type { Word } from '../command/shell.ts';
import { commandsIn } from '../model/process-input.ts';
import type { Container } from '../model/workload.ts';
import { checkpointSigns } from './launch.ts';

/** A directory for progress that has another name at each start. */
export interface FreshFolder {
  /** As written: `/ckpt/run-$(date +%s)`. */
  readonly text: string;
  readonly words: readonly [Word, Word];
}

/** The directory for progress that has the time or a random number in its name; undefined if training may resume from elsewhere. */
export function freshFolder(container: Container): FreshFolder | undefined {
  const lines = [...container.command, ...container.args];
  if (!lines.some(({ value }) => changes.test(value)) || container.scripts.length > 0) return undefined;
  const signs = checkpointSigns(container);
  if (signs.some(resumes)) return undefined;
  const commands = commandsIn(container);
  const named = namesOf(container);
  const fill = (text: string) => text.replace(/\$\{?(\w+)\}?/g, (whole, name: string) => named.get(name) ?? whole);
  // Another place for progress stays, and this one may only be a name.
  if (signs.some(({ flag }) => flag?.value?.includes('/') && !changes.test(fill(flag.value)))) return undefined;
  for (const { words } of commands) {
    for (const flag of readFlags(words)) {
      const { valueWord, word, written, isVariable } = flag;
      if (valueWord === undefined || isVariable || !isOfProgress(wordsOf(written)) || signOfFlag(flag).length === 0)
        continue;
      const text = valueWord === word ? word.text.slice(word.text.indexOf('=') + 1) : valueWord.text;
      // Without a shell, `$(date)` is the name itself.
      if (lines[valueWord.item]?.value === valueWord.text) continue;
      if (changes.test(fill(text))) return { text, words: [word, valueWord] };
    }
  }
  return undefined;
}

/** The variables that a script certainly sets, and sets once. One in a branch, or with a default, may come from an earlier start. */
function namesOf({ command, args, env }: Container): ReadonlyMap<string, string> {
  const text = [...command, ...args].map(({ value }) => value).join('\n');
  const named = new Map<string, string>();
  if (/\b(?:if|case|source)\b|\|\||&&[ \t]*\w+=|\$\{\w+:?[-=]/.test(text)) return named;
  const again = new Set(env.map(({ name }) => name));
  for (const [, name = '', value = ''] of text.matchAll(/(?:^|[;&\n]|\bexport)[ \t]*([A-Za-z_]\w*)=([^\n;]*)/g)) {
    if (named.has(name)) again.add(name);
    named.set(name, value);
  }
  for (const name of again) named.delete(name);
  return named;
}

/** The output of a command, or a variable, that differs from start to start. A date without the time does not. */
const changes = new RegExp(
  [
    `(?:\\$\\(|\`)\\s*(?:uuidgen|mktemp|openssl rand)\\b`,
    `(?:\\$\\(|\`)\\s*date\\s*(?:-u\\s*)?(?:[)\`]|-Is|-Ins|[^)\`]{0,60}%[MSsTNcX])`,
    `\\$\\{?(?:RANDOM|EPOCHSECONDS|SRANDOM)\\b`,
  ].join('|'),
);

/** A place to resume from, or the file of settings, which may name one. */
function resumes({ kind, flag }: CheckpointSign): boolean {
  if (kind === 'resume') return true;
  return flag !== undefined && (meaningOf(flag, 'settings-file') !== undefined || wordsOf(flag.written).some(isLoad));
}

function isLoad(word: string): boolean {
  return /^(?:resume|restore|load|init|from|pretrained|latest)$/.test(word);
}

/** Flags for logs may be new each time. */
function isOfProgress(words: readonly string[]): boolean {
  return (
    words.some((word) => progress.test(word)) &&
    !words.some((word) => /^(?:log|logs|logging|result|results|eval)$/.test(word))
  );
}

const progress = /^(?:output|out|save|checkpoints?|ckpts?|work|exp|run|workdir|outdir)$/;
