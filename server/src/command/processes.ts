import { type FlagMeaning, variablesOf } from '../catalog/flag-records.ts';
import { launcherNames } from '../catalog/program-records.ts';
import { once } from '../yaml/once.ts';
import { meaningOf, programsWith } from './flag-meaning.ts';
import { type Flag, readFlags } from './flags.ts';
import { allCommands, baseName, readCommandLine, type SimpleCommand, type Word } from './shell.ts';

/** The processes that a container's command line starts in its pod, one per device. */
export interface LocalProcesses {
  /** `launch`: a launcher starts them (torchrun); `shard`: one server splits the model over them; `world`: a script receives their number. */
  readonly kind: 'launch' | 'shard' | 'world';
  /** `all`: one per device; null if the number is unknown. */
  readonly count: number | 'all' | null;
  /** The flag or variable, as written: `--nproc-per-node=8`. */
  readonly text: string;
  /** The flag's first and last word; undefined for an environment variable. */
  readonly words: readonly [Word, Word] | undefined;
}

/** The command line and the environment of a container. */
export interface ProcessInput {
  readonly command: readonly string[];
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string | undefined }[];
}

const inputs = new Map<string, ProcessInput>();
/** A project has fewer command lines; a session may see many. Long scripts are rarely repeated. */
const maxInputs = 500;
const maxInput = 2000;

/**
 * The input that is equal to the given one and was seen before, or else this one. Most containers run what another one runs, or what they ran
 * before the last edit, so everything that is computed once per input is known.
 */
export function sharedInput(input: ProcessInput): ProcessInput {
  const key = JSON.stringify([input.command, input.args, input.env]);
  if (key.length > maxInput) return input;
  const known = inputs.get(key);
  if (known !== undefined) return known;
  if (inputs.size >= maxInputs) inputs.clear();
  inputs.set(key, input);
  return input;
}

/** Everything on a command line and in the environment that sets how many processes run in parallel in the pod. */
export const findLocalProcesses = once((input: ProcessInput): readonly LocalProcesses[] => {
  const commands = allCommands(readCommandLine(input.command, input.args, input.env).statements);
  return [
    ...commands.flatMap(processesInCommand),
    ...input.env.flatMap(({ name, value }) => processesInEnv(name, value)),
  ];
});

/** The numbers of nodes that launchers expect (`--nnodes=4`); null for the range of an elastic launch. */
export const findNodeCounts = once((input: ProcessInput): readonly LocalProcesses[] => {
  const commands = allCommands(readCommandLine(input.command, input.args, input.env).statements);
  return commands.flatMap((command) => {
    const launcher = launcherOf(command, 'nodes');
    const script = launcher === undefined ? -1 : scriptOf(command, launcher);
    return (
      readFlags(command.words)
        .filter((flag) =>
          launcher === undefined ? ownNodes.has(flag.name) : meaningOf(flag, 'nodes', launcher) !== undefined,
        )
        // What follows the script are the script's own flags.
        .filter((flag) => script < 0 || ownNodes.has(flag.name) || command.words.indexOf(flag.word) < script)
        .map((flag) => processesOf('launch', flag, command))
    );
  });
});

/** A trainer of PyTorch Lightning starts its own processes, and waits for those of the other nodes. */
const ownNodes: ReadonlySet<string> = new Set(['trainer.num-nodes']);

/** The processes that mpirun starts on all hosts. */
export interface MpiProcesses extends LocalProcesses {
  /** Whether it may start several per slot. */
  readonly oversubscribes: boolean;
  /** mpirun, or another program that starts ranks. */
  readonly program: string;
  /** The launcher with its options and the program that it starts. */
  readonly line: string;
}

/** The processes that each mpirun of a command line starts, if it says how many. */
export const findMpiProcesses = once((input: ProcessInput): readonly MpiProcesses[] => {
  const commands = allCommands(readCommandLine(input.command, input.args, input.env).statements);
  return commands.flatMap((command) => {
    const launchers = programsWith('ranks');
    const at = command.words.findIndex(({ text }) => launchers.has(baseName(text)));
    if (at < 0) return [];
    const launcher = baseName(command.words[at]?.text ?? '');
    // The flags of the started program follow, so only the first count is mpirun's.
    const flag = readFlags(command.words.slice(at)).find((one) => meaningOf(one, 'ranks', launcher) !== undefined);
    const oversubscribes = command.words.some(({ text }) => /oversubscribe/.test(text));
    const line = command.words
      .slice(at)
      .map(({ text }) => text)
      .join(' ');
    return flag === undefined
      ? []
      : [{ ...processesOf('launch', flag, command), oversubscribes, program: launcher, line }];
  });
});

function processesInCommand(command: SimpleCommand): readonly LocalProcesses[] {
  const launcher = launcherOf(command, 'nodes') ?? launcherOf(command, 'processes-per-node');
  const flags = readFlags(command.words);
  const ofScript = launchScript(command);
  if (ofScript !== undefined) return [ofScript];
  const script = command.words.findIndex(({ text }) => text.endsWith('.py'));
  const machines = flags.find((flag) => meaningOf(flag, 'nodes', launcher) !== undefined);
  if (launchesHere(command, flags))
    return flags
      .filter((flag) => meaningOf(flag, 'ranks', horovod) !== undefined)
      .slice(0, 1)
      .map((flag) => processesOf('launch', flag, command))
      .map((one) => ({ ...one, text: `${horovod} ${one.text}` }));
  const own = ownLaunch(command, flags);
  if (own !== undefined) return [own];
  const onGpus = flags.some(({ name, value }) => name === 'accelerator' && (value === 'gpu' || value === 'cuda'));
  return flags.flatMap((flag): LocalProcesses[] => {
    // PyTorch Lightning starts a process per device.
    if (onGpus && flag.name === 'devices') return [processesOf('launch', flag, command)];
    // What follows the script are the script's own flags.
    const isOfScript = script >= 0 && command.words.indexOf(flag.word) > script;
    const is = (means: FlagMeaning) => meaningOf(flag, means, isOfScript ? undefined : launcher) !== undefined;
    if (is('processes-per-node')) return [processesOf('launch', flag, command)];
    if (launcher === undefined && isDeviceList(flag, command)) {
      const count = flag.value?.split(',').length ?? null;
      return [{ ...processesOf('launch', flag, command), count }];
    }
    if (is('processes')) {
      const all = processesOf('launch', flag, command);
      const nodes = machines === undefined ? 1 : countOf(machines.value, machines.dynamic);
      const count = typeof all.count === 'number' && typeof nodes === 'number' && nodes > 0 ? all.count / nodes : null;
      return [{ ...all, count: count !== null && Number.isInteger(count) ? count : null }];
    }
    if (flag.word.text.startsWith('-') && is('tensor-parallel')) return [processesOf('shard', flag, command)];
    // As a variable, it counts the processes of all nodes.
    return is('world-size') && !flag.isVariable ? [processesOf('world', flag, command)] : [];
  });
}

/** The processes that a trainer starts by itself, one per GPU. */
function ownLaunch(command: SimpleCommand, flags: readonly Flag[]): LocalProcesses | undefined {
  const programs = command.words.slice(0, 4).map(({ text }) => baseName(text));
  // https://docs.ultralytics.com/modes/train/#multi-gpu-training
  if (programs.includes('yolo')) {
    const list = flags.find(({ name, value = '' }) => name === 'device' && deviceList.test(value));
    return list && { ...processesOf('launch', list, command), count: list.value?.split(',').length ?? null };
  }
  // https://github.com/MIC-DKFZ/nnUNet/blob/master/documentation/how_to_use_nnunet.md
  if (programs.includes('nnUNetv2_train')) {
    const count = flags.find(({ name }) => name === 'num-gpus');
    return count && processesOf('launch', count, command);
  }
  // https://github.com/pytorch/examples/blob/main/imagenet/main.py
  const spawn = flags.find(
    ({ name, value }) => name === 'multiprocessing-distributed' && !/^(?:false|0|no)$/i.test(value ?? ''),
  );
  if (spawn !== undefined && !flags.some(({ name }) => name === 'gpu'))
    return { ...processesOf('launch', spawn, command), count: 'all' };
  // The first versions of PyTorch Lightning: `--gpus 4 --accelerator ddp`, `trainer.gpus=4 trainer.strategy=ddp`.
  const isParallel = flags.some(({ name, value = '' }) => ddpFlags.test(name) && /^ddp/.test(value));
  const gpus = isParallel
    ? flags.find(({ name, value = '' }) => /^(?:trainer\.)?gpus$/.test(name) && /^\d{1,2}$/.test(value))
    : undefined;
  return gpus && processesOf('launch', gpus, command);
}

const deviceList = /^\[?\d{1,2}(?:,\d{1,2}){1,31}\]?$/;
const ddpFlags = /^(?:trainer\.)?(?:accelerator|strategy|distributed-backend|plugins)$/;

/**
 * OpenMMLab's script for torchrun and its many copies take the number of GPUs as a word: `dist_train.sh config.py 8`.
 * https://github.com/open-mmlab/mmdetection/blob/main/tools/dist_train.sh
 */
function launchScript({ words }: SimpleCommand): LocalProcesses | undefined {
  const at = words.findIndex(({ text }) => /^dist_(?:train|test)\.sh$/.test(baseName(text)));
  const number = at < 0 ? undefined : words.slice(at + 1, at + 4).find(({ text }) => /^\d{1,3}$/.test(text));
  if (number === undefined) return undefined;
  const text = `${baseName(words[at]?.text ?? '')} … ${number.text}`;
  return { kind: 'launch', count: Number(number.text), text, words: [number, number] };
}

/** PaddlePaddle's launcher starts a process for each device of a list: `--gpus 0,1`. */
function isDeviceList({ name, value = '', dynamic }: Flag, { words }: SimpleCommand): boolean {
  const isList = /^(?:gpus|devices)$/.test(name) && !dynamic && /^\d{1,2}(?:,\d{1,2}){1,31}$/.test(value);
  return isList && words.some(({ text }) => launcherNames().get(baseName(text)) === 'paddle');
}

const horovod = 'horovodrun';

/** Whether horovodrun starts all its processes in this container: without hosts, or with localhost alone. They have a GPU each. */
function launchesHere({ words }: SimpleCommand, flags: readonly Flag[]): boolean {
  if (!words.some(({ text }) => baseName(text) === horovod)) return false;
  const hosts = flags.filter(({ name }) => /^(?:h|hosts|hostfile|host-discovery-script)$/.test(name));
  const count = flags.find((flag) => meaningOf(flag, 'ranks', horovod) !== undefined)?.value;
  // With fewer slots than processes, it does not start at all.
  return hosts.every(({ name, value }) => {
    const own = /^localhost(?::(\d+))?$/.exec(value ?? '');
    return own !== null && /^hosts?$|^h$/.test(name) && (own[1] ?? count) === count;
  });
}

function processesInEnv(name: string, value: string | undefined): readonly LocalProcesses[] {
  const kind = variablesOf('processes-per-node').has(name)
    ? 'launch'
    : variablesOf('shards').has(name)
      ? 'shard'
      : undefined;
  if (kind === undefined) return [];
  return [
    { kind, count: countOf(value, value?.includes('$') ?? true), text: `${name}=${value ?? ''}`, words: undefined },
  ];
}

function processesOf(kind: LocalProcesses['kind'], flag: Flag, { words }: SimpleCommand): LocalProcesses {
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

/** The place of the script or module that a launcher starts; -1 if it is unknown. */
function scriptOf({ words }: SimpleCommand, launcher: string): number {
  const at = words.findIndex(({ text }) => launcherNames().get(baseName(text)) === launcher);
  return words.findIndex(({ text }, index) => index > at && /\.py$|^(?:-m|--module)$/.test(text));
}

/** The launcher among a command's words that has flags with a meaning, also behind interpreters and `python -m`. */
function launcherOf({ words }: SimpleCommand, means: FlagMeaning): string | undefined {
  const known = programsWith(means);
  return words
    .map(({ text }) => launcherNames().get(baseName(text)))
    .find((launcher) => launcher !== undefined && known.has(launcher));
}
