import { describe, expect, test } from 'vitest';
import { modelByName } from '../../server/src/catalog/index.ts';
import { versionOf } from '../../server/src/command/engines.ts';
import { paddingOfExperts } from '../../server/src/memory/expert-padding.ts';
import { fitOnCard } from '../../server/src/memory/fit.ts';
import { estimateServing, type MemoryEstimate } from '../../server/src/memory/serving.ts';
import type { ServedModel } from '../../server/src/model/served-model.ts';
import { servedWith } from '../support/serving-errors.ts';

type Given = Partial<Omit<ServedModel, 'open' | 'extras'>> & Pick<ServedModel, 'name' | 'engine'>;

function need(given: Given): MemoryEstimate {
  const { estimate } = estimateServing({ model: servedWith(given), unknown: null });
  if (estimate === null) throw new Error(`${given.name} has no estimate`);
  return estimate;
}

const ratio = (given: Given, other: Partial<Given>, of: 'weightsGiB' | 'cacheGiB' | 'activationsGiB' | 'graphsGiB') =>
  need({ ...given, ...other })[of] / need(given)[of];

describe('experts in MXFP4 are padded as the kernels need it', () => {
  const shape = modelByName('openai/gpt-oss-120b')!.shape;
  const ofHidden = 3072 / 2880;

  test.each([
    ['vllm', 1, 'h100-80gb-sxm', ofHidden],
    ['vllm', 1, 'a100-80gb-sxm', (ofHidden * 2944) / 2880],
    ['vllm', 4, 'a100-80gb-sxm', (ofHidden * 768) / 720],
    ['vllm', 2, 'h100-80gb-sxm', (ofHidden * 1472) / 1440],
    ['sglang', 1, 'b200', ofHidden * ofHidden],
    ['tensorrt-llm', 1, 'gb10', (2944 / 2880) ** 2],
    ['llama-cpp', 1, 'rtx-5090', 1],
  ] as const)('%s on %i × %s', (engine, tensor, card, expected) => {
    expect(paddingOfExperts(shape, engine, tensor, card)).toBeCloseTo(expected, 6);
  });

  test('models without experts are not', () => {
    expect(paddingOfExperts(modelByName('Qwen/Qwen3-8B')!.shape, 'vllm', 1, 'b200')).toBe(1);
  });
});

test('TensorRT-LLM keeps all tokens in layers with a window', () => {
  const windowed = { name: 'openai/gpt-oss-120b', engine: 'sglang', context: 131072 } as const;
  expect(ratio(windowed, { engine: 'tensorrt-llm' }, 'cacheGiB')).toBeGreaterThan(1.8);
});

test('a repository of GGUF files of a model in MXFP4 has the published format', () => {
  const weights = (name: string) => need({ name, engine: 'llama-cpp' }).weightsGiB;
  expect(weights('ggml-org/gpt-oss-120b-GGUF')).toBe(weights('openai/gpt-oss-120b'));
});

describe('the cache of latent attention', () => {
  const lite = { name: 'deepseek-ai/DeepSeek-V2-Lite', engine: 'vllm', context: 16384 } as const;

  test('has keys and values of each head in old files of GGUF', () => {
    // 27 layers × 16 heads × (192 + 128) numbers × 2 bytes
    const { cacheGiB } = need({ ...lite, name: 'DeepSeek-V2-Lite-Q4_0.gguf', engine: 'llama-cpp' });
    expect(cacheGiB).toBeCloseTo((16384 * 27 * 16 * 320 * 2) / 2 ** 30, 6);
  });

  test('has one vector per token elsewhere', () => {
    expect(need(lite).cacheGiB).toBeCloseTo((16384 * 27 * 576 * 2) / 2 ** 30, 6);
  });
});

describe('states of linear attention', () => {
  const states = (given: Partial<Given>) => {
    const at = (context: number) => need({ name: 'Qwen/Qwen3.5-9B', engine: 'sglang', ...given, context }).cacheGiB;
    return 2 * at(1024) - at(2048);
  };

  test('have 32 bits', () => {
    expect(states({})).toBeCloseTo((24 * 548_864 * 4) / 2 ** 30, 6);
  });

  test('exist twice if vLLM caches prefixes', () => {
    const since = (version: string) => states({ engine: 'vllm', version: versionOf(version) }) / states({});
    expect(since('v0.24.0')).toBeCloseTo(2, 6);
    expect(since('v0.11.0')).toBeCloseTo(1, 6);
  });
});

test('the mask of attention counts for llama.cpp', () => {
  const at = (context: number) => need({ name: 'Qwen/Qwen3-8B', engine: 'llama-cpp', flash: true, context });
  const grown = at(262_144).activationsGiB - at(131_072).activationsGiB;
  expect(grown).toBeCloseTo((131_072 * 512 * 2) / 2 ** 30, 6);
});

test('Ollama writes scores of attention without flash attention, by version and architecture', () => {
  const scores = (name: string, version: string) => {
    const given = { name, engine: 'ollama', version: versionOf(version), context: 32_768 } as const;
    return ratio({ ...given, flash: true }, { flash: null }, 'activationsGiB') > 2;
  };
  expect(scores('qwen2.5:7b', '0.22.0')).toBe(true);
  expect(scores('qwen3:8b', '0.11.0')).toBe(true);
  expect(scores('qwen3:8b', '0.12.0')).toBe(false);
  expect(scores('gemma3:12b', '0.22.0')).toBe(false);
});

test("Ollama's own engine computes no logits of a whole batch", () => {
  const of = (version: string) =>
    need({ name: 'gemma3:1b', engine: 'ollama', version: versionOf(version), flash: true }).activationsGiB;
  expect(of('0.11.0') - of('0.13.0')).toBeCloseTo((512 * 262_144 * 4) / 2 ** 30, 3);
});

test('Ollama before 0.7 keeps keys and values of each head of latent attention', () => {
  const given = { name: 'deepseek-v3:671b', engine: 'ollama', version: versionOf('0.9.0'), context: 4096 } as const;
  expect(ratio(given, { version: versionOf('0.5.4') }, 'cacheGiB')).toBeCloseTo((128 * 320) / 576, 6);
  expect(ratio({ ...given, engine: 'vllm' }, { version: versionOf('v0.6.0') }, 'cacheGiB')).toBe(1);
});

test('graphs of vLLM count in its fraction since 0.21', () => {
  const left = (version: string, eager: boolean) =>
    fitOnCard(need({ name: 'Qwen/Qwen3-8B', engine: 'vllm', version: versionOf(version), eager }), 22).leftGiB;
  expect(left('v0.20.0', true)).toBeCloseTo(left('v0.20.0', false), 6);
  expect(left('v0.21.0', true) - left('v0.21.0', false)).toBeGreaterThan(0.5);
});

test('old Transformers compute the logits of a whole prompt, except by code of the model', () => {
  const older = (name: string) => {
    const given = { name, engine: 'transformers', context: 32_000 } as const;
    return ratio({ ...given, version: [4, 50] }, { version: [4, 40] }, 'activationsGiB');
  };
  expect(older('Qwen/Qwen2-7B-Instruct')).toBeGreaterThan(3);
  expect(older('THUDM/glm-4-9b-chat')).toBe(1);
});

test('vLLM 0.12 to 0.16 shares the memory of its graphs', () => {
  const graphs = (version: string) =>
    need({ name: 'Qwen/Qwen2-7B-Instruct', engine: 'vllm', version: versionOf(version) }).graphsGiB;
  expect(graphs('v0.10.1')).toBe(graphs('v0.19.0'));
  expect(graphs('v0.12.0')).toBeLessThan(graphs('v0.10.1') / 2);
  expect(graphs('v0.7.2')).toBe(graphs('v0.12.0'));
});

test('`bitsandbytes` is 8 bits in TGI and 4 elsewhere', () => {
  const model = { name: 'meta-llama/Llama-2-7b-hf', quantization: 'bitsandbytes' } as const;
  expect(need({ ...model, engine: 'tgi' }).format).toBe('INT8');
  expect(need({ ...model, engine: 'vllm' }).format).toBe('bitsandbytes 4-bit');
});

test('llama.cpp keeps all tokens if all layers have a window, and SGLang in models that it does not list', () => {
  const of = (name: string, engine: 'llama-cpp' | 'sglang' | 'vllm') =>
    need({ name, engine, context: 32_768 }).cacheGiB;
  const whole = (32_768 * 2 * 32 * 8 * 128 * 2) / 2 ** 30;
  expect(of('mistralai/Mistral-7B-Instruct-v0.1', 'sglang')).toBeCloseTo(whole, 6);
  expect(of('mistral-7b-instruct-v0.1.Q4_K_M.gguf', 'llama-cpp')).toBeCloseTo(whole, 6);
  expect(of('mistralai/Mistral-7B-Instruct-v0.1', 'vllm')).toBeLessThan(whole / 3);
  const gemma3 = (32_768 * 2 * 62 * 16 * 128 * 2) / 2 ** 30;
  expect(of('google/gemma-3-27b-it', 'sglang')).toBeCloseTo(gemma3, 6);
  expect(of('google/gemma-3-27b-it', 'llama-cpp')).toBeLessThan(gemma3 / 3);
  const kept = (engine: 'sglang' | 'tensorrt-llm', name: string) => need({ name, engine, context: 32_768 }).cacheGiB;
  for (const name of ['openai/gpt-oss-20b', 'google/gemma-4-31B-it'])
    expect(kept('sglang', name)).toBeLessThan(kept('tensorrt-llm', name) * 0.7);
});

test('models of embeddings and scores have a cache if their attention is causal and the server keeps one', () => {
  const of = (name: string, engine: 'vllm' | 'llama-cpp' | 'embeddings') =>
    need({ name, engine, context: 4096 }).cacheGiB;
  expect(of('Qwen/Qwen3-Reranker-0.6B', 'vllm')).toBeCloseTo((4096 * 28 * 2 * 8 * 128 * 2) / 2 ** 30, 6);
  expect(of('Qwen/Qwen3-Embedding-4B', 'llama-cpp')).toBeGreaterThan(0.5);
  expect(of('Qwen/Qwen3-Embedding-4B', 'embeddings')).toBe(0);
  expect(of('BAAI/bge-m3', 'vllm')).toBe(0);
  expect(of('nvidia/NV-Embed-v2', 'vllm')).toBe(0);
});

test('the base of DeepSeek V4 has its experts in FP8', () => {
  const of = (name: string) => need({ name, engine: 'vllm', tensor: 8 }).weightsGiB;
  expect(of('deepseek-ai/DeepSeek-V4-Flash-Base')).toBeGreaterThan(of('deepseek-ai/DeepSeek-V4-Flash') * 1.7);
});

test("Ollama's tags of encoders have 16 bits, and those of decoders 4", () => {
  const bits = (name: string, parameters: number) =>
    (need({ name, engine: 'ollama' }).weightsGiB * 2 ** 30 * 8) / parameters;
  expect(bits('bge-m3', 0.5678e9)).toBeCloseTo(16, 1);
  expect(bits('qwen3-embedding:8b', 7.57e9)).toBeLessThan(6);
});

test('Ollama reserves memory for pictures', () => {
  const runtime = (name: string, engine: 'ollama' | 'llama-cpp') => need({ name, engine }).runtimeGiB;
  expect(runtime('gemma3:27b', 'ollama') - runtime('gemma3:1b', 'ollama')).toBe(1);
  expect(runtime('qwen3-vl:8b', 'ollama') - runtime('qwen3:8b', 'ollama')).toBe(4);
  expect(runtime('gemma-3-27b-it-Q4_K_M.gguf', 'llama-cpp')).toBe(runtime('gemma3:1b', 'ollama'));
});

test('a file in MXFP4_MOE has experts in MXFP4, and the rest in 8 bits', () => {
  const { weightsGiB } = need({ name: 'Qwen3-30B-A3B-MXFP4_MOE.gguf', engine: 'llama-cpp' });
  const experts = 48 * 128 * 3 * 2048 * 768;
  const rest = 30.53e9 - experts - 151_936 * 2048;
  expect(weightsGiB).toBeCloseTo((experts * 4.25 + rest * 8.5) / 8 / 2 ** 30, 1);
});

test('scales of bitsandbytes have 32 bits in Transformers, and checkpoints of one publisher small groups', () => {
  const weights = (name: string, quantization: string | null) =>
    need({ name, engine: 'transformers', quantization }).weightsGiB;
  const layers = (8.19e9 - 2 * 151_936 * 4096) / 8 / 2 ** 30;
  expect(weights('Qwen/Qwen3-8B', 'bitsandbytes') - weights('unsloth/Qwen3-8B-bnb-4bit', null)).toBeCloseTo(
    layers * 0.37,
    2,
  );
  expect(weights('cyankiwi/Qwen3-8B-AWQ-4bit', null) - weights('Qwen/Qwen3-8B-AWQ', null)).toBeCloseTo(
    layers * 0.34,
    2,
  );
});

test('checkpoints in 4 bits keep attention in 16 bits, if the model has linear attention and experts', () => {
  const saved = (name: string) =>
    need({ name: `acme/${name}-FP8`, engine: 'vllm' }).weightsGiB -
    need({ name: `acme/${name}-GPTQ-Int4`, engine: 'vllm' }).weightsGiB;
  const gib = (parameters: number, bits: number) => (parameters * bits) / 8 / 2 ** 30;
  const experts = 40 * 3 * 2048 * 512 * 257;
  const attention = 35.1e9 - 0.45e9 - 2 * 248_320 * 2048 - experts;
  expect(saved('Qwen3.5-35B-A3B')).toBeCloseTo(gib(experts, 8 - 4.16) - gib(attention, 16 - 8), 2);
  expect(saved('Qwen3-30B-A3B')).toBeCloseTo(gib(30.53e9 - 2 * 151_936 * 2048, 8 - 4.16), 1);
});

test('a server for text alone loads no parts for pictures', () => {
  const { towerParameters } = modelByName('Qwen/Qwen3.5-4B')!.shape;
  const weights = (given: Partial<Given>) => need({ name: 'Qwen/Qwen3.5-4B', engine: 'vllm', ...given }).weightsGiB;
  expect(weights({}) - weights({ textOnly: true })).toBeCloseTo((towerParameters * 2) / 2 ** 30, 6);
});

// vllm#12126 measured 36.6 GiB of activations and a cache of 160 KiB per token: that of 40 layers.
test('the first engine of vLLM computes the pictures of all sequences of Llama 3.2 Vision', () => {
  const given = { name: 'meta-llama/Llama-3.2-11B-Vision', engine: 'vllm', context: 65_536, sequences: 128 } as const;
  const first = need({ ...given, version: [0, 7] });
  expect(first.activationsGiB).toBeCloseTo(36, 0);
  expect(first.cacheGiB).toBeCloseTo(10, 1);
  expect(need({ ...given, version: [0, 7], sequences: 16 }).activationsGiB).toBeLessThan(6);
  expect(need(given).activationsGiB).toBeLessThan(2);
  const text = { ...given, name: 'meta-llama/Llama-3.1-8B', version: [0, 7] } as const;
  expect(need(text).activationsGiB).toBeLessThan(2);
});

test('a server that reads large pictures is called fitting only with room for one', () => {
  const given = { engine: 'vllm', version: [0, 8], tensor: 4, sequences: 2, context: 4096, fraction: 0.95 } as const;
  const fits = (name: string, more: Partial<Given> = {}) => fitOnCard(need({ ...given, name, ...more }), 39.5).fits;
  expect(fits('Qwen/Qwen2.5-VL-72B-Instruct')).toBeNull();
  expect(fits('Qwen/Qwen2.5-VL-72B-Instruct', { textOnly: true })).toBe(true);
  expect(fits('Qwen/Qwen2.5-VL-7B-Instruct')).toBe(true);
  expect(fits('Qwen/Qwen2.5-72B-Instruct')).toBe(true);
});
