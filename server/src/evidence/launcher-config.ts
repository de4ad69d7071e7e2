import { type Flag, readFlags } from '../command/flags.ts';
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

interface LaunchFile {
  readonly settings: ReadonlyMap<string, string | undefined>;
  readonly flags: readonly Flag[];
  readonly file: string;
  /** The words that name the file. */
  readonly words: readonly [Word, Word];
}

/** The settings of a container's only `accelerate launch`, if its file is known. */
function launchFile(container: Container): LaunchFile | undefined {
  const files = container.settingsFiles ?? [];
  if (files.length === 0) return undefined;
  const [only, ...others] = commandsIn(container).filter(
    ({ words }) =>
      words.some(({ text }) => baseName(text) === 'accelerate') && words.some(({ text }) => text === 'launch'),
  );
  if (only === undefined || others.length > 0) return undefined;
  const flags = readFlags(only.words);
  const named = flags.find(({ name }) => name === 'config-file');
  const file = files.find(({ path }) => path === named?.value);
  if (named === undefined || file === undefined) return undefined;
  const settings = new Map(settingsIn(file).map(({ name, value }) => [name, value]));
  return { settings, flags, file: baseName(file.path), words: [named.word, named.valueWord ?? named.word] };
}

/** The rank that a file of settings gives to the machine of a launch on several, unless a flag says another. */
export function configuredRank(container: Container): Omit<ConfiguredLaunch, 'count'> | undefined {
  const { settings, flags, file, words } = launchFile(container) ?? {};
  const [rank, machines] = [settings?.get('machine-rank'), countIn(settings?.get('num-machines') ?? '1')];
  if (rank === undefined || !/^\d{1,5}$/.test(rank) || machines == null || machines < 2) return undefined;
  // A rendezvous gives the ranks, and other launchers of DeepSpeed start the other machines.
  if ((settings?.get('rdzv-backend') ?? 'static') !== 'static' || startsOthers(settings)) return undefined;
  if (words === undefined || flags?.some(({ name }) => /^(?:machine-rank|num-machines|rdzv)/.test(name)))
    return undefined;
  return { text: `machine_rank ${rank} in ${file}`, words };
}

function startsOthers(settings: LaunchFile['settings'] | undefined): boolean {
  return [...(settings?.keys() ?? [])].some((name) => /hostfile|multinode-launcher$/.test(name));
}

/** The number of processes in the file of a container's only `accelerate launch`, unless its flags say another. */
export function configuredLaunch(container: Container): ConfiguredLaunch | undefined {
  const { settings, flags, file, words } = launchFile(container) ?? {};
  if (settings === undefined || words === undefined) return undefined;
  if (flags?.some(({ name }) => /^(?:num-|cpu$|multi-gpu$)/.test(name))) return undefined;
  const processes = countIn(settings.get('num-processes'));
  const machines = countIn(settings.get('num-machines') ?? '1');
  const isCpu =
    settings.get('use-cpu') === 'true' || !/gpu|deepspeed|fsdp/i.test(settings.get('distributed-type') ?? '');
  if (processes == null || machines == null || machines === 0 || isCpu || processes % machines !== 0) return undefined;
  return { count: processes / machines, text: `num_processes ${processes} in ${file}`, words };
}
