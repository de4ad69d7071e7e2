import type { FlagRecord } from '../catalog/flag-records.ts';
import { scriptNamed } from '../catalog/program-records.ts';
import { type FlagName, meaningOf } from '../command/flag-meaning.ts';
import { type Flag, readFlags } from '../command/flags.ts';
import { wordsOf } from '../command/name-words.ts';
import { countsStepsToSave } from '../command/save-interval.ts';
import { allCommands, baseName, type Word } from '../command/shell.ts';
import { countIn } from '../model/count.ts';
import { commandLineOf } from '../model/process-input.ts';
import type { Container } from '../model/workload.ts';
import { namedSettings } from './settings-files.ts';

// Flags of trainers about saving and resuming. Several rules share this reading, so that they agree.

/** A flag that keeps a run from saving, and its description for a message. */
export interface NoCheckpoint {
  readonly text: string;
  readonly word: Word;
  /** The value that saves, and the title of the fix that sets it. */
  readonly instead?: { readonly flag: Flag; readonly value: string; readonly title: string };
  /** The only checkpoint is that of the last step. */
  readonly atEnd?: true;
  /** The run is set to resume from what it saves. */
  readonly resumes?: boolean;
}

/** Why the run never writes a checkpoint; undefined if it may write one. */
export function neverSaves(container: Container): NoCheckpoint | undefined {
  for (const words of commandsOf(container)) {
    const flags = readFlags(words);
    const found = turnedOff(flags) ?? intervalBeyondEnd(flags) ?? megatronWithoutSave(words, flags);
    if (found !== undefined) return found;
  }
  for (const { flags } of namedSettings(container)) {
    const found = turnedOff(flags) ?? intervalBeyondEnd(flags);
    if (found === undefined) continue;
    // No edit changes a file that a script writes.
    const { instead: _, ...cause } = found;
    return cause;
  }
  return undefined;
}

/** The flag that disables resuming, unless another flag enables it or names the checkpoint to resume from. */
export function resumeOff(container: Container): Flag | undefined {
  for (const words of commandsOf(container)) {
    const flags = readFlags(words);
    const off = flags.find((flag) => !flag.dynamic && isOff(flag));
    if (off !== undefined && !flags.some(resumes)) return off;
  }
  return undefined;
}

/** Whether a flag makes a run resume, or names what it resumes from. */
export function resumes(flag: Flag): boolean {
  const means = meaningOf(flag, 'resume-from') ?? meaningOf(flag, 'resume');
  return means !== undefined && !/^(?:false|none)$/i.test(flag.value ?? '');
}

export function commandsOf(container: Container): readonly (readonly Word[])[] {
  const line = commandLineOf(container);
  return allCommands(line.statements).map(({ words }) => words);
}

function turnedOff(flags: readonly Flag[]): NoCheckpoint | undefined {
  const off = flags.find(
    ({ dynamic, value, ...name }) => !dynamic && value !== undefined && savingOf(name)?.off === value.toLowerCase(),
  );
  if (off === undefined) return undefined;
  const name = off.name.replaceAll('-', '_');
  const on = savingOf(off)?.on ?? 'true';
  const instead =
    on === 'true'
      ? { flag: off, value: /^[A-Z]/.test(off.value ?? '') ? 'True' : 'true', title: `Set ${name} to true` }
      : { flag: off, value: on, title: `Set ${name} to ${on}` };
  return { text: `${name} ${off.value ?? ''} disables checkpoints`, word: off.word, instead };
}

/** The values of a flag that turn saving off and on. */
function savingOf(flag: FlagName): FlagRecord | undefined {
  const found = meaningOf(flag, 'saving');
  return found !== undefined && 'off' in found ? found : undefined;
}

/** The shortest save interval, if none of them ends before the run does. An interval below 1 is a share of the run. */
function intervalBeyondEnd(flags: readonly Flag[]): NoCheckpoint | undefined {
  const ignored = ignoresSteps(flags);
  const intervals = flags.filter(
    (flag) => meaningOf(flag, 'checkpoint-interval') !== undefined && !(ignored && flag.name === 'save-steps'),
  );
  // The state of the optimizer is saved apart from the model.
  if (intervals.every(({ written }) => wordsOf(written).includes('state'))) return undefined;
  const limit = flags.find((flag) => !flag.dynamic && meaningOf(flag, 'total-steps') !== undefined);
  const steps = countIn(limit?.value) ?? 0;
  const valued = intervals.flatMap((flag) => {
    const value = flag.dynamic || !countsStepsToSave(flag) ? null : countIn(flag.value);
    return value !== null && steps > 0 && value >= steps ? [{ flag, value }] : [];
  });
  const [first, ...others] = valued;
  if (first === undefined || valued.length < intervals.length) return undefined;
  const { flag, value } = others.reduce((least, one) => (one.value < least.value ? one : least), first);
  const name = flag.name.replaceAll('-', '_');
  const tenth = Math.ceil(steps / 10);
  const found = { word: flag.word, instead: { flag, value: String(tenth), title: `Set ${name} to ${tenth}` } };
  if (value > steps) return { text: `${name} ${value} exceeds the ${steps} steps of the run`, ...found };
  const text = `${name} ${value} saves only after the last step`;
  return steps < 100 ? undefined : { text, ...found, atEnd: true, resumes: flags.some(resumes) };
}

/** Whether the run saves by something other than steps, or may do so. `save_steps` then has no effect. */
function ignoresSteps(flags: readonly Flag[]): boolean {
  return flags.some(
    ({ name, value, dynamic }) => name === 'save-strategy' && (dynamic || value?.toLowerCase() !== 'steps'),
  );
}

function megatronWithoutSave(words: readonly Word[], flags: readonly Flag[]): NoCheckpoint | undefined {
  const program = words.find(({ text }) => isMegatron(baseName(text)));
  if (program === undefined || flags.length < 4 || words.some(({ dynamic }) => dynamic)) return undefined;
  const saves = (flag: Flag) =>
    flag.name.startsWith('checkpoint') ||
    (['checkpoint-dir', 'checkpoint-interval', 'settings-file'] as const).some((means) => meaningOf(flag, means));
  if (flags.some(saves)) return undefined;
  return { text: `${baseName(program.text)} saves no checkpoints without --save`, word: program };
}

function isMegatron(file: string): boolean {
  return file.endsWith('.py') && scriptNamed(file.slice(0, -'.py'.length))?.suite === 'megatron';
}

function isOff(flag: Flag): boolean {
  const { value } = flag;
  if (meaningOf(flag, 'overwriting') !== undefined) return value === undefined || /^true$/i.test(value);
  return /^false$/i.test(value ?? '') && meaningOf(flag, 'resume') !== undefined;
}
