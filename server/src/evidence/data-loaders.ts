import { wordSet } from '../catalog/word-patterns.ts';
import { type Flag, readFlags } from '../command/flags.ts';
import { wordsOf } from '../command/name-words.ts';
import { countIn } from '../model/count.ts';
import { commandsIn } from '../model/process-input.ts';
import type { Container } from '../model/workload.ts';
import { namedSettings } from './settings-files.ts';

/** A flag with the number of processes that load data for each process of a trainer. */
export interface DataLoader {
  readonly flag: Flag;
  readonly workers: number;
}

/** The only number of data-loading processes that a container sets: `--num_workers 8`, `data.num_workers=8`, `--dataloader_num_workers=8`. */
export function dataLoader(container: Container): DataLoader | undefined {
  const onLine = commandsIn(container).flatMap(({ words }) => readFlags(words));
  const inFiles = namedSettings(container).flatMap(({ flags }) => flags);
  const [only, ...others] = [...onLine, ...inFiles].filter((flag) => !flag.isVariable && countsLoaders(flag));
  if (only === undefined || only.dynamic || others.length > 0) return undefined;
  const workers = countIn(only.value);
  return workers == null ? undefined : { flag: only, workers };
}

/** Whether a name has the words for a number of workers, and otherwise only words for data. */
function countsLoaders({ written }: Flag): boolean {
  const words = wordsOf(written.slice(written.lastIndexOf('.') + 1));
  const path = written.includes('.') ? wordsOf(written.slice(0, written.lastIndexOf('.'))) : [];
  const isCount = words.includes('workers') && words.some((word) => word !== 'workers' && ofLoader.has(word));
  return isCount && words.every((word) => word === 'workers' || ofLoader.has(word)) && !path.some(isElsewhere);
}

const ofLoader = wordSet('num n number of dataloader dataloaders loader loaders data train training');

/** Other workers: those of Ray, of rollouts, of the evaluation. */
function isElsewhere(word: string): boolean {
  return otherWorkers.has(word);
}

const otherWorkers = wordSet('ray scaling rollout actor env envs val eval test search tune preprocessing tokenizer');
