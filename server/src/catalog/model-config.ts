import type { NamedModel } from './model-names.ts';
import type { CacheLayers, Experts, LatentAttention, ModelShape } from './model-shape.ts';
import { type WeightFormat, weightFormat } from './weight-formats.ts';
import { wordSet } from './word-patterns.ts';

/**
 * The shape of a model by the text of its config.json, as transformers writes it: a decoder whose layers all attend. Its number of parameters is
 * computed. Undefined for other text, for encoders, and for models with linear attention, whose parameters the file does not give.
 * @param name for people
 */
export function modelFromConfig(name: string, text: string): NamedModel | undefined {
  const whole = parsed(text);
  if (whole === undefined) return undefined;
  const inner = fieldsOf(whole.value('text_config', 'llm_config', 'language_config')) ?? whole;
  const towers = towerParameters(whole);
  const shape = towers === undefined || isUnusual(inner) ? undefined : shapeOf(name, inner, whole, towers);
  return shape && { shape, format: formatOf(whole), basis: 'config' };
}

/** The fields of a mapping, by the names that different authors give them. */
interface Fields {
  readonly value: (...keys: readonly string[]) => unknown;
  /** A whole number from 0 up to a trillion. */
  readonly count: (...keys: readonly string[]) => number | undefined;
}

function parsed(text: string): Fields | undefined {
  try {
    return fieldsOf(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function fieldsOf(object: unknown): Fields | undefined {
  if (typeof object !== 'object' || object === null || Array.isArray(object)) return undefined;
  const fields = new Map<string, unknown>(Object.entries(object));
  const value = (...keys: readonly string[]) => keys.map((key) => fields.get(key)).find((one) => one != null);
  const count = (...keys: readonly string[]) => {
    const found = value(...keys);
    return typeof found === 'number' && Number.isInteger(found) && found >= 0 && found <= 1e12 ? found : undefined;
  };
  return { value, count };
}

/** Layers without attention, per-layer embeddings and encoders have parameters of their own. */
function isUnusual({ value }: Fields): boolean {
  const layers = value('layer_types');
  const others =
    Array.isArray(layers) && layers.some((one) => !/^(?:full|sliding|chunked)_attention$/.test(String(one)));
  const more = ['mamba_d_state', 'ssm_state_size', 'linear_num_value_heads', 'hybrid_override_pattern', 'state_size'];
  return others || value('is_encoder_decoder') === true || value(...more, 'vocab_size_per_layer_input') !== undefined;
}

/** The types with two matrices in the feed-forward part; all others that transformers has use three. */
const ungated = wordSet(
  'gpt2 gptj gpt_neo gpt_neox gpt_bigcode codegen starcoder2',
  'opt bloom falcon mpt phi persimmon nemotron',
  'bert roberta xlm-roberta',
);

function shapeOf(name: string, fields: Fields, whole: Fields, towerParameters: number): ModelShape | undefined {
  const { value, count } = fields;
  const hidden = count('hidden_size', 'n_embd', 'd_model');
  const layers = count('num_hidden_layers', 'n_layer', 'num_layers', 'n_layers');
  const heads = count('num_attention_heads', 'n_head', 'n_heads');
  const vocabulary = count('padded_vocab_size', 'vocab_size') ?? whole.count('vocab_size');
  if (!hidden || !layers || !heads || !vocabulary) return undefined;
  const type = String(value('model_type') ?? '');
  const kvHeads =
    value('multi_query') === true
      ? 1
      : (count('num_key_value_heads', 'multi_query_group_num', 'num_kv_heads') ?? heads);
  const latent = latentOf(fields);
  const headSize = latent?.value ?? count('head_dim', 'kv_channels') ?? Math.floor(hidden / heads);
  const feedForward = count('intermediate_size', 'ffn_hidden_size', 'n_inner', 'ffn_dim') ?? 4 * hidden;
  const feedForwardMatrices = ungated.has(type) ? 2 : 3;
  const tied = value('tie_word_embeddings') ?? whole.value('tie_word_embeddings');
  const tiedEmbeddings = tied === true || (tied === undefined && /^(?:gemma|gpt2|opt|bloom|falcon|cohere)/.test(type));
  const experts = expertsOf(fields, layers);
  const attention = latent === null ? 2 * hidden * headSize * (heads + kvHeads) : ofLatent(latent, hidden, heads);
  const ofExpert = feedForwardMatrices * hidden * (experts?.width ?? 0);
  const shared = feedForwardMatrices * hidden * (experts?.sharedWidth ?? 0);
  const dense = feedForwardMatrices * hidden * feedForward;
  const sum = (perToken: boolean) =>
    layers * attention +
    (layers - (experts?.layers ?? 0)) * dense +
    (experts === null ? 0 : experts.layers * (ofExpert * (perToken ? experts.active : experts.count) + shared)) +
    vocabulary * hidden * (tiedEmbeddings ? 1 : 2);
  return {
    name,
    kind: 'language',
    parameters: sum(false) + towerParameters,
    active: sum(true) + towerParameters,
    layers,
    hidden,
    feedForward,
    feedForwardMatrices,
    heads,
    kvHeads,
    headSize,
    vocabulary,
    context: count('max_position_embeddings', 'n_positions', 'seq_length', 'max_seq_len') ?? 0,
    tiedEmbeddings,
    experts,
    latent,
    cache: cacheOf(fields, layers, kvHeads, headSize, latent),
    encoderLayers: 0,
    towerParameters,
    format: /32$/.test(String(whole.value('torch_dtype', 'dtype') ?? '')) ? 'fp32' : 'bf16',
    source: 'config.json',
    date: null,
  };
}

function expertsOf({ count, value }: Fields, layers: number): Experts | null {
  const experts = count('num_local_experts', 'num_experts', 'n_routed_experts');
  const active = count('num_experts_per_tok', 'moe_topk');
  if (!experts || !active || experts < 2) return null;
  const width = count('moe_intermediate_size', 'intermediate_size') ?? 0;
  const step = count('decoder_sparse_step', 'interleave_moe_layer_step', 'moe_layer_freq') || 1;
  const dense = value('mlp_only_layers');
  const denseLayers = count('first_k_dense_replace') ?? (Array.isArray(dense) ? dense.length : 0);
  return {
    count: experts,
    active,
    width,
    sharedWidth: count('shared_expert_intermediate_size') ?? width * (count('n_shared_experts') ?? 0),
    layers: Math.max(0, Math.floor((layers - denseLayers) / step)),
  };
}

function latentOf({ count }: Fields): LatentAttention | null {
  const [latent, rope, nope, value] = ['kv_lora_rank', 'qk_rope_head_dim', 'qk_nope_head_dim', 'v_head_dim'].map(
    (key) => count(key),
  );
  if (!latent || rope === undefined || nope === undefined || value === undefined) return null;
  return { query: count('q_lora_rank') ?? 0, latent, rope, nope, value };
}

function ofLatent({ query, latent, rope, nope, value }: LatentAttention, hidden: number, heads: number): number {
  const queries = query > 0 ? query * (hidden + heads * (rope + nope)) : hidden * heads * (rope + nope);
  return queries + hidden * (latent + rope) + latent * heads * (nope + value) + heads * value * hidden;
}

function cacheOf(
  { count, value }: Fields,
  layers: number,
  kvHeads: number,
  headSize: number,
  latent: LatentAttention | null,
): readonly CacheLayers[] {
  if (latent !== null) return [{ kind: 'latent', layers, width: latent.latent + latent.rope }];
  const window = value('use_sliding_window') === false ? undefined : count('sliding_window');
  const types = value('layer_types');
  const pattern = count('sliding_window_pattern');
  const windowed = Array.isArray(types)
    ? types.filter((type) => type === 'sliding_attention').length
    : layers - (pattern ? Math.floor(layers / pattern) : 0);
  const ofWindow = window === undefined ? 0 : Math.min(layers, windowed);
  const attention = (of: number, tokens: number | null): CacheLayers => ({
    kind: 'attention',
    layers: of,
    kvHeads,
    headSize,
    window: tokens,
  });
  return [
    ...(layers > ofWindow ? [attention(layers - ofWindow, null)] : []),
    ...(ofWindow > 0 ? [attention(ofWindow, window ?? null)] : []),
  ];
}

/** Parameters of a vision transformer: 12 × width² per layer, or by its own feed-forward width. Undefined for other parts. */
function towerParameters({ value }: Fields): number | undefined {
  if (value('audio_config') !== undefined) return undefined;
  const vision = value('vision_config');
  if (vision === undefined) return 0;
  const fields = fieldsOf(vision);
  const width = fields?.count('hidden_size', 'embed_dim');
  const layers = fields?.count('num_hidden_layers', 'depth', 'layers');
  if (!width || !layers) return undefined;
  return layers * width * (4 * width + 2 * (fields?.count('intermediate_size') ?? 4 * width));
}

/** The format of the weights, from `quantization_config`; null: none. */
function formatOf(whole: Fields): WeightFormat | 'unknown' | null {
  const quantization = fieldsOf(whole.value('quantization_config'));
  if (quantization === undefined) return null;
  const method = String(quantization.value('quant_method') ?? '').toLowerCase();
  const bits = quantization.count('bits') ?? 4;
  const known = {
    awq: bits === 4 ? weightFormat('awq') : undefined,
    gptq: bits === 4 ? weightFormat('gptq') : bits === 8 ? weightFormat('w8a16') : undefined,
    bitsandbytes: weightFormat(quantization.value('load_in_4bit') === true ? 'bnb-4bit' : 'bnb-8bit'),
    fp8: weightFormat('fp8'),
    mxfp4: weightFormat('mxfp4-experts'),
    'compressed-tensors': compressedFormat(quantization),
  };
  return Object.entries(known).find(([name]) => name === method)?.[1] ?? 'unknown';
}

function compressedFormat({ value }: Fields): WeightFormat | undefined {
  switch (value('format')) {
    case 'float-quantized':
      return weightFormat('fp8');
    case 'int-quantized':
      return weightFormat('int8');
    case 'pack-quantized':
      return weightFormat('w4a16');
    case 'nvfp4-pack-quantized':
      return weightFormat('nvfp4');
    default:
      return undefined;
  }
}
