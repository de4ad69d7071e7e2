import { type FlagMeaning, flagRecords, variablesOf } from '../catalog/flag-records.ts';
import { lazy } from '../yaml/lazy.ts';
import { once } from '../yaml/once.ts';
import { meaningOf } from './flag-meaning.ts';
import { readFlags } from './flags.ts';
import { hasUnknown, positional } from './model-server.ts';
import type { ProcessInput } from './processes.ts';
import { recognizeProgram } from './programs.ts';
import { allCommands, readCommandLine, type SimpleCommand, type Word } from './shell.ts';

/** How many devices one model server spreads its model over, according to its container. */
export interface Sharding {
  /** The number of devices that share one layer. */
  readonly tensor: number;
  /** All its devices in this pod: tensor × pipeline × data; null if a factor is unknown. */
  readonly devices: number | null;
  /** The flag or variable, as written. */
  readonly text: string;
  /** The flag's first and last word; undefined for an environment variable. */
  readonly words: readonly [Word, Word] | undefined;
  /** The name of the environment variable, if it is one. */
  readonly variable: string | undefined;
  /** The server is a part of a larger group: other pods hold the rest of its devices. */
  readonly spansPods: boolean;
}

/**
 * How a container's model server is sharded: vLLM, SGLang, TGI, LMDeploy, TensorRT-LLM, NIM. Undefined if nothing sets it, if a template or an
 * expansion sets it, and if several commands do, since those are separate servers.
 */
export const findSharding = once((input: ProcessInput): Sharding | undefined => {
  const line = readCommandLine(input.command, input.args, input.env);
  const joinsRay = input.env.some(({ name }) => name.startsWith('RAY_'));
  const sizeOf = joinsRay ? tensorFlag : sizeFlag;
  const commands = allCommands(line.statements).filter((command) => sizeOf(command) !== undefined);
  const spansPods = otherPods().test([...input.command, ...input.args, ...input.env.map(({ name }) => name)].join(' '));
  const [only, ...others] = commands;
  if (others.length > 0 || !line.complete) return undefined;
  if (only !== undefined) return shardingOfCommand(only, spansPods);
  const set = input.env.filter(({ name }) => variablesOf('tensor-parallel').has(name));
  const [variable] = set;
  const tensor = countOf(variable?.value);
  if (variable === undefined || set.length > 1 || tensor === undefined) return undefined;
  const pipeline = input.env.find(({ name }) => variablesOf('pipeline-parallel').has(name));
  const stages = pipeline === undefined ? 1 : countOf(pipeline.value);
  const text = `${variable.name}=${variable.value}`;
  const devices = stages === undefined ? null : tensor * stages;
  return { tensor, devices, text, words: undefined, variable: variable.name, spansPods };
});

/** A model server that uses one device, because nothing on its command line or in its environment says otherwise. */
export interface SingleDeviceServer {
  readonly program: string;
  /** The flag that spreads its model over several devices; empty if nothing does. */
  readonly flag: string;
  /** The first and last word of its command, or of its arguments if the image starts it; undefined without a command line. */
  readonly words: readonly [Word, Word] | undefined;
  /** A variable that looks like the flag, but that the server does not read. */
  readonly ignored: string | undefined;
}

/** Servers whose tensor parallel size is 1 by default. Text Generation Inference, llama.cpp and Ollama use all devices. */
const singleDevice: ReadonlyMap<string, string> = new Map([
  ['vllm', '--tensor-parallel-size'],
  ['sglang', '--tp-size'],
  ['lmdeploy', '--tp'],
  ['trtllm-serve', '--tp_size'],
  ['aphrodite', '--tensor-parallel-size'],
  // https://github.com/huggingface/text-embeddings-inference/issues/349
  ['text-embeddings-router', ''],
]);

const spreads: readonly FlagMeaning[] = [
  ...(['tensor-parallel', 'pipeline-parallel', 'data-parallel', 'local-data-parallel'] as const),
  ...(['data-parallel-attention', 'pod-group', 'settings-file', 'world-size'] as const),
];

/**
 * The only server of a container, if it certainly uses one device. Undefined if a flag, a variable, a settings file or an unknown word may
 * spread it over several.
 * @param entrypoint the server that the image starts if there is no command
 * @param isPlain whether the image starts it without a script that may read variables
 */
export function findSingleDevice(
  input: ProcessInput,
  entrypoint: string | undefined,
  isPlain = false,
): SingleDeviceServer | undefined {
  const { statements, complete, script } = readCommandLine(input.command, input.args, input.env);
  const commands = allCommands(statements).filter(({ words }) => words.length > 0);
  const servers = commands.filter((command) => recognizeProgram([command])?.use === 'serving');
  const byImage = servers.length === 0 && input.command.length === 0 && !script ? commands : [];
  const [command, ...others] = servers.length > 0 ? servers : byImage;
  const isBare = input.command.length === 0 && input.args.length === 0;
  if (!complete || (command === undefined && !isBare) || others.length > 0) return undefined;
  if (commands.some(({ background }) => background)) return undefined;
  const program = command !== undefined && servers.length > 0 ? recognizeProgram([command])?.program : entrypoint;
  const flag = singleDevice.get(program ?? '');
  const words = command?.words ?? [];
  const first = words[0];
  const last = words.at(-1);
  if (program === undefined || flag === undefined) return undefined;
  const flags = readFlags(words);
  if (flags.some((one) => spreads.some((means) => meaningOf(one, means, program) !== undefined))) return undefined;
  if (hasUnknown(words, flags, positional(words))) return undefined;
  const names = input.env.map(({ name }) => name);
  const line = [...input.command, ...input.args].join(' ');
  const text = `${line} ${names.join(' ')}`;
  // Entrypoints of custom images pass variables on as flags.
  const readsFlags = /^(?:vllm|sglang)$/.test(program) && (servers.length > 0 || isPlain);
  // The stages of vLLM-Omni have a GPU each.
  if (otherPods().test(text) || /--omni\b|LWS_/.test(text) || sizeName.test(readsFlags ? line : text)) return undefined;
  // The entrypoint of an image may count the devices itself, or read the number.
  if (isBare && /(?:^|_)(?:GPUS?|SHARDS?|WORLD|CONFIG|COMMAND|FLAGS)(?:_|$)/m.test(bareNames(input))) return undefined;
  const ignored = names.find((name) => sizeName.test(name));
  return { program, flag, words: first && last && [first, last], ignored };
}

const sizeName = /PARALLEL|(?:^|_)TP(?:_|$)|_ARGS\b|_OPTS\b/;

/** The names of variables that an entrypoint may read, without those of the device plugin and of libraries. */
function bareNames({ env }: ProcessInput): string {
  const own = env.filter(({ name }) => !/^(?:NVIDIA|CUDA|NCCL|HF|HUGGING|TORCH|PYTORCH)_/.test(name));
  return own.map(({ name }) => name).join('\n');
}

/** Matches signs that a server is a part of a group of pods. */
const otherPods = lazy(() => {
  const flags = flagRecords.filter(({ means }) => means === 'pod-group').map(({ flag }) => flag);
  // Long flags also match as prefixes of longer ones; short flags must be whole words.
  const patterns = flags.map((flag) => (flag.length > 3 ? flag.replaceAll('-', '[-_]') : String.raw`${flag}\b`));
  const variables = [...variablesOf('pod-group')].map((variable) => variable.replace('*', ''));
  return new RegExp(
    String.raw`\bray +start\b|--?(?:${patterns.join('|')})|${variables.join('|')}|multi-node-serving|leader`,
  );
});

function tensorFlag({ words }: SimpleCommand): ReturnType<typeof readFlags>[number] | undefined {
  return readFlags(words).find(
    (flag) => flag.word.text.startsWith('-') && meaningOf(flag, 'tensor-parallel') !== undefined,
  );
}

/** The flag with the tensor parallel size, or the one that spreads a server without it over devices of this container. */
function sizeFlag(command: SimpleCommand): ReturnType<typeof readFlags>[number] | undefined {
  return tensorFlag(command) ?? (isAlone(command) ? readFlags(command.words).find(isOtherSize) : undefined);
}

function isOtherSize({ name }: ReturnType<typeof readFlags>[number]): boolean {
  return name === 'pipeline-parallel-size' || name === 'data-parallel-size' || /^[pd]p(?:-size)?$/.test(name);
}

/** Whether a command is a server, or the arguments for one, that no other pod and no cluster of Ray helps. */
function isAlone(command: SimpleCommand): boolean {
  const { words } = command;
  const program = recognizeProgram([command])?.program ?? null;
  const isServer =
    program === null ? words[0]?.text.startsWith('-') === true : /^(?:vllm|sglang|dynamo)$/.test(program);
  const names = new Set(readFlags(words).map(({ name }) => name));
  // Trainers have short names for sizes of their own.
  const isNamed = program !== null || names.has('pipeline-parallel-size') || names.has('data-parallel-size');
  const isShared = words.some(({ text }) =>
    /ray\b|^--?data[-_]parallel[-_](?!size$|size=)|^--(?:headless|enable-dp-attention)/.test(text),
  );
  return isServer && isNamed && !isShared;
}

function shardingOfCommand(command: SimpleCommand, spansPods: boolean): Sharding | undefined {
  const { words } = command;
  const flags = readFlags(words).filter(({ word }) => word.text.startsWith('-'));
  const flag = sizeFlag(command);
  const isTensor = tensorFlag(command) !== undefined;
  const written = flag?.dynamic === true ? undefined : countOf(flag?.value);
  if (flag === undefined || written === undefined) return undefined;
  const tensor = isTensor ? written : 1;
  const withMeaning = (means: FlagMeaning) => flags.filter((one) => meaningOf(one, means) !== undefined);
  const factor = (means: FlagMeaning): number | null => {
    const last = withMeaning(means).at(-1);
    if (last === undefined) return 1;
    return last.dynamic ? null : (countOf(last.value) ?? null);
  };
  // With data-parallel attention, its replicas share the devices of the tensor group.
  const attention = withMeaning('data-parallel-attention').length > 0;
  const local = withMeaning('local-data-parallel').length > 0;
  const data = attention ? 1 : factor(local ? 'local-data-parallel' : 'data-parallel');
  const pipeline = factor('pipeline-parallel');
  // A file of settings, a variable with more flags, and another kind of parallelism may add devices.
  const isOpen =
    withMeaning('settings-file').length > 0 ||
    flags.some(({ written }) => /^-*(?:prefill[-_]context[-_]parallel[-_]size|pcp)$/.test(written)) ||
    words.some(
      ({ text, dynamic }, at) => dynamic && /^\$[\w{(]/.test(text) && !/^--?[^=]*$/.test(words[at - 1]?.text ?? ''),
    );
  const next = words[words.indexOf(flag.word) + 1];
  const last = flag.word.text.includes('=') || next === undefined ? flag.word : next;
  return {
    tensor,
    devices: isOpen || data === null || pipeline === null ? null : tensor * data * pipeline,
    text: last === flag.word ? flag.word.text : `${flag.word.text} ${last.text}`,
    words: [flag.word, last],
    variable: undefined,
    spansPods: spansPods || local,
  };
}

function countOf(value: string | undefined): number | undefined {
  return value !== undefined && /^[1-9]\d{0,3}$/.test(value) ? Number(value) : undefined;
}
