import { table } from '../yaml/table.ts';
import { type Flag, readFlags } from './flags.ts';
import { allCommands, readCommandLine, type Word } from './shell.ts';

/** How often a trainer is told to save: in time, or, as most do, in steps, whose length the command line does not tell. */
export interface CheckpointInterval {
  readonly every: { readonly seconds: number } | { readonly steps: number };
  /** The name of the flag, as it is read: `save-checkpoints-secs`. */
  readonly name: string;
  readonly word: Word;
  readonly flag: Flag;
}

/**
 * The intervals on a command line. Units: TensorFlow's `save_checkpoints_secs` in seconds, Lightning's and NeMo's `train_time_interval` as
 * days:hours:minutes:seconds or by parts, MaxText's multi-tier backup in minutes; the others in steps.
 */
export function findCheckpointIntervals(
  command: readonly string[],
  args: readonly string[],
): readonly CheckpointInterval[] {
  return allCommands(readCommandLine(command, args).statements).flatMap(({ words }) =>
    readFlags(words).flatMap((flag) => {
      const every = flag.dynamic ? undefined : intervalOf(flag);
      return every === undefined ? [] : [{ every, name: flag.name, word: flag.word, flag }];
    }),
  );
}

/** Seconds between two checkpoints; null where they are counted in steps and the length of one is not known. */
export function secondsBetween({ every }: CheckpointInterval, stepSeconds: number | null): number | null {
  if ('seconds' in every) return every.seconds;
  return stepSeconds === null ? null : every.steps * stepSeconds;
}

/** Flags that count steps between checkpoints: Hugging Face, Megatron, Lightning, NeMo and what takes after them. */
const stepFlags = /(^|\.)(save-steps|save-interval|save-every|checkpoint-interval|ckpt-interval|every-n-train-steps)$/;

function intervalOf(flag: Flag): CheckpointInterval['every'] | undefined {
  const seconds = secondsOf(flag);
  if (seconds !== undefined) return seconds > 0 ? { seconds } : undefined;
  const isCount = flag.value !== undefined && /^[1-9]\d{0,8}$/.test(flag.value);
  return isCount && stepFlags.test(flag.name) ? { steps: Number(flag.value) } : undefined;
}

function secondsOf({ name, value }: Flag): number | undefined {
  if (value === undefined) return undefined;
  if (/(^|\.)save-checkpoints-secs$/.test(name)) return wholeNumber(value);
  if (/(^|\.)multi-tier-checkpointing-backup-interval-minutes$/.test(name)) return times(wholeNumber(value), 60);
  const part = /(^|\.)train-time-interval(?:\.(days|hours|minutes|seconds))?$/.exec(name);
  if (part === null) return undefined;
  const unit = part[2];
  return unit === undefined ? clock(value) : times(wholeNumber(value), units[unit] ?? 1);
}

const units = table<number>({ days: 86_400, hours: 3600, minutes: 60, seconds: 1 });

/** `00:02:00:00` is two hours. https://lightning.ai/docs/pytorch/stable/common/trainer.html#max-time */
function clock(text: string): number | undefined {
  const match = /^(\d{1,3}):(\d{1,2}):(\d{1,2}):(\d{1,2})$/.exec(text);
  if (match === null) return undefined;
  const [days, hours, minutes, seconds] = match.slice(1).map(Number);
  return (days ?? 0) * 86_400 + (hours ?? 0) * 3600 + (minutes ?? 0) * 60 + (seconds ?? 0);
}

function wholeNumber(text: string): number | undefined {
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

function times(value: number | undefined, factor: number): number | undefined {
  return value === undefined ? undefined : value * factor;
}
