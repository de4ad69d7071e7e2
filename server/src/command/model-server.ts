import { readFlags } from './flags.ts';
import type { ProcessInput } from './processes.ts';
import { allCommands, readCommandLine, type Word } from './shell.ts';

/** What a model server is told of the memory that it will use. */
export interface ModelServer {
  /** As it is written: `organisation/model`, a path, an address; undefined where the command line names none. */
  readonly model: string | undefined;
  /** Bytes of one parameter: of the 16 bits that most models are published in, or what a flag says; null where the format is not known. */
  readonly weightBytes: number | null;
  /** Tokens of the longest request; undefined: the model's own limit; null where it is told in words that are not understood. */
  readonly context: number | null | undefined;
  /** Somebody has sized it for many requests at a time, or for a part in a larger system: more memory is of use. */
  readonly tuned: boolean;
}

/**
 * What the server of a container (vLLM, SGLang, TGI, KServe's) says of its model. Undefined where a script cannot be read to its end, or where
 * several models are named: they share the device in ways that no flag tells.
 */
export function readModelServer(input: ProcessInput): ModelServer | undefined {
  const line = readCommandLine(input.command, input.args);
  if (!line.complete) return undefined;
  const words = allCommands(line.statements).flatMap((command) => command.words);
  const flags = readFlags(words).filter(({ word }) => word.text.startsWith('-'));
  const value = (flag: (typeof flags)[number]) => expand(flag.value, input);

  const written = flags.filter(({ name }) => modelFlags.has(name)).map(value);
  const named = written.length > 0 ? written : positional(words).map(({ text }) => expand(text, input));
  const models = named.length > 0 ? named : [variable('MODEL_ID', input)];
  if (new Set(models).size > 1) return undefined;

  const length = flags.filter(({ name }) => contextFlags.has(name)).at(-1);
  return {
    model: models[0],
    weightBytes: bytesOf(flags.filter(({ name }) => formatFlags.has(name)).map(value)),
    context: length === undefined ? undefined : tokens(value(length)),
    tuned: flags.some(({ name }) => tuningFlags.test(name)),
  };
}

const modelFlags: ReadonlySet<string> = new Set(['model', 'model-path', 'model-id']);
const formatFlags: ReadonlySet<string> = new Set(['quantization', 'quantize', 'q', 'dtype', 'load-format']);
const contextFlags: ReadonlySet<string> = new Set([
  'max-model-len',
  'context-length',
  'max-total-tokens',
  'max-length',
]);

/** Quantisation by a recipe has scales and layers of its own beside the bits, so no size is known. */
const formatBytes: Readonly<Record<string, number>> = {
  auto: 2,
  half: 2,
  float16: 2,
  bfloat16: 2,
  safetensors: 2,
  float: 4,
  float32: 4,
  fp8: 1,
};

/** Weights that are made smaller while they are loaded are so whatever type the server computes in. */
function bytesOf(formats: readonly (string | undefined)[]): number | null {
  const bytes = formats.map((format) => formatBytes[format?.toLowerCase() ?? '']);
  if (bytes.includes(undefined)) return null;
  return bytes.includes(1) ? 1 : Math.max(2, ...bytes.map((one) => one ?? 2));
}

const tuningFlags =
  /^(?:max-num-seqs|max-num-batched-tokens|max-running-requests|max-concurrent-requests|max-batch|kv-transfer|kv-cache-memory|num-gpu-blocks|speculative|enable-lora|lora|data-parallel|dp|cpu-offload|swap-space-gb|disaggregation|pipeline-parallel|pp)/;

/** `vllm serve organisation/model`, and images that start a server with what they are given. */
function positional(words: readonly Word[]): readonly Word[] {
  const serve = words.findIndex(({ text }) => text === 'serve');
  const first = words[serve + 1];
  return first === undefined || first.text.startsWith('-') ? [] : [first];
}

/** A word that is one variable of the container, `$(NAME)`, `$NAME` or `${NAME}`, has its value; other expansions are not known. */
function expand(text: string | undefined, input: ProcessInput): string | undefined {
  const name = /^\$(?:\((\w+)\)|\{(\w+)\}|(\w+))$/
    .exec(text ?? '')
    ?.slice(1)
    .find(Boolean);
  if (name !== undefined) return variable(name, input);
  return text?.includes('$') ? undefined : text;
}

function variable(name: string, { env }: ProcessInput): string | undefined {
  return env.find((one) => one.name === name)?.value;
}

/** `32768`, `32k` (thousands) and `32K` (of 1,024), as vLLM reads them. */
function tokens(text: string | undefined): number | null {
  const [, digits, unit = ''] = /^(\d{1,8})([kK]?)$/.exec(text ?? '') ?? [];
  if (digits === undefined || Number(digits) === 0) return null;
  return Number(digits) * (unit === 'k' ? 1000 : unit === 'K' ? 1024 : 1);
}
