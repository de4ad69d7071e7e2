import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ggufFormat, type ModelShape, modelByName, weightFormat } from '../server/src/catalog/index.ts';
import { weightsGiB } from '../server/src/memory/model-weights.ts';
import { modelsFile } from './support/catalog-schema.ts';

const file = modelsFile.parse(
  JSON.parse(readFileSync(new URL('../server/src/catalog/data/models.json', import.meta.url), 'utf8')),
);
const names = [...file.models.map(([name]) => name), ...file.copies.map(([name]) => name)];

/**
 * Parameters of a stack of layers in billions, computed from its dimensions: embeddings, projections of attention, feed-forward parts and routers.
 * Norms, biases and learned positions are omitted.
 */
function computed([
  ,
  ,
  layers,
  hidden,
  feedForward,
  heads,
  kvHeads,
  headSize,
  vocabulary,
  ,
  ,
  more,
]: (typeof file.models)[number]) {
  const { experts, latent, cache, encoder = 0, tower = 0, other = 0, tied, ungated } = more;
  const matrices = ungated ? 2 : 3;
  const [query, width, rope, nope, value] = latent ?? [0, 0, 0, 0, 0];
  const queries = query > 0 ? hidden * query + query * heads * (rope + nope) : hidden * heads * (rope + nope);
  const ofLatent = queries + hidden * (width + rope) + width * heads * (nope + value) + heads * value * hidden;
  const attention = latent === undefined ? 2 * hidden * headSize * (heads + kvHeads) : ofLatent;
  const attending = (cache ?? []).flatMap(([kind, count]) => (kind === 'attention' ? [count] : []));
  // Parts of the layers of a hybrid model have no attention; other models cache the tokens of fewer layers than attend to them.
  const isHybrid = cache?.some(([kind]) => kind === 'state') || (feedForward === 0 && experts === undefined);
  const attentionLayers = isHybrid ? attending.reduce((sum, count) => sum + count, 0) : layers;
  const [count = 0, , expertWidth = 0, shared = 0, expertLayers = 0] = experts ?? [];
  const ofExperts = expertLayers * hidden * (matrices * (expertWidth * count + shared) + count);
  const dense = (layers - expertLayers + encoder) * matrices * hidden * feedForward;
  const crossAttention = encoder > 0 ? layers : 0;
  const embedding = vocabulary * hidden * (tied ? 1 : 2);
  const sum = (attentionLayers + encoder + crossAttention) * attention + ofExperts + dense + embedding;
  return sum / 1e9 + tower + other;
}

describe('the shapes of models', () => {
  it.each(file.models.map((model) => [model[0], model] as const))(
    '%s has the published number of parameters',
    (_, model) => {
      expect(Math.abs(computed(model) / model[1] - 1)).toBeLessThan(0.03);
    },
  );

  it('have names of their own, known sources and consistent layers', () => {
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(names.length);
    for (const [name, billions, layers, , , heads, kvHeads, , , , source, more] of file.models) {
      expect(file.sources[source], name).toBeDefined();
      expect(heads % Math.max(1, kvHeads), name).toBe(0);
      expect(more.active ?? 0, name).toBeLessThan(billions);
      expect(more.window?.[0] ?? 0, name).toBeLessThanOrEqual(layers);
      expect(more.experts?.[4] ?? 0, name).toBeLessThanOrEqual(layers);
      expect(more.experts === undefined, name).toBe(more.active === undefined || /gemma-(?:3n|4-E)/.test(name));
    }
  });

  it('are found by their own names', () => {
    for (const [name, base, differs] of [...file.models.map(([name]) => [name, name, {}] as const), ...file.copies]) {
      const found = modelByName(name.replace(/^ollama\//, 'ollama://'))?.shape;
      expect(found?.name, name).toBe(base);
      expect(found, name).toMatchObject(differs);
    }
  });
});

describe('the cache of a model', () => {
  const cache = (name: string) => modelByName(name)?.shape.cache;
  const attention = { kind: 'attention', window: null };

  it('has all layers, or those with a window apart', () => {
    expect(cache('Qwen/Qwen2.5-7B')).toEqual([{ ...attention, layers: 28, kvHeads: 4, headSize: 128 }]);
    expect(cache('google/gemma-3-27b-it')).toEqual([
      { ...attention, layers: 10, kvHeads: 16, headSize: 128 },
      { ...attention, layers: 52, kvHeads: 16, headSize: 128, window: 1024 },
    ]);
  });

  it('is one vector with latent attention, a state with linear attention, and nothing in an encoder', () => {
    expect(cache('deepseek-ai/DeepSeek-V3')).toEqual([{ kind: 'latent', layers: 61, width: 576 }]);
    expect(cache('state-spaces/mamba-2.8b')?.map(({ kind }) => kind)).toEqual(['state']);
    expect(cache('BAAI/bge-m3')).toEqual([]);
    expect(cache('nvidia/llama-3.2-nv-embedqa-1b-v2')).toEqual([]);
  });
});

/** Sizes of files on the hub, in GB. */
describe('the weights of a model', () => {
  const shapeOf = (name: string): ModelShape => {
    const shape = modelByName(name)?.shape;
    if (shape === undefined) throw new Error(`${name} is unknown`);
    return shape;
  };

  it.each([
    ['meta-llama/Llama-3.1-8B', null, 16.06],
    ['meta-llama/Llama-3.1-8B', weightFormat('awq'), 5.73],
    ['meta-llama/Llama-3.1-70B', weightFormat('fp8'), 72.7],
    ['Qwen/Qwen2.5-7B', ggufFormat('q4_K_M'), 4.68],
    ['openai/gpt-oss-20b', null, 13.76],
    ['openai/gpt-oss-120b', null, 65.25],
    ['mistralai/Mixtral-8x7B-v0.1', null, 93.4],
    ['moonshotai/Kimi-K2-Thinking', null, 594],
  ] as const)('%s, %o', (name, format, gigabytes) => {
    const bytes = weightsGiB(shapeOf(name), format ?? null) * 2 ** 30;
    expect(Math.abs(bytes / gigabytes / 1e9 - 1)).toBeLessThan(0.03);
  });
});
