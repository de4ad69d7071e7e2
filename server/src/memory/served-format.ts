import {
  formatOfName,
  ggufFormat,
  type ModelShape,
  type NamedModel,
  ollamaFormat,
  type WeightFormat,
  weightFormat,
} from '../catalog/index.ts';
import type { Engine } from '../command/engines.ts';
import type { ServedModel } from '../model/served-model.ts';

/** The format of the weights: the name's, else the flag's; null: as published. Undefined if the flag is unknown. */
export function formatOf(
  { name, quantization, dtype, engine }: ServedModel,
  { format, shape }: Pick<NamedModel, 'format' | 'shape'>,
): WeightFormat | null | undefined {
  if (format !== null && format !== 'unknown') return format;
  const flag = quantization?.toLowerCase();
  if (flag === undefined || /^(?:none|null|auto|)$/.test(flag)) {
    if (/^(?:float32|fp32|f32|float)$/i.test(dtype ?? '')) return weightFormat('fp32') ?? null;
    // Tags of Ollama and repositories without a file stand for Q4_K_M; those of encoders such as BGE-M3 for 16 bits.
    if (isGgml(engine) && !isMxfp4(shape, null)) {
      const stated = formatOfName(name);
      if (stated === 'unknown' && namesQuants.test(name)) return undefined;
      if (engine === 'ollama' && stated === null && isEncoder(shape)) return weightFormat('fp16');
      if (stated !== null && stated !== 'unknown') return stated;
      return engine === 'ollama' && !/gguf/i.test(name) ? ollamaFormat(shape.name) : ggufFormat('Q4_K_M');
    }
    // Published MXFP4 is not quantized again, so a repository without a file has that.
    if (format === 'unknown' && !isGgml(engine)) return undefined;
    // Files for llama.cpp have the rest in Q8_0: https://github.com/ggml-org/llama.cpp/issues/15253
    if (engine === 'llama-cpp' && shape.format === 'mxfp4-experts') return ggufFormat('MXFP4_MOE');
    if (format === 'unknown') return null;
    // Servers load weights of 32 bits in 16.
    return shape.format === 'fp32' && engine !== 'transformers' ? (weightFormat('fp16') ?? null) : null;
  }
  // https://huggingface.co/docs/text-generation-inference/conceptual/quantization
  if (engine === 'tgi' && flag === 'bitsandbytes') return weightFormat('int8');
  // Transformers does not quantize the scales, unless its code says so.
  if (engine === 'transformers' && flag === 'bitsandbytes') return weightFormat('bnb-nf4');
  const id = quantizations.find(([pattern]) => pattern.test(flag))?.[1];
  // The flag names the loader of a checkpoint that is published with two formats.
  if (id !== undefined && shape.format.split('-').includes(id)) return null;
  return id === undefined ? ggufFormat(flag) : weightFormat(id);
}

/** A file or a tag with a format of GGUF, also an unknown one: `UD-TQ1_0`. */
const namesQuants = /(?<![a-z\d])(?:i|t)?q\d[-_][a-z\d]/i;

/** Whether an engine computes with ggml, which reads GGUF files. */
export function isGgml(engine: Engine): boolean {
  return engine === 'ollama' || engine === 'llama-cpp';
}

/** Whether the weights are in MXFP4: as the server loads them or, if it names no format, as published. */
export function isMxfp4(shape: ModelShape, format: WeightFormat | null): boolean {
  return (format?.id ?? shape.format).includes('mxfp4');
}

/** Values of `--quantization` (vLLM, SGLang), `--quantize` (TGI) and the like. */
const quantizations: readonly (readonly [RegExp, Parameters<typeof weightFormat>[0]])[] = [
  [/awq/, 'awq'],
  [/gptq|marlin/, 'gptq'],
  [/nvfp4|modelopt_fp4/, 'nvfp4'],
  [/mxfp4/, 'mxfp4'],
  [/fp8|modelopt/, 'fp8'],
  [/^bitsandbytes(?:[-_](?:nf4|fp4|4bit))?$|^bnb/, 'bnb-4bit'],
  [/int8|w8a8|eetq|^8bit/, 'int8'],
  [/w4a16|int4/, 'w4a16'],
  [/hqq/, 'hqq'],
];

/** A model of embeddings that is an encoder like BERT: decoders of today share keys and values among heads. */
function isEncoder({ kind, heads, kvHeads }: ModelShape): boolean {
  return kind === 'embedding' && heads === kvHeads;
}
