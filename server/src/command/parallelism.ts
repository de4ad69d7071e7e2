import { type FlagMeaning, flagRecords, variablesOf } from '../catalog/flags.ts';
import { lazy } from '../yaml/lazy.ts';
import { meaningOf } from './flag-meaning.ts';
import { readFlags } from './flags.ts';
import type { ProcessInput } from './processes.ts';
import { allCommands, readCommandLine, type SimpleCommand, type Word } from './shell.ts';

/** Over how many devices one model server spreads its model, as far as the container says. */
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
 * How a container's model server is sharded: vLLM, SGLang, TGI, LMDeploy, TensorRT-LLM, NIM. Undefined where nothing says it, where a
 * template or an expansion does, and where several commands do: those are servers side by side.
 */
export function findSharding(input: ProcessInput): Sharding | undefined {
  const line = readCommandLine(input.command, input.args);
  const commands = allCommands(line.statements).filter((command) => tensorFlag(command) !== undefined);
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
}

/** What shows that a server is one part of a group of pods. */
const otherPods = lazy(() => {
  const flags = flagRecords.filter(({ means }) => means === 'pod-group').map(({ flag }) => flag);
  // Long flags may be the start of longer ones; short ones are words.
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

function shardingOfCommand(command: SimpleCommand, spansPods: boolean): Sharding | undefined {
  const { words } = command;
  const flags = readFlags(words).filter(({ word }) => word.text.startsWith('-'));
  const flag = tensorFlag(command);
  const tensor = flag?.dynamic === true ? undefined : countOf(flag?.value);
  if (flag === undefined || tensor === undefined) return undefined;
  const of = (means: FlagMeaning) => flags.filter((one) => meaningOf(one, means) !== undefined);
  const factor = (means: FlagMeaning): number | null => {
    const last = of(means).at(-1);
    if (last === undefined) return 1;
    return last.dynamic ? null : (countOf(last.value) ?? null);
  };
  // With attention that is data-parallel, the replicas of it share the devices of the tensor group.
  const attention = of('data-parallel-attention').length > 0;
  const local = of('local-data-parallel').length > 0;
  const data = attention ? 1 : factor(local ? 'local-data-parallel' : 'data-parallel');
  const pipeline = factor('pipeline-parallel');
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
