import { wordSet } from '../catalog/word-patterns.ts';
import { wordsOf } from './name-words.ts';

/**
 * The task that the words after a program or a script choose: the first one (`main.py train`), or the value of a flag or setting that names a task
 * (`--mode train`, `stage=download`); undefined without one, or if several flags name different ones.
 */
export function chosenTask(words: readonly string[]): string | undefined {
  const [first = ''] = words;
  if (isTask(first)) return first;
  const tasks = words.flatMap((word, index) => {
    const [, name = '', value] = /^(?:--?)?([A-Za-z][\w.-]*)(?:=(.*))?$/s.exec(word) ?? [];
    const isFlag = word.startsWith('-');
    if (!choosesTask(name) || (!isFlag && value === undefined)) return [];
    const task = value ?? words[index + 1] ?? '';
    return isTask(task) ? [task] : [];
  });
  return new Set(tasks).size === 1 ? tasks[0] : undefined;
}

function isTask(word: string): boolean {
  return /^[A-Za-z][\w-]{2,40}$/.test(word);
}

/** Whether a flag chooses what the program does; `--split train` chooses data. */
function choosesTask(name: string): boolean {
  const parts = wordsOf(name);
  return parts.length > 0 && parts.length <= 2 && parts.every((part) => choosing.has(part) || general.has(part))
    ? parts.some((part) => choosing.has(part))
    : false;
}

const choosing = wordSet('mode task stage phase action command cmd step operation');
const general = wordSet('run job pipeline script exec');
