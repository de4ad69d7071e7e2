import { readFlags } from './flags.ts';
import type { ProcessInput } from './processes.ts';
import { allCommands, readCommandLine, type SimpleCommand, type Word } from './shell.ts';

/** Over how many devices one model server spreads its model, as far as it is told. */
export interface Sharding {
  /** Devices that one layer is split over. */
  readonly tensor: number;
  /** All of its devices in this pod: tensor x pipeline x data; null where a part is not known, or lies in other pods. */
  readonly devices: number | null;
  /** What says so, as it is written. */
  readonly text: string;
  /** Its first and last word; undefined for an environment variable. */
  readonly words: readonly [Word, Word] | undefined;
  /** The name of the environment variable, where it is one. */
  readonly variable: string | undefined;
  /** A part of a larger group: other pods hold the rest of its devices. */
  readonly spansPods: boolean;
}

/**
 * How a container's model server is sharded: vLLM, SGLang, TGI, LMDeploy, TensorRT-LLM, NIM. Undefined where it is not told, where a
 * template or an expansion tells it, and where several commands tell it, which are servers side by side.
 */
export function findSharding(input: ProcessInput): Sharding | undefined {
  const line = readCommandLine(input.command, input.args);
  const commands = allCommands(line.statements).filter((command) => tensorFlag(command) !== undefined);
  const spansPods = otherPods.test([...input.command, ...input.args, ...input.env.map(({ name }) => name)].join(' '));
  const [only, ...others] = commands;
  if (others.length > 0 || !line.complete) return undefined;
  if (only !== undefined) return ofCommand(only, spansPods);
  const told = input.env.filter(({ name }) => tensorVariables.has(name));
  const [variable] = told;
  const tensor = countOf(variable?.value);
  if (variable === undefined || told.length > 1 || tensor === undefined) return undefined;
  const pipeline = input.env.find(({ name }) => /^(NIM_)?PIPELINE_PARALLEL_SIZE$/.test(name));
  const stages = pipeline === undefined ? 1 : countOf(pipeline.value);
  const text = `${variable.name}=${variable.value}`;
  const devices = stages === undefined ? null : tensor * stages;
  return { tensor, devices, text, words: undefined, variable: variable.name, spansPods };
}

/** What shows that a server is one part of a group of pods. */
const otherPods =
  /\bray +start\b|RAY_ADDRESS|LWS_|--?(?:nnodes|node[-_]rank|dist[-_]init[-_]addr|num[-_]nodes|headless|data[-_]parallel[-_](?:address|rank|start[-_]rank|hybrid[-_]lb|external[-_]lb)|dpa\b|dpr\b)|multi-node-serving|leader|NIM_MULTI_NODE|NIM_NODE_RANK|NIM_NUM_COMPUTE_NODES/;

const tensorNames: ReadonlySet<string> = new Set(['tensor-parallel-size', 'tp-size', 'num-shard', 'tp']);
const pipelineNames: ReadonlySet<string> = new Set(['pipeline-parallel-size', 'pp-size', 'pp']);
const dataNames: ReadonlySet<string> = new Set(['data-parallel-size', 'dp-size', 'dp']);
const localDataNames: ReadonlySet<string> = new Set(['data-parallel-size-local', 'dpl']);
const tensorVariables: ReadonlySet<string> = new Set(['NIM_TENSOR_PARALLEL_SIZE', 'NUM_SHARD']);

function tensorFlag({ words }: SimpleCommand): ReturnType<typeof readFlags>[number] | undefined {
  return readFlags(words).find(({ name, word }) => tensorNames.has(name) && word.text.startsWith('-'));
}

function ofCommand(command: SimpleCommand, spansPods: boolean): Sharding | undefined {
  const { words } = command;
  const flags = readFlags(words).filter(({ word }) => word.text.startsWith('-'));
  const flag = tensorFlag(command);
  const tensor = flag?.dynamic === true ? undefined : countOf(flag?.value);
  if (flag === undefined || tensor === undefined) return undefined;
  const factor = (names: ReadonlySet<string>): number | null => {
    const told = flags.filter(({ name }) => names.has(name)).at(-1);
    if (told === undefined) return 1;
    return told.dynamic ? null : (countOf(told.value) ?? null);
  };
  // With attention that is data-parallel, the replicas of it share the devices of the tensor group.
  const attention = flags.some(({ name }) => name === 'enable-dp-attention');
  const local = flags.some(({ name }) => localDataNames.has(name));
  const data = attention ? 1 : factor(local ? localDataNames : dataNames);
  const pipeline = factor(pipelineNames);
  const next = words[words.indexOf(flag.word) + 1];
  const last = flag.word.text.includes('=') || next === undefined ? flag.word : next;
  return {
    tensor,
    devices: data === null || pipeline === null ? null : tensor * data * pipeline,
    text: last === flag.word ? flag.word.text : `${flag.word.text} ${last.text}`,
    words: [flag.word, last],
    variable: undefined,
    spansPods: spansPods || local,
  };
}

function countOf(value: string | undefined): number | undefined {
  return value !== undefined && /^[1-9]\d{0,3}$/.test(value) ? Number(value) : undefined;
}
