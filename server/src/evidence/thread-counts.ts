import { readFlags } from '../command/flags.ts';
import { baseName, type Word } from '../command/shell.ts';
import { countIn } from '../model/count.ts';
import { commandsIn } from '../model/process-input.ts';
import type { Container } from '../model/workload.ts';
import { type Cursor, isTemplated } from '../yaml/cursor.ts';

/** The number of threads that a container's settings ask for. */
export interface ThreadCount {
  readonly count: number;
  /** As written: `OMP_NUM_THREADS=64`. */
  readonly text: string;
  readonly place: { readonly words: readonly [Word, Word] } | { readonly value: Cursor };
}

/** The threads of mdrun, whose ranks and threads are product of two flags, or of OpenMP. */
export function threadCount(container: Container): ThreadCount | undefined {
  for (const { words } of commandsIn(container)) {
    const at = words.findIndex(({ text }) => text === 'mdrun');
    const [program, task] = [words[at - 1], words[at]];
    if (program === undefined || task === undefined || !baseName(program.text).startsWith('gmx')) continue;
    const flags = readFlags(words);
    const of = (name: string) => flags.find((flag) => flag.written === name);
    const threads = of('ntomp') ?? of('nt');
    const [ranks, each] = [countIn(of('ntmpi')?.value ?? '1'), countIn(threads?.value)];
    if (threads === undefined || ranks == null || each == null || threads.dynamic) continue;
    const count = threads.written === 'nt' ? each : Math.max(ranks, 1) * each;
    const shown =
      ranks > 1 && threads.written !== 'nt' ? `-ntmpi ${ranks} -ntomp ${each}` : `-${threads.written} ${each}`;
    return { count, text: shown, place: { words: [threads.word, threads.valueWord ?? threads.word] } };
  }
  const { env, command, args } = container;
  const set = env.find(({ name }) => name === 'OMP_NUM_THREADS')?.value;
  const count = countIn(set?.value);
  // A command may set it again.
  if (set === undefined || count == null || isTemplated(set.at)) return undefined;
  if ([...command, ...args].some(({ value }) => value.includes('OMP_NUM_THREADS'))) return undefined;
  return { count, text: `OMP_NUM_THREADS=${count}`, place: { value: set.at } };
}
