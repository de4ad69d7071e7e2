import { wordSet } from '../catalog/word-patterns.ts';
import { type Flag, readFlags } from '../command/flags.ts';
import { baseName, type Word } from '../command/shell.ts';
import { once } from '../model/once.ts';
import { commandsIn } from '../model/process-input.ts';
import type { Container } from '../model/workload.ts';

/** A flag that names several GPUs of the container by their numbers. */
export interface DeviceList {
  /** As written: `--device 0,1`. */
  readonly text: string;
  /** The highest number. */
  readonly last: number;
  readonly words: readonly [Word, Word];
}

/**
 * The lists of GPUs in the flags of a container's commands: `--device 0,1`, `device=0,1` of YOLO, `--gpus 0,1` of PaddlePaddle and
 * `--include localhost:0,1` of DeepSpeed. A single number is left out because it may be a count.
 */
export const deviceLists = once((container: Container): readonly DeviceList[] => {
  const lines = [...container.command, ...container.args];
  if (!lines.some(({ value }) => /\d,\d/.test(value))) return [];
  return commandsIn(container).flatMap(({ words }) => {
    const isDeepSpeed = words.some(({ text }) => baseName(text) === 'deepspeed');
    return readFlags(words).flatMap((flag) => listIn(flag, isDeepSpeed) ?? []);
  });
});

function listIn(flag: Flag, isDeepSpeed: boolean): DeviceList | undefined {
  const { name, written, value = '', dynamic, isVariable, word, valueWord } = flag;
  if (dynamic || isVariable) return undefined;
  const included = isDeepSpeed && name === 'include' ? /^localhost:([\d,]+)$/.exec(value)?.[1] : undefined;
  const parts = name.split(/[-_.]/);
  const isList = parts.every((part) => nameWords.has(part)) && parts.some((part) => deviceWords.has(part));
  const numbers = (included ?? (isList ? value : '')).split(',').map((part) => part.trim());
  // Repeated numbers are counts.
  if (new Set(numbers).size < Math.max(numbers.length, 2) || !numbers.every((number) => /^\d{1,2}$/.test(number)))
    return undefined;
  const dashes = /^-*/.exec(word.text)?.[0] ?? '';
  return {
    text: valueWord === word ? word.text : `${dashes}${written} ${value}`,
    last: Math.max(...numbers.map(Number)),
    words: [word, valueWord ?? word],
  };
}

const deviceWords = wordSet('device devices gpu gpus');
const nameWords = wordSet('device devices gpu gpus id ids cuda visible');
