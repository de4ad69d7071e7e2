import { commandNamed, type ProgramRecord } from '../catalog/program-records.ts';
import { once } from '../yaml/once.ts';
import { baseName } from './shell-lexer.ts';
import type { SimpleCommand } from './shell-parser.ts';

/** The index of the first word that is not a wrapper, such as `exec`, `sudo`, `env A=b`, `timeout 60` and `uv run`, nor one of its options. */
function wrappedAt(words: readonly string[]): number {
  let at = 0;
  while (at < words.length) {
    const word = baseName(words[at] ?? '');
    const withNext = commandNamed(word, words[at + 1] ?? '');
    const wrapper = withNext ?? commandNamed(word);
    if (wrapper?.runs === 'program') {
      at += wrapper === withNext ? 2 : 1;
      at = pastOptions(words, at, wrapper) + (wrapper.operands ?? 0);
    } else if (word === '--' || (isEntrypoint(word) && /^[\w./~-]*\w/.test(words[at + 1] ?? '-'))) {
      at++;
    } else {
      break;
    }
  }
  return Math.min(at, words.length);
}

/** The words without wrappers in front. */
function withoutWrappers(words: readonly string[]): readonly string[] {
  return words.slice(wrappedAt(words));
}

/** The words of a command from the program on: without `exec`, `sudo`, `env A=b`, `timeout 60`, `uv run` and other wrappers. */
export const programWords = once((command: SimpleCommand): readonly string[] =>
  withoutWrappers(command.words.map((word) => word.text)),
);

/** The index after a wrapper's options and assignments. */
function pastOptions(words: readonly string[], start: number, { valued }: ProgramRecord): number {
  let at = start;
  while (valued !== undefined && at < words.length && /^-|^[A-Za-z_]\w*=/.test(words[at] ?? '')) {
    if (words[at] === '--') return at + 1;
    at += valued.includes(words[at] ?? '') ? 2 : 1;
  }
  return at;
}

/** Entrypoint scripts end in `exec "$@"` by convention. An option after one is its own. */
function isEntrypoint(word: string): boolean {
  return /(?:^|[-_.])entrypoint(?:\.sh)?$/.test(word);
}

const shells: ReadonlySet<string> = new Set(['sh', 'bash', 'ash', 'dash', 'zsh', 'ksh']);

/** Whether a program is a shell. */
export function isShell(name: string): boolean {
  return shells.has(name);
}

/** The words whose text is a script: that of `bash -c`, `su -c` or `eval`. */
export interface InnerScript {
  readonly from: number;
  readonly to: number;
  /** The number of words before it that belong to a launcher, such as `mpirun -np 4`. */
  readonly launcher: number;
}

/** The script that a command passes to a shell, also behind wrappers and launchers; undefined if there is none. */
export function innerScript(words: readonly string[]): InnerScript | undefined {
  const start = wrappedAt(words);
  const name = baseName(words[start] ?? '');
  if (name === 'eval' && start + 1 < words.length) return { from: start + 1, to: words.length, launcher: 0 };
  if (name === 'su' || name === 'runuser') {
    const flag = words.findIndex((word, index) => index > start && /^(?:-l?c|--command)$/.test(word));
    return flag < 0 || flag + 1 >= words.length ? undefined : { from: flag + 1, to: flag + 2, launcher: 0 };
  }
  const launches = commandNamed(name)?.runs === 'processes';
  const shell = launches ? words.findIndex((word, at) => at > start && shells.has(baseName(word))) : start;
  const script = shell < 0 ? undefined : shellScriptAt(words, shell);
  return script === undefined ? undefined : { from: script, to: script + 1, launcher: launches ? shell : 0 };
}

/** The index of the script in `bash -c script`, whose options may come in any order: `bash -euo pipefail -c -- script`. */
function shellScriptAt(words: readonly string[], shell: number): number | undefined {
  if (!shells.has(baseName(words[shell] ?? ''))) return undefined;
  let runsScript = false;
  let at = shell + 1;
  for (; at < words.length; at++) {
    const word = words[at] ?? '';
    if (word === '--' || word === '-') {
      at++;
      break;
    }
    if (!/^[-+]/.test(word)) break;
    if (word.startsWith('--')) continue;
    runsScript ||= word.startsWith('-') && word.includes('c');
    if (/o/i.test(word)) at++;
  }
  return runsScript && at < words.length ? at : undefined;
}

/** Whether a shell reads its script from its standard input. */
export function readsScript(words: readonly string[]): boolean {
  const [shell = '', ...rest] = withoutWrappers(words);
  return shells.has(baseName(shell)) && rest.every((word) => /^-[a-z]*$/.test(word));
}
