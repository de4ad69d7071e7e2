import { wordSet } from '../catalog/word-patterns.ts';
import { type Flag, readFlags } from '../command/flags.ts';
import { wordsOf } from '../command/name-words.ts';
import type { Word } from '../command/shell.ts';
import { countIn } from '../model/count.ts';
import { commandsIn } from '../model/process-input.ts';
import type { Container } from '../model/workload.ts';
import { namedSettings } from './settings-files.ts';

/** A flag with the number of processes that load data for each process of a trainer. */
export interface DataLoader {
  readonly flag: Flag;
  readonly workers: number;
}

/**
 * The only number of data-loading processes that a container sets: `--num_workers 8`, `data.num_workers=8`.
 * @param isGuess also a script's `--workers 8`, which are mostly those
 */
export function dataLoader(container: Container, isGuess = false): DataLoader | undefined {
  const onLine = commandsIn(container).flatMap(({ words }) => readFlags(words).filter(countsIn(isGuess ? words : [])));
  const inFiles = namedSettings(container).flatMap(({ flags }) => flags.filter(countsIn([])));
  const [only, ...others] = [...onLine, ...inFiles];
  if (only === undefined || only.dynamic || others.length > 0) return undefined;
  const workers = countIn(only.value);
  return workers == null ? undefined : { flag: only, workers };
}

/** Whether a flag counts the workers of a data loader: its name has the words for them, and otherwise only words for data. */
function countsIn(command: readonly Word[]): (flag: Flag) => boolean {
  // Servers and queues count other workers, also with that word alone.
  const isScript = command.some(({ text }) => text.endsWith('.py'));
  return ({ written, isVariable }) => {
    const end = written.lastIndexOf('.');
    const words = wordsOf(written.slice(end + 1));
    if (isVariable || !words.includes('workers')) return false;
    const others = words.filter((word) => word !== 'workers');
    if (!(others.length > 0 || isScript) || !others.every((word) => ofLoader.has(word))) return false;
    return end < 0 || !wordsOf(written.slice(0, end)).some((word) => otherWorkers.has(word));
  };
}

const ofLoader = wordSet(
  'num n number no of count max dataloader dataloaders loader loaders dl data dataset datamodule per gpu train training cfg config',
);

/** Other workers: those of Ray, of rollouts, of the evaluation. */
const otherWorkers = wordSet(
  'ray scaling rollout actor env envs val eval test search tune preprocessing tokenizer trainer server',
);
