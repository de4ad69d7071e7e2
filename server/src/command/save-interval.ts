import type { FlagUnit } from '../catalog/flag-records.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { table } from '../yaml/table.ts';
import { type FoundMeaning, meaningOf } from './flag-meaning.ts';
import { type Flag, readFlags } from './flags.ts';
import { wordsOf } from './name-words.ts';
import { allCommands, readCommandLine, type Word } from './shell.ts';
import type { Variable } from './variables.ts';

/** How often a trainer saves: in time or, for most, in steps, whose duration is not on the command line. */
export interface CheckpointInterval {
  readonly every: { readonly seconds: number } | { readonly steps: number };
  /** The unit of the flag's value. */
  readonly unit: FlagUnit;
  /** Other flags may add to the interval. */
  readonly part: boolean;
  /** The normalized name of the flag: `save-checkpoints-secs`. */
  readonly name: string;
  readonly word: Word;
  readonly flag: Flag;
}

/** The intervals on a command line, in time or in steps. Intervals in epochs are omitted: the length of an epoch is unknown. */
export function findCheckpointIntervals(
  command: readonly string[],
  args: readonly string[],
  env: readonly Variable[] = [],
): readonly CheckpointInterval[] {
  return allCommands(readCommandLine(command, args, env).statements).flatMap(({ words }) =>
    readFlags(words).flatMap((flag) => intervalOf(flag) ?? []),
  );
}

/** Seconds between two checkpoints; null for steps of unknown duration. */
export function secondsBetween({ every }: CheckpointInterval, stepSeconds: number | null): number | null {
  if ('seconds' in every) return every.seconds;
  return stepSeconds === null ? null : every.steps * stepSeconds;
}

/** Whether a flag sets the number of steps or of epochs between two saves. */
export function countedToSave(flag: Flag): 'steps' | 'epochs' | undefined {
  const found = meaningOf(flag, 'checkpoint-interval');
  // Ultralytics also saves after each epoch.
  if (found === undefined || flag.name === 'save-period') return undefined;
  const unit = unitOf(flag, found);
  return unit === 'epochs' || (unit === 'steps' && 'every' in found) ? unit : undefined;
}

/** Whether a flag sets how many epochs the run has: `--max_train_epochs`, `train_cfg.max_epochs`. */
export function countsEpochs({ written, isVariable }: Flag): boolean {
  const words = wordsOf(written.slice(written.lastIndexOf('.') + 1));
  return !isVariable && words.some((word) => unitWords[word] === 'epochs') && words.every((word) => ofRun.has(word));
}

const ofRun = wordSet('epoch epochs num n number of max total train training');

function intervalOf(flag: Flag): CheckpointInterval | undefined {
  const found = flag.dynamic || flag.value === undefined ? undefined : meaningOf(flag, 'checkpoint-interval');
  if (found === undefined) return undefined;
  const unit = unitOf(flag, found);
  const every = everyOf(flag.value ?? '', unit);
  const part = 'part' in found && found.part === true;
  return every && { every, unit, part, name: flag.name, word: flag.word, flag };
}

/** The unit in the catalog, else the unit named by the words of the flag, else steps. */
function unitOf({ written }: Flag, found: FoundMeaning): FlagUnit {
  if ('unit' in found && found.unit !== undefined) return found.unit;
  return (
    wordsOf(written)
      .map((word) => unitWords[word])
      .find((unit) => unit !== undefined) ?? 'steps'
  );
}

const unitWords = table<FlagUnit>({
  ...{ secs: 'seconds', second: 'seconds', seconds: 'seconds', minute: 'minutes', minutes: 'minutes' },
  ...{ hour: 'hours', hours: 'hours', epoch: 'epochs', epochs: 'epochs' },
});

function everyOf(value: string, unit: FlagUnit): CheckpointInterval['every'] | undefined {
  if (unit === 'epochs') return undefined;
  if (unit === 'steps') return /^[1-9]\d{0,8}$/.test(value) ? { steps: Number(value) } : undefined;
  const seconds = unit === 'clock' ? clock(value) : (wholeNumber(value) ?? 0) * (secondsPerUnit[unit] ?? 0);
  return seconds > 0 ? { seconds } : undefined;
}

const secondsPerUnit = table<number>({ days: 86_400, hours: 3600, minutes: 60, seconds: 1 });

/** Seconds in `days:hours:minutes:seconds`; 0 if malformed. `00:02:00:00` is 7,200. https://lightning.ai/docs/pytorch/stable/common/trainer.html#max-time */
function clock(text: string): number {
  const match = /^(\d{1,3}):(\d{1,2}):(\d{1,2}):(\d{1,2})$/.exec(text);
  if (match === null) return 0;
  const [days, hours, minutes, seconds] = match.slice(1).map(Number);
  return (days ?? 0) * 86_400 + (hours ?? 0) * 3600 + (minutes ?? 0) * 60 + (seconds ?? 0);
}

function wholeNumber(text: string): number | undefined {
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}
