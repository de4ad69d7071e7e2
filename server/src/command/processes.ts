import { type Flag, readFlags } from './flags.ts';
import { allCommands, baseName, readCommandLine, type SimpleCommand, type Word } from './shell.ts';

/** The processes that a container's command line says it starts in its pod, one for each device. */
export interface LocalProcesses {
  /** `launch`: a launcher starts them (torchrun); `shard`: one server splits the model over them; `world`: a script is told how many there are. */
  readonly kind: 'launch' | 'shard' | 'world';
  /** `all`: as many as there are devices; null where the number is not known. */
  readonly count: number | 'all' | null;
  /** What says so, as it is written: `--nproc-per-node=8`. */
  readonly text: string;
  /** Its first and last word; undefined for an environment variable. */
  readonly words: readonly [Word, Word] | undefined;
}

export interface ProcessInput {
  readonly command: readonly string[];
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string | undefined }[];
}

/** Everything on a command line and in the environment that tells how many processes run side by side in the pod. */
export function findLocalProcesses(input: ProcessInput): readonly LocalProcesses[] {
  const commands = allCommands(readCommandLine(input.command, input.args).statements);
  return [...commands.flatMap(ofCommand), ...input.env.flatMap(({ name, value }) => ofEnv(name, value))];
}

/** How many nodes a launcher is told that there are (`--nnodes=4`); a range of an elastic launch is unknown. */
export function findNodeCounts(input: ProcessInput): readonly LocalProcesses[] {
  const commands = allCommands(readCommandLine(input.command, input.args).statements);
  return commands.flatMap((command) => {
    const launcher = launcherOf(command);
    const names = launcher === 'accelerate' ? ['num-machines'] : launcher === 'deepspeed' ? ['num-nodes'] : ['nnodes'];
    if (launcher === undefined) return [];
    return readFlags(command.words)
      .filter(({ name }) => names.includes(name))
      .map((flag) => said('launch', flag, command));
  });
}

/** The processes that mpirun is told to start over all hosts, and whether it may put several on one slot. */
export function findMpiProcesses(
  input: ProcessInput,
): readonly (LocalProcesses & { readonly oversubscribes: boolean })[] {
  const commands = allCommands(readCommandLine(input.command, input.args).statements);
  return commands.flatMap((command) => {
    const at = command.words.findIndex(({ text }) => /^(mpirun|mpiexec|horovodrun)$/.test(baseName(text)));
    if (at < 0) return [];
    // Flags of the program that is started come after it, so only the first count is mpirun's.
    const flag = readFlags(command.words.slice(at)).find(({ name }) => /^(np|n|num-proc)$/.test(name));
    const oversubscribes = command.words.some(({ text }) => /oversubscribe/.test(text));
    return flag === undefined ? [] : [{ ...said('launch', flag, command), oversubscribes }];
  });
}

function ofCommand(command: SimpleCommand): readonly LocalProcesses[] {
  const launcher = launcherOf(command);
  const flags = readFlags(command.words);
  const machines = flags.find(({ name }) => name === 'num-machines');
  return flags.flatMap((flag): LocalProcesses[] => {
    switch (flag.name) {
      case 'nproc-per-node':
        return [said('launch', flag, command)];
      case 'num-gpus':
        return launcher === 'deepspeed' ? [said('launch', flag, command)] : [];
      case 'num-processes': {
        if (launcher !== 'accelerate') return [];
        const all = said('launch', flag, command);
        const nodes = machines === undefined ? 1 : countOf(machines.value, machines.dynamic);
        const count =
          typeof all.count === 'number' && typeof nodes === 'number' && nodes > 0 ? all.count / nodes : null;
        return [{ ...all, count: count !== null && Number.isInteger(count) ? count : null }];
      }
      case 'tensor-parallel-size':
      case 'tp-size':
      case 'num-shard':
        return [said('shard', flag, command)];
      case 'world-size':
        return [said('world', flag, command)];
      default:
        return [];
    }
  });
}

function ofEnv(name: string, value: string | undefined): readonly LocalProcesses[] {
  const kind = environment.get(name);
  if (kind === undefined) return [];
  return [
    { kind, count: countOf(value, value?.includes('$') ?? true), text: `${name}=${value ?? ''}`, words: undefined },
  ];
}

const environment: ReadonlyMap<string, LocalProcesses['kind']> = new Map([
  ['PET_NPROC_PER_NODE', 'launch'],
  ['NPROC_PER_NODE', 'launch'],
  ['NUM_SHARD', 'shard'],
  ['TENSOR_PARALLEL_SIZE', 'shard'],
]);

function said(kind: LocalProcesses['kind'], flag: Flag, { words }: SimpleCommand): LocalProcesses {
  const next = words[words.indexOf(flag.word) + 1];
  const last = flag.value !== undefined && !flag.word.text.includes('=') && next !== undefined ? next : flag.word;
  const text = last === flag.word ? flag.word.text : `${flag.word.text} ${last.text}`;
  return { kind, count: countOf(flag.value, flag.dynamic), text, words: [flag.word, last] };
}

function countOf(value: string | undefined, dynamic: boolean): number | 'all' | null {
  if (value === undefined || dynamic) return null;
  if (/^(auto|gpu)$/.test(value)) return 'all';
  return /^\d{1,5}$/.test(value) ? Number(value) : null;
}

/** The launcher among a command's words, through interpreters and `python -m`. */
function launcherOf({ words }: SimpleCommand): 'torchrun' | 'accelerate' | 'deepspeed' | undefined {
  for (const { text } of words) {
    const name = baseName(text);
    if (/^(torchrun|torch\.distributed\.(run|launch))$/.test(name)) return 'torchrun';
    if (/^(accelerate|accelerate\.commands\.launch)$/.test(name)) return 'accelerate';
    if (name === 'deepspeed') return 'deepspeed';
  }
  return undefined;
}
