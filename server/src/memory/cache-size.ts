import type { ModelShape } from '../catalog/index.ts';

/** How the cache is stored on one device. */
export interface CacheLayout {
  /** Devices that share the heads of a layer. */
  readonly tensor: number;
  /** Devices that share the layers. */
  readonly pipeline: number;
  /** Bytes of one cached number. */
  readonly bytes: number;
  /** Tokens that layers with a window keep in addition: those of a step. Infinity: they keep all. */
  readonly beyondWindow: number;
  /** Tokens that layers with a smaller window keep all the same. */
  readonly remembered: number;
  /** Layers are grouped by kind, in groups of one size. */
  readonly groups: boolean;
  /** Devices of a group that share the tokens of a sequence. */
  readonly shards?: number;
  /** Copies of the states of linear attention and Mamba that a sequence has: one, and that of the last cached prefix. */
  readonly states: number;
}

/** Servers keep states in 32 bits: llama.cpp always, vLLM if the model asks for it, as Qwen3.5 does (`mamba_ssm_dtype`). */
const stateBytes = 4;

/**
 * The cache of one sequence on the device that holds most of it, in bytes. Attention: tokens × 2 × heads × head size × bytes, with at least one
 * head on each device. Latent vectors are the same on all devices of a group. States do not depend on the length.
 */
export function cacheBytes({ cache }: ModelShape, length: number, layout: CacheLayout): number {
  const { tensor, pipeline, bytes, beyondWindow, remembered, shards = 1, states } = layout;
  const tokens = length / shards;
  let sum = 0;
  for (const part of cache) {
    const layers = Math.ceil(part.layers / pipeline) * paddingOf(part.layers, cache, layout);
    if (part.kind === 'state') sum += (layers * part.numbers * stateBytes * states) / tensor;
    else if (part.kind === 'latent') sum += layers * tokens * part.width * bytes;
    else {
      const kept = part.window === null ? tokens : Math.min(tokens, Math.max(part.window, remembered) + beyondWindow);
      sum += layers * kept * 2 * Math.max(1, part.kvHeads / tensor) * part.headSize * bytes;
    }
  }
  return sum;
}

/**
 * vLLM gives layers of each kind groups of the same size, so some groups have empty places.
 * https://github.com/vllm-project/vllm/blob/main/vllm/v1/core/kv_cache_utils.py
 */
function paddingOf(layers: number, cache: ModelShape['cache'], { groups }: CacheLayout): number {
  const counts = cache.map((part) => part.layers);
  if (!groups || counts.length < 2 || cache.some(({ kind }) => kind !== 'attention')) return 1;
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  const size = most < 1.25 * least ? most : least;
  return (Math.ceil(layers / size) * size) / layers;
}

/** The longest sequence whose cache fits into a number of bytes, in tokens; null: the length does not matter. */
export function longestIn(shape: ModelShape, available: number, layout: CacheLayout): number | null {
  const at = (tokens: number) => cacheBytes(shape, tokens, layout);
  if (at(shape.context * 64) === at(0)) return null;
  let low = 0;
  let high = shape.context * 64;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (at(middle) <= available) low = middle;
    else high = middle;
  }
  return low;
}

/** Bytes of a number in a cache, by the name of its type; undefined for unknown names. llama.cpp's types include their scales. */
export function bytesOfCacheType(type: string | null): number | undefined {
  if (type === null || /^(?:auto|bf16|f16|fp16|bfloat16|float16|half|0)$/i.test(type)) return 2;
  if (/^(?:f32|fp32|float32)$/i.test(type)) return 4;
  if (/^(?:fp8|e[45]m|int8|8$)/i.test(type)) return 1;
  if (/^q8_0$/i.test(type)) return 34 / 32;
  if (/^q5_[01]$/i.test(type)) return 23 / 32;
  if (/^(?:q4_[01]|iq4_nl)$/i.test(type)) return 19 / 32;
  return /^(?:int4|4$|nvfp4|fp4)/i.test(type) ? 0.56 : undefined;
}
