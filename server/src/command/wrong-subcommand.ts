import { type Table, table } from '../yaml/table.ts';
import { baseName, type SimpleCommand, type Word } from './shell.ts';

/** A word that its program does not know as a command, and the command that is meant. */
export interface WrongSubcommand {
  readonly program: string;
  readonly word: Word;
  readonly meant: string;
}

/** Words that people write for a command of a program. https://docs.vllm.ai/en/latest/cli/ https://docs.ollama.com/cli, 2026-11-29 */
const meanings: ReadonlyMap<string, Table<string>> = new Map([
  ['vllm', table({ server: 'serve', run: 'serve', start: 'serve', serving: 'serve', runbatch: 'run-batch' })],
  ['ollama', table({ server: 'serve', download: 'pull', install: 'pull', get: 'pull' })],
]);

/** The command of a program that does not have it. */
export function wrongSubcommand({ words }: SimpleCommand): WrongSubcommand | undefined {
  const at = words.findIndex(({ text }) => meanings.has(baseName(text)));
  const [program, word] = at < 0 ? [] : [words[at], words[at + 1]];
  const name = baseName(program?.text ?? '');
  // Behind other words, it may be a name: `systemctl restart ollama`.
  if (word === undefined || at > 1 || (at === 1 && words[0]?.text !== 'exec') || word.dynamic) return undefined;
  const meant = meanings.get(name)?.[word.text];
  return meant === undefined ? undefined : { program: name, word, meant };
}
