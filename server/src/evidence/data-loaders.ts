import { wordSet } from '../catalog/word-patterns.ts';
import { type Flag, readFlags } from '../command/flags.ts';
import { wordsOf } from '../command/name-words.ts';
import { baseName, type Word } from '../command/shell.ts';
import { countIn } from '../model/count.ts';
import { commandsIn } from '../model/process-input.ts';
import type { Container } from '../model/workload.ts';
import { trainsYolo } from './progress-flags.ts';
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

/** A training program that loads data with several processes by default, and their number. */
export function defaultLoader(
  container: Container,
): { readonly program: string; readonly workers: number } | undefined {
  // https://github.com/MIC-DKFZ/nnUNet/blob/master/documentation/set_environment_variables.md
  if (container.env.some(({ name }) => name === 'nnUNet_n_proc_DA')) return undefined;
  const found = commandsIn(container).flatMap(({ words }) => loaderOf(words) ?? []);
  const [only, ...others] = found;
  return others.length === 0 ? only : undefined;
}

/**
 * https://docs.ultralytics.com/usage/cfg/
 * https://github.com/MIC-DKFZ/nnUNet/blob/master/nnunetv2/utilities/default_n_proc_DA.py
 */
function loaderOf(words: readonly Word[]): { readonly program: string; readonly workers: number } | undefined {
  const at = words.findIndex(({ text }) => /^(?:yolo|nnUNetv2_train)$/.test(baseName(text)));
  const program = baseName(words[at]?.text ?? '');
  if (program === 'nnUNetv2_train') return { program, workers: 12 };
  if (program !== 'yolo' || !trainsYolo(words.slice(at))) return undefined;
  // A file or a variable may set it, and further options.
  if (words.some(({ text, dynamic }) => dynamic || text.startsWith('cfg='))) return undefined;
  const written = words.find(({ text }) => text.startsWith('workers='))?.text.slice('workers='.length);
  const workers = written === undefined ? 8 : countIn(written);
  return workers == null ? undefined : { program: 'yolo train', workers };
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
