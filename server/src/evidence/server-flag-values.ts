import { either, wordSet } from '../catalog/word-patterns.ts';

/** What a value must be instead; undefined if the server accepts it, or may do so in some version. */
export type ValueCheck = (value: string) => string | undefined;

/** By the name of the flag. */
export type ValueChecks = ReadonlyMap<string, ValueCheck>;

const fraction: ValueCheck = (value) => {
  const isNumber = /^\d+(?:\.\d*)?$|^\.\d+$/.test(value);
  const isWrong = isNumber ? !(Number(value) > 0 && Number(value) <= 1) : /^\d+(?:\.\d+)?%$|^0,\d+$/.test(value);
  return isWrong ? 'between 0 and 1' : undefined;
};

/** Rejects some words; another one may be a name of a later version. */
function not(words: string, mustBe: string): ValueCheck {
  const rejected = wordSet(words);
  return (value) => (rejected.has(value.toLowerCase()) ? mustBe : undefined);
}

/** Rejects the names that another server or the model's card has for the same. */
function names(meant: ReadonlyMap<string, string>): ValueCheck {
  const all = new Map([...meant].flatMap(([name, others]) => others.split(' ').map((one) => [one, name])));
  return (value) => all.get(value.toLowerCase());
}

/** Flags for whose values new releases have more names. */
export const growing = wordSet(
  'quantization quantize kv-cache-dtype load-format distributed-executor-backend tool-call-parser reasoning-parser',
  'cache-type-k cache-type-v ctk ctv',
);

/** A number without separators: `32,768`. */
const wholeNumber: ValueCheck = (value) => (/^\d{1,3}(?:,\d{3})+$/.test(value) ? 'a number without commas' : undefined);

/** A number that the program reads without a unit: `32k`, `10Gi`. */
const plainNumber: ValueCheck = (value) =>
  /^\d+(?:\.\d+)?\s?(?:[kmgt]i?b?|tokens?)$/i.test(value) ? 'a number without a unit' : wholeNumber(value);

/** A number of a list. */
function oneNumberOf(numbers: string): ValueCheck {
  const accepted = wordSet(numbers);
  const listed = numbers.replaceAll(' ', ', ').replace(/, (\d+)$/, ' or $1');
  return (value) => (/^\d{1,6}$/.test(value) && !accepted.has(value) ? listed : undefined);
}

/** A value that vLLM reads as JSON only, or as none. Templates and files have other beginnings. */
const json: ValueCheck = (value) =>
  /^(?!(?:null|none)$)[a-z\d_]+(?:[=:,-][\w.:=,-]*)?$/i.test(value) ? 'JSON, such as {"key":1}' : undefined;

/** Words with which people leave a count to the program. */
const count = not('auto all max gpu gpus none', 'a number');

const bits = 'int4 int8 4bit 8bit 4-bit 8-bit';
const halves = 'fp16 f16 half float16';

const format: ValueCheck = (value) =>
  /^(?:fp\d+|bf16|f16|f32|int\d|\d+-?bit|half-precision|float-16)$/i.test(value)
    ? 'auto, half, float16, bfloat16, float or float32'
    : undefined;

const aMethod = 'a method such as fp8, awq, gptq or bitsandbytes';
const notMethods = not(
  `${bits} ${halves} bf16 bfloat16 nf4 bnb bitsandbytes-nf4 bitsandbytes-fp4 awq-marlin gptq-marlin q4_0 q4_k_m q8_0`,
  aMethod,
);
const width = '(?:int-?|w)?[48](?:-?bits?)?';
/** A method with a width, in either order, and the widths of weights and activations alone. */
const methodWithWidth = either(
  new RegExp(`^${width}[-_](?:awq|gptq)$`, 'i'),
  new RegExp(`^(?:awq|gptq)[-_]?${width}$`),
  /^w[48]a(?:8|16)$/,
);

/** Widths and number formats are not methods, and the variants of bitsandbytes are those of TGI. */
const quantization: ValueCheck = (value) => notMethods(value) ?? (methodWithWidth.test(value) ? aMethod : undefined);

/** vllm/config/cache.py and vllm/model_executor/layers/quantization in https://github.com/vllm-project/vllm, read 2026-11-29. */
export const vllmValues: ValueChecks = new Map([
  ['gpu-memory-utilization', fraction],
  ['dtype', format],
  ['quantization', quantization],
  ['kv-cache-dtype', not(`${bits} fp16 f16 half bf16 q4_0 q8_0`, 'auto, bfloat16 or a format such as fp8 or fp8_e5m2')],
  ['load-format', not(`${bits} awq gptq fp8`, 'a file format such as auto or safetensors')],
  [
    'distributed-executor-backend',
    not('nccl gloo mpi multiprocessing torch torchrun', 'mp, ray, uni or external_launcher'),
  ],
  [
    'tool-call-parser',
    names(
      new Map([
        ['llama3_json', 'llama llama3 llama-3 llama3.1 llama3.2 llama3.3 llama_json llama3-json'],
        ['hermes', 'qwen qwen2 qwen25 qwen2.5 qwen2_5'],
        ['deepseek_v3', 'deepseekv3 deepseek-v3'],
      ]),
    ),
  ],
  [
    'reasoning-parser',
    names(
      new Map([
        ['deepseek_r1', 'deepseek-r1 deepseek deepseekr1 deepseek-reasoner'],
        ['deepseek_v3', 'deepseek-v3'],
        ['qwen3', 'qwen qwen-3'],
        ['openai_gptoss', 'gpt-oss gptoss'],
      ]),
    ),
  ],
  // SGLang and llama.cpp have templates with names, vLLM has none.
  ['chat-template', (value) => (/^[a-z][\w-]{1,30}$/i.test(value) ? 'the path of a file' : undefined)],
  ['max-lora-rank', oneNumberOf('1 8 16 32 64 128 256 320 512')],
  [
    'block-size',
    (value) => (/^\d{1,4}$/.test(value) && value !== '1' && Number(value) % 8 > 0 ? 'a multiple of 16' : undefined),
  ],
  ...checked('cpu-offload-gb swap-space', plainNumber),
  ...checked(
    'rope-scaling hf-overrides kv-transfer-config speculative-config mm-processor-kwargs override-generation-config',
    json,
  ),
  ...checked('max-model-len max-num-seqs max-num-batched-tokens', wholeNumber),
  // Each number is a word of its own: https://github.com/ai-dynamo/aiconfigurator/pull/377, 2026-11-30
  [
    'cudagraph-capture-sizes',
    (value) => (/^\[?\d+(?:, ?\d+)+,?\]?$/.test(value) ? 'numbers without commas' : undefined),
  ],
  ...checked('tensor-parallel-size pipeline-parallel-size data-parallel-size', count),
]);

/** python/sglang/srt/server_args.py in https://github.com/sgl-project/sglang, read 2026-11-29. */
export const sglangValues: ValueChecks = new Map([
  ['mem-fraction-static', fraction],
  ['dtype', format],
  ['quantization', quantization],
  [
    'attention-backend',
    not(
      'flash_attn flash-attn flash_attention flash_attn_2 flash_attention_2 fa2 xformers sdpa auto flash',
      'a backend such as flashinfer, fa3 or triton',
    ),
  ],
  ['kv-cache-dtype', not(`${bits} ${halves} fp8 q4_0 q8_0`, 'auto, bf16, fp8_e4m3 or fp8_e5m2')],
  [
    'reasoning-parser',
    names(
      new Map([
        ['deepseek-r1', 'deepseek_r1'],
        ['deepseek-v3', 'deepseek_v3'],
        ['gpt-oss', 'openai_gptoss'],
      ]),
    ),
  ],
  [
    'tool-call-parser',
    names(
      new Map([
        ['llama3', 'llama3_json llama3.1 llama'],
        ['deepseekv3', 'deepseek_v3 deepseek-v3 deepseek'],
        ['qwen25', 'qwen2.5'],
      ]),
    ),
  ],
  ...checked(
    'context-length max-total-tokens max-prefill-tokens chunked-prefill-size max-running-requests',
    plainNumber,
  ),
  ...checked('tp tp-size tensor-parallel-size dp dp-size pp-size', count),
]);

/** https://huggingface.co/docs/text-generation-inference/reference/launcher, read 2026-11-29. */
export const tgiValues: ValueChecks = new Map([
  [
    'quantize',
    not(
      `${bits} ${halves} bf16 bfloat16 nf4 bnb awq_marlin gptq_marlin gguf`,
      'a method such as awq, gptq or bitsandbytes-nf4',
    ),
  ],
  ['dtype', not('fp16 bf16 fp32 float32 float half auto', 'float16 or bfloat16')],
  ['cuda-memory-fraction', fraction],
  ...checked(
    'max-input-tokens max-input-length max-total-tokens max-batch-prefill-tokens max-batch-total-tokens',
    plainNumber,
  ),
  ...checked('num-shard', count),
]);

/** https://huggingface.co/docs/text-embeddings-inference/cli_arguments, read 2026-11-29. */
export const teiValues: ValueChecks = new Map([
  ['dtype', not('bf16 fp16 fp32 f16 f32 float half auto int8', 'float16 or float32')],
  ['pooling', not('avg average max first', 'cls, mean, splade or last-token')],
  ...checked('max-batch-tokens max-concurrent-requests max-client-batch-size max-batch-requests', plainNumber),
]);

/** https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md, read 2026-11-29. */
export const llamaValues: ValueChecks = new Map(
  ['cache-type-k', 'cache-type-v', 'ctk', 'ctv'].map((name) => [
    name,
    not(
      `${bits} fp16 fp32 fp8 fp8_e4m3 fp8_e5m2 float16 half q4 q8 auto`,
      'f16, bf16, q8_0, q5_1, q5_0, q4_1, q4_0 or iq4_nl',
    ),
  ]),
);

/** https://github.com/triton-inference-server/server/blob/main/docs/user_guide/model_management.md, read 2026-11-30. */
export const tritonValues: ValueChecks = new Map([
  [
    'model-control-mode',
    not('auto automatic all dynamic static load manual on off true false', 'none, poll or explicit'),
  ],
]);

/** https://nvidia.github.io/TensorRT-LLM/commands/trtllm-serve.html, read 2026-11-30. */
export const trtllmValues: ValueChecks = new Map([
  ['kv-cache-free-gpu-memory-fraction', fraction],
  ['backend', not('vllm sglang torch triton transformers', 'pytorch or tensorrt')],
]);

/** https://github.com/kserve/kserve/blob/master/python/huggingfaceserver/huggingfaceserver/__main__.py, read 2026-11-30. */
export const kserveValues: ValueChecks = new Map([
  ['backend', not('tgi sglang llama.cpp transformers tensorrt onnx pytorch torch hf', 'auto, huggingface or vllm')],
  ['dtype', format],
]);

function checked(flags: string, check: ValueCheck): readonly (readonly [string, ValueCheck])[] {
  return flags.split(' ').map((name) => [name, check]);
}
