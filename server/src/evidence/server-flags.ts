import { isShuffled, isSlip } from '../catalog/spelling.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import type { Flag } from '../command/flags.ts';

/** What is wrong with a flag of a model server. */
export interface WrongFlag {
  readonly flag: Flag;
  /** The name that is meant; undefined if the value is wrong. */
  readonly meant?: string;
  /** What the value must be. Without both, the flag is an option of `docker run`. */
  readonly mustBe?: string;
}

interface ServerFlags {
  /** The names that a slip can mean. */
  readonly known: ReadonlySet<string>;
  /** Names that other servers have for the same, or that read as if they existed. */
  readonly synonyms: ReadonlyMap<string, string>;
  readonly values: ReadonlyMap<string, ValueCheck>;
}

interface ValueCheck {
  readonly accepts: (value: string) => boolean;
  readonly mustBe: string;
}

const fraction: ValueCheck = {
  accepts: (value) => !/^\d+(?:\.\d*)?$|^\.\d+$/.test(value) || (Number(value) > 0 && Number(value) <= 1),
  mustBe: 'between 0 and 1',
};

/** `auto` and names of formats. */
const formats: ReadonlySet<string> = new Set(['auto', 'half', 'float16', 'bfloat16', 'float', 'float32']);

const format: ValueCheck = {
  // Another word may be a format of a later version.
  accepts: (value) =>
    formats.has(value) || !/^(?:fp\d+|bf16|f16|f32|int\d|\d+-?bit|half-precision|float-16)$/i.test(value),
  mustBe: 'auto, half, float16, bfloat16, float or float32',
};

/** https://docs.vllm.ai/en/latest/cli/serve/ */
const ofVllm: ServerFlags = {
  known: wordSet(
    'tensor-parallel-size pipeline-parallel-size data-parallel-size enable-expert-parallel max-model-len',
    'max-num-seqs max-num-batched-tokens gpu-memory-utilization quantization kv-cache-dtype swap-space',
    'served-model-name trust-remote-code enable-prefix-caching enable-chunked-prefill enforce-eager',
    'tool-call-parser enable-auto-tool-choice chat-template reasoning-parser cpu-offload-gb load-format',
    'download-dir tokenizer-mode distributed-executor-backend speculative-config limit-mm-per-prompt max-lora-rank',
    'enable-lora lora-modules disable-log-requests disable-log-stats block-size',
  ),
  synonyms: new Map([
    ['max-model-length', 'max-model-len'],
    ['gpu-mem-utilization', 'gpu-memory-utilization'],
    ['gpu-memory-util', 'gpu-memory-utilization'],
    ['gpu-utilization', 'gpu-memory-utilization'],
    ['mem-fraction-static', 'gpu-memory-utilization'],
    ['tensor-parallelism', 'tensor-parallel-size'],
    ['num-shard', 'tensor-parallel-size'],
    ['tp-size', 'tensor-parallel-size'],
    ['context-length', 'max-model-len'],
  ]),
  values: new Map([
    ['gpu-memory-utilization', fraction],
    ['dtype', format],
  ]),
};

/** https://docs.sglang.io/advanced_features/server_arguments.html */
const ofSglang: ServerFlags = {
  known: wordSet(
    'tensor-parallel-size data-parallel-size mem-fraction-static context-length max-running-requests',
    'chunked-prefill-size quantization kv-cache-dtype served-model-name trust-remote-code attention-backend',
    'disable-cuda-graph enable-torch-compile schedule-policy tool-call-parser reasoning-parser dist-init-addr',
  ),
  synonyms: new Map([
    ['gpu-memory-utilization', 'mem-fraction-static'],
    ['max-num-seqs', 'max-running-requests'],
  ]),
  values: new Map([
    ['mem-fraction-static', fraction],
    ['dtype', format],
  ]),
};

const servers: ReadonlyMap<string, ServerFlags> = new Map([
  ['vllm', ofVllm],
  ['sglang', ofSglang],
]);

/** Options of `docker run` that no server has, nor as the beginning of a name: guides have them in front of the image. */
const dockerOptions = wordSet('shm-size gpus runtime ulimit restart privileged publish');

/** The flags with which a server exits: with a misspelled name, one of another server, or a value that it rejects. */
export function wrongFlags(program: string, flags: readonly Flag[]): readonly WrongFlag[] {
  const server = servers.get(program);
  if (server === undefined) return [];
  return flags.flatMap((flag) => wrongFlag(server, flag) ?? (program === 'vllm' ? wrongJson(flag) : undefined) ?? []);
}

/** vLLM reads a value in braces as JSON. */
function wrongJson(flag: Flag): WrongFlag | undefined {
  const { value = '', dynamic } = flag;
  if (dynamic || !/^\{\s*'/.test(value) || !value.endsWith('}')) return undefined;
  return { flag, mustBe: 'JSON, with double quotes' };
}

function wrongFlag({ known, synonyms, values }: ServerFlags, flag: Flag): WrongFlag | undefined {
  const { name, value, dynamic, isVariable, word } = flag;
  // A single dash belongs to short flags, and a dot to the key of a setting.
  if (isVariable || !word.text.startsWith('--') || name.includes('.') || name.length < 4) return undefined;
  const check = values.get(name);
  if (check !== undefined)
    return value === undefined || dynamic || check.accepts(value) ? undefined : { flag, mustBe: check.mustBe };
  if (known.has(name)) return undefined;
  if (dockerOptions.has(name)) return { flag };
  const meant = synonyms.get(name) ?? [...known].find((one) => isSlip(name, one) || isShuffled(name, one));
  // The parsers accept the beginning of a name.
  return meant === undefined || meant.startsWith(name) ? undefined : { flag, meant };
}
