import { type Flag, readFlags } from '../command/flags.ts';
import { allCommands, baseName, readCommandLine, type Word } from '../command/shell.ts';
import { formatNumber } from '../cost/format.ts';
import { countIn } from '../model/count.ts';
import type { Container } from '../model/workload.ts';

// What flags of trainers say of progress. Several rules ask, so that none praises or blames what another says is not there.

export interface Told {
  readonly text: string;
  readonly word: Word;
  /** What to write instead, and what that does. */
  readonly instead?: { readonly flag: Flag; readonly value: string; readonly title: string };
}

/** That no checkpoint is ever written. */
export function neverSaves(container: Container): Told | undefined {
  for (const words of commandsOf(container)) {
    const flags = readFlags(words);
    const found = turnedOff(flags) ?? beyondTheEnd(flags) ?? megatronWithoutSave(words, flags);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The flag that says not to resume, unless another names the checkpoint to resume from. */
export function resumeOff(container: Container): Flag | undefined {
  for (const words of commandsOf(container)) {
    const flags = readFlags(words);
    const off = flags.find(({ name, value, dynamic }) => !dynamic && isOff(name, value));
    const names = flags.some(
      ({ name, value }) => /^resume-from-checkpoint$|^load-path$/.test(name) && !/^false$/i.test(value ?? ''),
    );
    if (off !== undefined && !names) return off;
  }
  return undefined;
}

function commandsOf({ command, args }: Container): readonly (readonly Word[])[] {
  const line = readCommandLine(
    command.map(({ value }) => value),
    args.map(({ value }) => value),
  );
  return allCommands(line.statements).map(({ words }) => words);
}

function turnedOff(flags: readonly Flag[]): Told | undefined {
  const off = flags.find(
    ({ name, value, dynamic }) =>
      !dynamic &&
      ((name === 'save-strategy' && value === 'no') ||
        (/^(trainer\.)?enable-checkpointing$|^exp-manager\.create-checkpoint-callback$/.test(name) &&
          /^false$/i.test(value ?? ''))),
  );
  if (off === undefined) return undefined;
  const name = off.name.replaceAll('-', '_');
  const instead =
    off.name === 'save-strategy'
      ? { flag: off, value: 'epoch', title: 'Save after each epoch' }
      : { flag: off, value: /^[A-Z]/.test(off.value ?? '') ? 'True' : 'true', title: `Set ${name} to true` };
  return { text: `${name} ${off.value ?? ''} saves no checkpoint`, word: off.word, instead };
}

/** An interval below 1 is a share of the run. */
function beyondTheEnd(flags: readonly Flag[]): Told | undefined {
  const number = (names: readonly string[]) => {
    const flag = flags.find(({ name, dynamic }) => names.includes(name) && !dynamic);
    const value = countIn(flag?.value) ?? 0;
    return flag !== undefined && value > 0 ? { flag, value } : undefined;
  };
  const interval = number(['save-steps', 'save-interval']);
  const steps = number(['max-steps', 'train-iters']);
  if (interval === undefined || steps === undefined || interval.value <= steps.value) return undefined;
  const text = `${interval.flag.name.replaceAll('-', '_')} ${interval.value} is beyond the ${steps.value} steps of the run`;
  const tenth = Math.ceil(steps.value / 10);
  const instead = { flag: interval.flag, value: String(tenth), title: `Save every ${formatNumber(tenth)} steps` };
  return { text, word: interval.flag.word, instead };
}

function megatronWithoutSave(words: readonly Word[], flags: readonly Flag[]): Told | undefined {
  const program = words.find(({ text }) => /^pretrain_(gpt|bert|t5|llama|mamba|vlm|retro)\.py$/.test(baseName(text)));
  if (program === undefined || flags.length < 4 || words.some(({ dynamic }) => dynamic)) return undefined;
  if (flags.some(({ name }) => /^(save|save-interval|yaml-cfg|config|checkpoint.*)$/.test(name))) return undefined;
  return { text: `${baseName(program.text)} without --save keeps no checkpoint`, word: program };
}

function isOff(name: string, value: string | undefined): boolean {
  if (name === 'overwrite-output-dir') return value === undefined || /^true$/i.test(value);
  return (
    /^((\w+\.)?exp-manager\.)?resume-if-exists$|^autoresume$|^auto-resume-from-checkpoints$|^resume-from-checkpoint$/.test(
      name,
    ) && /^false$/i.test(value ?? '')
  );
}
