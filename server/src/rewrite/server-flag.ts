import type { FlagMeaning } from '../catalog/flag-records.ts';
import { meaningOf } from '../command/flag-meaning.ts';
import { type Flag, readFlags } from '../command/flags.ts';
import { recognizeProgram } from '../command/programs.ts';
import { allCommands, readCommandLine } from '../command/shell.ts';
import { processInput } from '../model/process-input.ts';
import type { Container } from '../model/workload.ts';
import { appendItem } from '../yaml/edit.ts';
import type { YamlDocument } from '../yaml/node.ts';
import type { Edits } from './fix.ts';
import { rewriteWord, setFlag } from './words.ts';

/** A flag to write: its meaning decides whether it is there under another spelling. */
export interface ServerFlag {
  readonly means: FlagMeaning;
  /** `--max-model-len`. */
  readonly flag: string;
  /** null: a switch. */
  readonly value: string | null;
}

/**
 * Sets a flag of a container's only model server, or appends it to the list of its arguments; undefined if that is not certainly right: in a script
 * only a flag that is there can change.
 * @param known takes a flag of that meaning as the one to set; by default all
 */
export function setServerFlag(
  document: YamlDocument,
  container: Container,
  { means, flag, value }: ServerFlag,
  known: (flag: Flag) => boolean = () => true,
): Edits {
  const { command, args } = container;
  const lines = [...command, ...args];
  const input = processInput(container);
  const { statements, complete, script } = readCommandLine(input.command, input.args, input.env);
  const commands = allCommands(statements).filter(({ words }) => words.length > 0);
  const servers = commands.filter((one) => recognizeProgram([one])?.use === 'serving');
  const [server, ...others] = servers.length > 0 || command.length > 0 ? servers : commands;
  if (!complete || server === undefined || others.length > 0) return undefined;
  const set = readFlags(server.words).filter(
    (one) => one.word.text.startsWith('-') && meaningOf(one, means) !== undefined && known(one),
  );
  const [only, ...more] = set;
  if (more.length > 0 || only?.dynamic === true) return undefined;
  if (only !== undefined) {
    if (value === null) return undefined;
    // `--gpu-memory-utilization 0.9` in one item.
    return only.valueWord === undefined
      ? rewriteWord(document, lines, only.word, `${only.word.text}=${value}`)
      : setFlag(document, lines, only, value);
  }
  const last = server.words.at(-1);
  const item = last === undefined ? undefined : lines[last.item];
  const isWholeItem = last !== undefined && last.start === 0 && last.end === item?.value.length;
  const list = lines.at(-1)?.at.parent;
  if (script || !isWholeItem || item !== lines.at(-1) || list === undefined) return undefined;
  return appendItem(document, list, value === null ? flag : `${flag}=${value}`);
}
