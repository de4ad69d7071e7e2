import { wordSet } from '../catalog/word-patterns.ts';
import { readFlags } from '../command/flags.ts';
import { wordsOf } from '../command/name-words.ts';
import { allCommands, readCommandLine } from '../command/shell.ts';
import { processInput } from '../model/process-input.ts';
import type { Container } from '../model/workload.ts';

/** Words around `workers` in the names of the flag for a data loader's processes: `dataloader_num_workers`, `data.workers_per_gpu`. */
const around = wordSet(
  'num n number no of count max data loader dataloader dl per gpu train training datamodule dataset loaders cfg config workers',
);

/**
 * The flag by which a program starts several processes that load its data, as written: PyTorch passes batches between them through /dev/shm.
 * Undefined without such a flag.
 */
export function loaderWorkers(container: Container): string | undefined {
  const { command, args, env } = processInput(container);
  for (const { words } of allCommands(readCommandLine(command, args, env).statements)) {
    if (!words.some(({ text }) => /\bpython[\d.]*$|\.py$|^(?:torchrun|accelerate|deepspeed|yolo)$/.test(text)))
      continue;
    for (const { written, value, dynamic, isVariable, word, valueWord } of readFlags(words)) {
      const names = wordsOf(written);
      const isWorkers = names.includes('workers') && names.every((word) => around.has(word));
      if (isWorkers && !dynamic && !isVariable && /^(?:[2-9]|\d{2,3})$/.test(value ?? ''))
        return word === valueWord ? word.text : `${word.text} ${value}`;
    }
  }
  return undefined;
}
