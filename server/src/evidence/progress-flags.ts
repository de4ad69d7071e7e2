import type { FlagRecord } from '../catalog/flag-records.ts';
import { scriptNamed } from '../catalog/program-records.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { yacsOverrides } from '../command/checkpoint.ts';
import { type FlagName, meaningOf } from '../command/flag-meaning.ts';
import { type Flag, readFlags } from '../command/flags.ts';
import { wordsOf } from '../command/name-words.ts';
import { countedToSave, countsEpochs } from '../command/save-interval.ts';
import { allCommands, baseName, readScript, type Word } from '../command/shell.ts';
import { countIn } from '../model/count.ts';
import { once } from '../model/once.ts';
import { commandLineOf } from '../model/process-input.ts';
import type { Container } from '../model/workload.ts';
import type { Cursor } from '../yaml/cursor.ts';
import { trainerArguments } from './python-arguments.ts';
import { namedSettings } from './settings-files.ts';

// Flags of trainers about saving and resuming. Several rules share this reading, so that they agree.

/** A flag that keeps a run from saving, and its description for a message. */
export interface NoCheckpoint {
  readonly text: string;
  readonly word: Word;
  /** Where the command runs the script that has the word, if it is in another object. */
  readonly at?: Cursor;
  /** The value that saves, and the title of the fix that sets it. */
  readonly instead?: { readonly flag: Flag; readonly value: string; readonly title: string };
  /** The only checkpoint is that of the last step. */
  readonly atEnd?: true;
  /** The run is set to resume from what it saves. */
  readonly resumes?: boolean;
}

/** Why the run never writes a checkpoint; undefined if it may write one. */
export const neverSaves = once((container: Container): NoCheckpoint | undefined => {
  for (const words of commandsOf(container)) {
    const flags = [...readFlags(words), ...yacsOverrides(words)];
    const found =
      turnedOff(flags) ??
      switchedOff(words, flags) ??
      noInterval(flags) ??
      intervalBeyondEnd(flags) ??
      megatronWithoutSave(words, flags);
    if (found !== undefined) return found;
  }
  for (const { text, at } of container.scripts) {
    for (const { words } of allCommands(readScript(text).statements)) {
      const flags = [...readFlags(words), ...yacsOverrides(words)];
      const found = turnedOff(flags) ?? switchedOff(words, flags) ?? noInterval(flags) ?? intervalBeyondEnd(flags);
      if (found === undefined) continue;
      const { instead: _, ...cause } = found;
      return { ...cause, at };
    }
  }
  for (const { flags } of namedSettings(container)) {
    const found = turnedOff(flags) ?? noInterval(flags) ?? intervalBeyondEnd(flags);
    if (found === undefined) continue;
    // No edit changes a file that a script writes.
    const { instead: _, ...cause } = found;
    return cause;
  }
  const inCode = trainerArguments(container);
  const found = turnedOff(inCode) ?? noInterval(inCode) ?? intervalBeyondEnd(inCode);
  if (found === undefined) return undefined;
  const { instead: _, ...cause } = found;
  return cause;
});

/** The flag that disables resuming, unless another flag enables it or names the checkpoint to resume from; also in a file of settings. */
export const resumeOff = once((container: Container): Flag | undefined => {
  const files = namedSettings(container);
  for (const words of commandsOf(container)) {
    const named = files.filter(({ word }) => words.includes(word));
    const flags = [...readFlags(words), ...named.flatMap((file) => file.flags)];
    const off = flags.find((flag) => !flag.dynamic && (isOff(flag) || isNegated(flag)));
    if (off !== undefined && !flags.some(resumes)) return off;
  }
  return undefined;
});

/** Whether a flag makes a run resume, or names what it resumes from. */
export function resumes(flag: Flag): boolean {
  const means = meaningOf(flag, 'resume-from') ?? meaningOf(flag, 'resume');
  return means !== undefined && !/^(?:false|none|null|disable|no)$/i.test(flag.value ?? '');
}

export const commandsOf = once((container: Container): readonly (readonly Word[])[] => {
  const line = commandLineOf(container);
  return allCommands(line.statements).map(({ words }) => words);
});

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

/** A switch of which every word says so: `--no-save` of fairseq. nnU-Net has another. */
function switchedOff(words: readonly Word[], flags: readonly Flag[]): NoCheckpoint | undefined {
  const isNnUnet = words.some(({ text }) => /^nnUNet(?:v2)?_train$/.test(baseName(text)));
  // https://docs.ultralytics.com/usage/cfg/
  const isYolo = words.some(({ text }, at) => baseName(text) === 'yolo' && trainsYolo(words.slice(at)));
  const save = isYolo ? words.find(({ text }) => /^save=(?:false|0)$/i.test(text)) : undefined;
  if (save !== undefined) return { text: `${save.text} disables checkpoints`, word: save };
  const off = flags.find(({ written, value, word }) => {
    if (!word.text.startsWith('--') || !(value === undefined || /^true$/i.test(value))) return false;
    const [first = '', second = '', ...others] = wordsOf(written);
    if (isNnUnet && written === 'disable_checkpointing') return true;
    return negations.has(first) && saves.has(second) && others.every((one) => checkpoints.has(one));
  });
  return off && { text: `--${off.written} disables checkpoints`, word: off.word };
}

/**
 * An interval that never comes, if there is no other: `trainer.save_freq=-1` of verl, `--save_steps -1` of OpenRLHF.
 * https://github.com/volcengine/verl/blob/main/verl/trainer/config/ppo_trainer.yaml
 */
function noInterval(flags: readonly Flag[]): NoCheckpoint | undefined {
  const intervals = flags.filter((flag) => meaningOf(flag, 'checkpoint-interval') !== undefined);
  const [first, ...others] = intervals.filter((flag) => !flag.dynamic && /^(?:-1|0)$/.test(flag.value ?? ''));
  if (first === undefined || others.length + 1 < intervals.length || ignoresSteps(flags)) return undefined;
  // Ultralytics also saves after each epoch, and so does fairseq if it counts no updates.
  if (first.name === 'save-period' || wordsOf(first.written).some((word) => partial.has(word))) return undefined;
  if (flags.some((flag) => !intervals.includes(flag) && savesOtherwise(wordsOf(flag.written)))) return undefined;
  return {
    text: `${first.name.replaceAll('-', '_')} ${first.value ?? ''} saves no checkpoints during the run`,
    word: first.word,
  };
}

/** Whether a flag may save at other times: `--save_epochs`, `--save-best-only`. */
function savesOtherwise(words: readonly string[]): boolean {
  return words.some((one) => saves.has(one) || checkpoints.has(one)) && words.some((one) => otherTimes.has(one));
}

const partial = wordSet('state update updates');
const otherTimes = wordSet('epoch epochs best last final end top k strategy on after milestone milestones');

const negations = wordSet('no disable skip without');
const saves = wordSet('save saving checkpoints ckpts');
const checkpoints = wordSet('checkpoint checkpoints ckpt ckpts model models');

/** Whether Ultralytics' program trains: `yolo train`, `yolo detect train`, `yolo mode=train`. */
export function trainsYolo(words: readonly Word[]): boolean {
  return words.slice(1, 3).some(({ text }) => text === 'train' || text === 'mode=train');
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
  const total = (isTotal: (flag: Flag) => boolean) =>
    countIn(flags.find((flag) => !flag.dynamic && isTotal(flag))?.value) ?? 0;
  const ends = { steps: total((flag) => meaningOf(flag, 'total-steps') !== undefined), epochs: total(countsEpochs) };
  const valued = intervals.flatMap((flag) => {
    const unit = flag.dynamic ? undefined : countedToSave(flag);
    const value = unit && countIn(flag.value);
    return unit !== undefined && value != null && ends[unit] > 0 && value >= ends[unit] ? [{ flag, value, unit }] : [];
  });
  const [first, ...others] = valued;
  if (first === undefined || valued.length < intervals.length) return undefined;
  const { flag, value, unit } = others.reduce((least, one) => (one.value < least.value ? one : least), first);
  const end = ends[unit];
  const name = flag.name.replaceAll('-', '_');
  const tenth = Math.ceil(end / 10);
  const found = { word: flag.word, instead: { flag, value: String(tenth), title: `Set ${name} to ${tenth}` } };
  if (value > end) return { text: `${name} ${value} exceeds the ${end} ${unit} of the run`, ...found };
  const text = `${name} ${value} saves only after the last ${unit.slice(0, -1)}`;
  // Epochs are long, and most runs have few.
  return end < (unit === 'steps' ? 100 : 3) ? undefined : { text, ...found, atEnd: true, resumes: flags.some(resumes) };
}

/** Whether the run saves by something other than steps, or may do so. `save_steps` then has no effect. */
function ignoresSteps(flags: readonly Flag[]): boolean {
  return flags.some(
    ({ name, value, dynamic }) => name === 'save-strategy' && (dynamic || value?.toLowerCase() !== 'steps'),
  );
}

function megatronWithoutSave(words: readonly Word[], flags: readonly Flag[]): NoCheckpoint | undefined {
  const titan = words.find(({ text }) => /(?:^|\/)torchtitan[./]train(?:\.py)?$/.test(text));
  const isPreset = flags.some(
    ({ name, value = '' }) => name.endsWith('config-file') && /torchtitan\/.*train_configs\//.test(value),
  );
  // https://github.com/pytorch/torchtitan/blob/main/docs/checkpoint.md
  if (
    titan !== undefined &&
    isPreset &&
    !flags.some(({ name }) => name.startsWith('checkpoint')) &&
    !words.some(({ dynamic }) => dynamic)
  )
    return { text: 'torchtitan saves no checkpoints without --checkpoint.enable', word: titan };
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
  if (meaningOf(flag, 'resume') === undefined) return false;
  return /^(?:false|disable)$/i.test(value ?? '');
}

/** A switch of which every word says so: `--no-resume`, `--disable-auto-resume`. */
export function isNegated({ written, value, word }: Flag): boolean {
  if (!word.text.startsWith('--') || !(value === undefined || /^true$/i.test(value))) return false;
  const [first = '', ...others] = wordsOf(written);
  return (
    negations.has(first) && others.some((one) => one.endsWith('resume')) && others.every((one) => resuming.has(one))
  );
}

const resuming = wordSet('resume autoresume auto training checkpoint from');
