import { isShuffled, isSlip } from '../catalog/spelling.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import type { Flag } from '../command/flags.ts';
import { type Table, table } from '../yaml/table.ts';
import {
  kserveValues,
  llamaValues,
  sglangValues,
  teiValues,
  tgiValues,
  tritonValues,
  trtllmValues,
  type ValueChecks,
  vllmValues,
} from './server-flag-values.ts';

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
  readonly values: ValueChecks;
  /** Its parser does not accept the beginning of a name. */
  readonly exact?: true;
}

/** https://docs.vllm.ai/en/latest/cli/serve/ */
const ofVllm: ServerFlags = {
  known: words(
    `tensor-parallel-size pipeline-parallel-size data-parallel-size enable-expert-parallel max-model-len max-num-seqs
    max-num-batched-tokens gpu-memory-utilization quantization kv-cache-dtype swap-space served-model-name trust-remote-code
    enable-prefix-caching enable-chunked-prefill enforce-eager tool-call-parser enable-auto-tool-choice chat-template
    reasoning-parser cpu-offload-gb load-format download-dir tokenizer-mode distributed-executor-backend speculative-config
    limit-mm-per-prompt max-lora-rank enable-lora lora-modules disable-log-requests disable-log-stats block-size`,
  ),
  synonyms: meanings(
    table({
      'max-model-len':
        'max-model-length context-length max-context-length max-sequence-length ctx-size max-total-tokens max-input-length',
      'gpu-memory-utilization':
        'gpu-mem-utilization gpu-memory-util gpu-utilization gpu-memory-fraction gpu-mem-fraction mem-fraction-static',
      'tensor-parallel-size': 'tensor-parallelism tensor-parallel-degree num-shard tp tp-size num-gpus gpu-count',
      'pipeline-parallel-size': 'pp pp-size',
      model: 'model-id model-path model-name-or-path',
      'served-model-name': 'model-name',
      dtype: 'precision torch-dtype',
      'download-dir': 'cache-dir model-cache-dir',
      'max-num-seqs': 'max-batch-size max-concurrent-requests max-running-requests',
      'max-num-batched-tokens': 'max-batch-total-tokens max-batch-tokens',
      quantization: 'quantize',
    }),
  ),
  values: vllmValues,
};

/** https://docs.sglang.io/advanced_features/server_arguments.html */
const ofSglang: ServerFlags = {
  known: words(
    `tensor-parallel-size data-parallel-size mem-fraction-static context-length max-running-requests chunked-prefill-size
    quantization kv-cache-dtype served-model-name trust-remote-code attention-backend disable-cuda-graph enable-torch-compile
    schedule-policy tool-call-parser reasoning-parser dist-init-addr`,
  ),
  synonyms: meanings(
    table({
      'mem-fraction-static': 'gpu-memory-utilization gpu-memory-fraction',
      'max-running-requests': 'max-num-seqs max-concurrent-requests max-batch-size',
      'context-length': 'max-model-len max-seq-len ctx-size',
      'disable-cuda-graph': 'enforce-eager',
      quantization: 'quantize',
    }),
  ),
  values: sglangValues,
};

/** https://huggingface.co/docs/text-generation-inference/reference/launcher */
const ofTgi = others(
  table({
    'model-id': 'model model-name model-path hf-model-id',
    'num-shard': 'tensor-parallel-size tp-size num-shards',
    'max-total-tokens': 'max-model-len context-length',
    'cuda-memory-fraction': 'gpu-memory-utilization mem-fraction-static',
    'max-concurrent-requests': 'max-num-seqs',
    quantize: 'quantization',
    hostname: 'host',
  }),
  tgiValues,
);

/** https://huggingface.co/docs/text-embeddings-inference/cli_arguments */
const ofTei = others(
  table({
    'model-id': 'model model-name model-path',
    'max-batch-tokens': 'max-num-batched-tokens max-batch-total-tokens',
    'max-concurrent-requests': 'max-num-seqs',
    'max-client-batch-size': 'max-batch-size batch-size',
    hostname: 'host',
  }),
  teiValues,
);

/** https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md */
const ofLlama = others(
  table({
    'n-gpu-layers': 'ngl num-gpu-layers gpu-layer n-gpu-layer',
    'ctx-size': 'n-ctx ctx ctx-len context-size context-length context max-context max-model-len',
    parallel: 'n-parallel max-num-seqs',
    alias: 'served-model-name model-alias',
  }),
  llamaValues,
);

/** https://github.com/triton-inference-server/server/blob/0299e638036b/src/command_line_parser.cc */
const ofTriton = others(
  table({
    'model-repository': 'models-repository model-repository-path model-dir',
    'http-address': 'http-server-address http-host',
    'grpc-address': 'grpc-server-address grpc-host',
    'http-port': 'http-server-port',
    'grpc-port': 'grpc-server-port',
    'metrics-port': 'metric-port metrics-server-port',
  }),
  tritonValues,
);

/** Its parser reads underscores only. https://github.com/NVIDIA/TensorRT-LLM/blob/4c05a74891e4/tensorrt_llm/commands/serve.py */
const ofTrtllm = others(
  table({
    max_seq_len: 'max-model-len context-length',
    max_batch_size: 'max-num-seqs max-concurrent-requests',
    max_num_tokens: 'max-num-batched-tokens',
    kv_cache_free_gpu_memory_fraction: 'gpu-memory-utilization mem-fraction-static',
  }),
  trtllmValues,
);

/** https://lmdeploy.readthedocs.io/en/latest/llm/api_server.html; the help of the command, 2026-11-30 */
const ofLmdeploy = others(
  table({
    'session-len': 'max-model-len context-length max-seq-len',
    'cache-max-entry-count': 'gpu-memory-utilization mem-fraction-static',
    'max-batch-size': 'max-num-seqs',
    'model-name': 'served-model-name',
    tp: 'tensor-parallel-size tp-size',
  }),
);

/** KServe's server for models of Hugging Face. */
const ofKserve = others(table({}), kserveValues);

/** Servers that do not accept the beginning of a name, by the names that people use for their flags. */
function others(names: Table<string>, values: ValueChecks = new Map()): ServerFlags {
  return { known: new Set(), synonyms: meanings(names), values, exact: true };
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/));
}

/** From each name to the flag that it means. */
function meanings(names: Table<string>): ReadonlyMap<string, string> {
  return new Map(Object.entries(names).flatMap(([flag, all]) => all.split(' ').map((name) => [name, flag])));
}

const servers: ReadonlyMap<string, ServerFlags> = new Map([
  ['vllm', ofVllm],
  ['sglang', ofSglang],
  ['text-generation-launcher', ofTgi],
  ['text-embeddings-router', ofTei],
  ['llama-server', ofLlama],
  ['tritonserver', ofTriton],
  ['trtllm-serve', ofTrtllm],
  ['lmdeploy', ofLmdeploy],
  // Of its image, and of its module.
  ['kserve', ofKserve],
  ['huggingfaceserver', ofKserve],
]);

/** Options of `docker run` that no server has, nor as the beginning of a name: guides have them in front of the image. */
const dockerOptions = wordSet('shm-size gpus runtime ulimit restart privileged publish');

/** The flags with which a server exits: with a misspelled name, one of another server, or a value that it rejects. */
export function wrongFlags(program: string, flags: readonly Flag[]): readonly WrongFlag[] {
  const server = servers.get(program);
  if (program === 'dynamo') return flags.flatMap((flag) => withWrongValue(flag, onlyOfVllm) ?? []);
  if (server === undefined) return [];
  // Parsers may come with a plugin.
  const hasPlugin = flags.some(({ name }) => name.endsWith('-parser-plugin'));
  return flags.flatMap((flag) => {
    if (hasPlugin && flag.name.endsWith('-parser')) return [];
    return wrongFlag(server, flag) ?? (program === 'vllm' ? wrongJson(flag) : undefined) ?? [];
  });
}

/** Flags that take any text: quotes around it are an odd name, but no mistake for the server. */
const freeTexts = wordSet('served-model-name api-key alias a chat-template model-name root-path');

/** The flags of a server whose values have quotes that no shell has removed. */
export function quotedFlags(
  program: string,
  flags: readonly Flag[],
): readonly { readonly flag: Flag; readonly plain: string }[] {
  if (!servers.has(program)) return [];
  return flags.flatMap((flag) => {
    const plain = /^(["'])([\w./:+-]+)\1$/.exec(flag.value ?? '')?.[2];
    const isOwn = flag.word.text.startsWith('-') && !flag.isVariable && !flag.dynamic && !freeTexts.has(flag.name);
    return plain === undefined || !isOwn ? [] : [{ flag, plain }];
  });
}

/** The flag of a server for which other servers have this name. */
export function meantFlag(program: string, name: string): string | undefined {
  return servers.get(program)?.synonyms.get(name);
}

/** What the value of a flag of a server must be, if the server rejects it. */
export function valueNeeded(program: string, name: string, value: string): string | undefined {
  return servers.get(program)?.values.get(name)?.(value);
}

/** vLLM reads a value in braces as JSON. Shells remove double quotes that are not within others. */
function wrongJson(flag: Flag): WrongFlag | undefined {
  const { value = '', dynamic } = flag;
  if (dynamic || !/^\{\s*(?:'|[a-z_]\w*\s*:)/i.test(value) || !value.endsWith('}')) return undefined;
  return { flag, mustBe: 'JSON, with double quotes' };
}

/** What the workers of Dynamo pass on to vLLM, and its other engines do not have. */
const onlyOfVllm: ValueChecks = new Map(
  [...vllmValues].filter(([name]) => /^(?:gpu-memory-utilization|max-(?:model-len|num-.*)|cudagraph-.*)$/.test(name)),
);

function withWrongValue(flag: Flag, values: ValueChecks): WrongFlag | undefined {
  const { name, value, dynamic, isVariable, word } = flag;
  if (isVariable || dynamic || value === undefined || !word.text.startsWith('-')) return undefined;
  const mustBe = values.get(name)?.(value);
  return mustBe === undefined ? undefined : { flag, mustBe };
}

function wrongFlag({ known, synonyms, values, exact }: ServerFlags, flag: Flag): WrongFlag | undefined {
  const { name, isVariable, word } = flag;
  if (isVariable || !word.text.startsWith('-')) return undefined;
  if (values.has(name)) return withWrongValue(flag, values);
  // A single dash belongs to short flags, and a dot to the key of a setting.
  if (!word.text.startsWith('--') || name.includes('.')) return undefined;
  if (known.has(name)) return undefined;
  if (dockerOptions.has(name)) return { flag };
  const meant = synonyms.get(name) ?? [...known].find((one) => isSlip(name, one) || isShuffled(name, one));
  // Most parsers accept the beginning of a name.
  return meant === undefined || (meant.startsWith(name) && exact !== true) ? undefined : { flag, meant };
}
