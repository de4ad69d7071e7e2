import { expect, it } from 'vitest';
import { modelByName, modelFromConfig } from '../server/src/catalog/index.ts';

const llama = {
  model_type: 'llama',
  hidden_size: 4096,
  intermediate_size: 14336,
  num_hidden_layers: 32,
  num_attention_heads: 32,
  num_key_value_heads: 8,
  vocab_size: 128256,
  max_position_embeddings: 131072,
  tie_word_embeddings: false,
  torch_dtype: 'bfloat16',
};
const mixture = {
  model_type: 'qwen3_moe',
  hidden_size: 2048,
  intermediate_size: 6144,
  moe_intermediate_size: 768,
  num_experts: 128,
  num_experts_per_tok: 8,
  num_hidden_layers: 48,
  num_attention_heads: 32,
  num_key_value_heads: 4,
  head_dim: 128,
  vocab_size: 151936,
  max_position_embeddings: 40960,
  mlp_only_layers: [],
  sliding_window: 4096,
  use_sliding_window: false,
};
const latent = {
  model_type: 'deepseek_v3',
  hidden_size: 7168,
  intermediate_size: 18432,
  moe_intermediate_size: 2048,
  n_routed_experts: 256,
  n_shared_experts: 1,
  num_experts_per_tok: 8,
  first_k_dense_replace: 3,
  num_hidden_layers: 61,
  num_attention_heads: 128,
  num_key_value_heads: 128,
  q_lora_rank: 1536,
  kv_lora_rank: 512,
  qk_rope_head_dim: 64,
  qk_nope_head_dim: 128,
  v_head_dim: 128,
  vocab_size: 129280,
  max_position_embeddings: 163840,
  quantization_config: { quant_method: 'fp8' },
};
const vision = {
  model_type: 'gemma3',
  text_config: {
    model_type: 'gemma3_text',
    hidden_size: 2560,
    intermediate_size: 10240,
    num_hidden_layers: 34,
    num_attention_heads: 8,
    num_key_value_heads: 4,
    head_dim: 256,
    vocab_size: 262208,
    max_position_embeddings: 131072,
    sliding_window: 1024,
    sliding_window_pattern: 6,
  },
  vision_config: { hidden_size: 1152, intermediate_size: 4304, num_hidden_layers: 27 },
};
const gpt2 = { model_type: 'gpt2', n_embd: 768, n_layer: 12, n_head: 12, n_positions: 1024, vocab_size: 50257 };

it.each([
  ['meta-llama/Llama-3.1-8B', llama],
  ['Qwen/Qwen3-30B-A3B', mixture],
  ['deepseek-ai/DeepSeek-V3', latent],
  ['google/gemma-3-4b-it', vision],
  ['openai-community/gpt2', gpt2],
])('the config of %s has its shape', (name, config) => {
  const known = modelByName(name)?.shape;
  const read = modelFromConfig('mine', JSON.stringify(config))?.shape;
  expect(Math.abs((read?.parameters ?? 0) / (known?.parameters ?? 1) - 1)).toBeLessThan(0.02);
  for (const key of [
    'layers',
    'hidden',
    'kvHeads',
    'headSize',
    'vocabulary',
    'context',
    'experts',
    'cache',
    'tiedEmbeddings',
  ] as const)
    expect(read?.[key], key).toEqual(known?.[key]);
});

it.each([
  [undefined, null],
  [{ quant_method: 'awq', bits: 4 }, 'awq'],
  [{ quant_method: 'gptq', bits: 8 }, 'w8a16'],
  [{ quant_method: 'bitsandbytes', load_in_4bit: true }, 'bnb-4bit'],
  [{ quant_method: 'compressed-tensors', format: 'float-quantized' }, 'fp8'],
  [{ quant_method: 'acme' }, 'unknown'],
  [{ quant_method: 'constructor' }, 'unknown'],
])('the quantization %j is the format %s', (quantization_config, id) => {
  const format = modelFromConfig('mine', JSON.stringify({ ...llama, quantization_config }))?.format;
  expect(format === null || typeof format === 'string' ? format : format?.id).toBe(id);
});

it.each([
  ['no JSON', '{"hidden_size": 4096,'],
  ['no mapping', '[4096]'],
  ['no layers', JSON.stringify({ ...llama, num_hidden_layers: undefined })],
  ['words for numbers', JSON.stringify({ ...llama, hidden_size: 'wide' })],
  ['numbers beyond any model', JSON.stringify({ ...llama, hidden_size: 1e300 })],
  ['layers without attention', JSON.stringify({ ...llama, layer_types: ['full_attention', 'linear_attention'] })],
  ['an encoder', JSON.stringify({ ...llama, is_encoder_decoder: true })],
  ['an audio part', JSON.stringify({ ...llama, audio_config: { hidden_size: 1280 } })],
])('%s is no shape', (_, text) => {
  expect(modelFromConfig('mine', text)).toBeUndefined();
});
