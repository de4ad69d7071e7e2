import { readFlags } from '../command/flags.ts';
import { baseName, type Word } from '../command/shell.ts';
import { settingsIn } from '../command/training-flags.ts';
import { countIn } from '../model/count.ts';
import { commandsIn } from '../model/process-input.ts';
import type { Container } from '../model/workload.ts';

/** The processes on one node that a file of settings makes accelerate start. */
export interface ConfiguredLaunch {
  readonly count: number;
  readonly text: string;
  /** The words that name the file. */
  readonly words: readonly [Word, Word];
}

/** The number of processes in the file of a container's only `accelerate launch`, unless its flags say another. */
export function configuredLaunch(container: Container): ConfiguredLaunch | undefined {
  const files = container.settingsFiles ?? [];
  if (files.length === 0) return undefined;
  const launches = commandsIn(container).filter(
    ({ words }) =>
      words.some(({ text }) => baseName(text) === 'accelerate') && words.some(({ text }) => text === 'launch'),
  );
  const [only, ...others] = launches;
  if (only === undefined || others.length > 0) return undefined;
  const flags = readFlags(only.words);
  const named = flags.find(({ name }) => name === 'config-file');
  const file = files.find(({ path }) => path === named?.value);
  if (named === undefined || file === undefined || flags.some(({ name }) => /^(?:num-|cpu$|multi-gpu$)/.test(name)))
    return undefined;
  const settings = new Map(settingsIn(file).map(({ name, value }) => [name, value]));
  const processes = countIn(settings.get('num-processes'));
  const machines = countIn(settings.get('num-machines') ?? '1');
  const isCpu =
    settings.get('use-cpu') === 'true' || !/gpu|deepspeed|fsdp/i.test(settings.get('distributed-type') ?? '');
  if (processes == null || machines == null || machines === 0 || isCpu || processes % machines !== 0) return undefined;
  const text = `num_processes ${processes} in ${baseName(file.path)}`;
  return { count: processes / machines, text, words: [named.word, named.valueWord ?? named.word] };
}
