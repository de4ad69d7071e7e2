import { describe, expect, test } from 'vitest';
import { gpus, modelByName } from '../../server/src/catalog/index.ts';
import { decodeBound, perMillionTokens, prefillBound, trainingGpuHours } from '../../server/src/memory/speed.ts';
import { adapterParameters, checkpointGiB, estimateTraining, trainingFit } from '../../server/src/memory/training.ts';
import { trainingLevers } from '../../server/src/memory/training-levers.ts';
import type { TrainingSettings } from '../../server/src/model/training-settings.ts';

function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('not in the catalog');
  return value;
}

// 32 layers, hidden 4,096, feed-forward 14,336, 32 heads and 8 KV heads of 128, vocabulary 32,000.
const mistral = required(modelByName('mistralai/Mistral-7B-v0.1')).shape;
const qwenMoe = required(modelByName('Qwen/Qwen3-30B-A3B')).shape;
const h100 = required(gpus.get('h100-80gb-sxm'));
const gib = 2 ** 30;

const alone: TrainingSettings = {
  batch: 1,
  sequence: 2048,
  precision: 'half',
  engine: 'torch',
  sharded: 'nothing',
  offload: 'nothing',
  recomputation: 'full',
  adapter: null,
  optimizer: 'adamw',
  tensor: 1,
  sequenceParallel: false,
  pipeline: 1,
  context: 1,
  expert: 1,
  devices: 1,
  attention: 'fused',
  loss: 'whole',
  stepInBackward: false,
};
const lora = { rank: 16, targets: 'attention', bits: 16, embeddings: false } as const;

function need(more: Partial<TrainingSettings>, shape = mistral) {
  return estimateTraining(shape, { ...alone, ...more });
}

describe('quantized models that PEFT prepares', () => {
  const quantized = { ...lora, bits: 4 } as const;
  const embeddings = 2 * 32_000 * 4096;

  test('embeddings and the output layer have 32 bits, and so have the inputs of layers', () => {
    const [before, after] = [need({ adapter: quantized }), need({ adapter: quantized, upcast: true })];
    expect(after.weightsGiB - before.weightsGiB).toBeCloseTo((2 * embeddings) / gib, 5);
    // 2 bytes more per hidden value of 32 layers; two complete layers, half as much again, exceed the logits.
    const layer = 10 * 4096 + 2 * (2 * 32 + 2 * 8) * 128 + 6 * 14_336;
    const more = 2 * 4096 * 32 + 2 * 1.5 * layer - 12 * 32_000;
    expect((after.activationsGiB ?? 0) - (before.activationsGiB ?? 0)).toBeCloseTo((2048 * more) / gib, 3);
  });

  test.each([
    ['16 bits', { adapter: lora }],
    ['all weights', {}],
    ['ZeRO 3', { adapter: quantized, engine: 'deepspeed', sharded: 'parameters', devices: 8 }],
  ] as const)('nothing changes with %s', (_, settings) => {
    expect(need({ ...settings, upcast: true })).toEqual(need(settings));
  });

  // https://github.com/ljm565/universal-llm-trainer measured 36 GiB without and 48 GiB with quantization.
  test('with long sequences, quantization can take more memory than it saves', () => {
    const settings = { adapter: { ...lora, targets: 'all' }, batch: 8, sequence: 8192, upcast: true } as const;
    expect(trainingLevers(mistral, settingsWith(settings)).map(({ kind }) => kind)).not.toContain('quantize');
  });
});

describe('gradients that do not exist before the backward pass', () => {
  const total = (more: Partial<TrainingSettings>) => need({ recomputation: 'none', batch: 4, ...more }).totalGiB ?? 0;

  test('take the place of activations', () => {
    expect(total({}) - total({ onePass: true })).toBeCloseTo(need({}).gradientsGiB, 3);
  });

  test('count in full if they are larger than the activations, or if several devices reduce them', () => {
    const short = { batch: 1, sequence: 16, recomputation: 'full', optimizer: 'adamw-fused' } as const;
    const { fixedGiB, overheadGiB, totalGiB } = need({ ...short, onePass: true });
    expect(totalGiB).toBeCloseTo(fixedGiB + overheadGiB, 3);
    expect(total({ onePass: true, devices: 2 })).toBe(total({ devices: 2 }));
  });

  test('a fused step holds no copy of the weights', () => {
    const short = { batch: 1, sequence: 16, recomputation: 'full' } as const;
    expect(need(short).totalGiB! - need({ ...short, optimizer: 'adamw-fused' }).totalGiB!).toBeGreaterThan(10);
  });
});

test('data parallelism without sharding holds gradients twice', () => {
  const [one, two] = [need({}), need({ devices: 2 })];
  expect(two.buffersGiB).toBeCloseTo(one.buffersGiB + one.gradientsGiB);
  // A program can turn that off, so training is not called too large for it.
  expect(two.fixedGiB).toBe(one.fixedGiB);
  expect(need({ devices: 2, tensor: 2 }).buffersGiB).toBeLessThan(one.buffersGiB);
  expect(need({ devices: 2, stepInBackward: true }).buffersGiB).toBeCloseTo(need({ stepInBackward: true }).buffersGiB);
});

test('projected states are a tenth of one, without a copy of the weights during the step', () => {
  const [projected, whole] = [need({ optimizer: 'low-rank' }), need({ optimizer: 'lion' })];
  expect(projected.optimizerGiB).toBeCloseTo(whole.optimizerGiB / 10);
  expect(projected.buffersGiB).toBeLessThan(whole.buffersGiB);
});

test('a model with its own code fits only with more room', () => {
  const estimate = need({});
  const chatglm = need({}, required(modelByName('THUDM/chatglm3-6b')).shape);
  expect(trainingFit(estimate, (estimate.totalGiB ?? 0) * 1.9)).toBe('fits');
  expect(trainingFit(chatglm, (chatglm.totalGiB ?? 0) * 1.9)).toBe('unknown');
});

test('selective recomputation of Megatron keeps all that counts, that of others a third', () => {
  const megatron = { engine: 'megatron', precision: 'mixed' } as const;
  const kept = (more: Partial<TrainingSettings>) => need({ ...more, loss: 'chunked' }).activationsGiB ?? 0;
  expect(kept({ ...megatron, recomputation: 'selective' })).toBe(kept({ ...megatron, recomputation: 'none' }));
  expect(kept({ recomputation: 'selective' })).toBeLessThan(0.5 * kept({ recomputation: 'none' }));
});

function settingsWith(more: Partial<TrainingSettings>): TrainingSettings {
  return { ...alone, ...more };
}

describe('weights, gradients and optimizer states by hand', () => {
  const count = mistral.parameters;
  // biome-ignore format: one line for each case
  test.each([
    ['16 bits', {}, [2, 2, 4]],
    ['mixed precision', { precision: 'mixed' }, [4, 4, 8]],
    ['32 bits', { precision: 'full' }, [4, 4, 8]],
    ['DeepSpeed', { precision: 'mixed', engine: 'deepspeed' }, [2, 2, 12]],
    ['ZeRO 1 on 8', { precision: 'mixed', engine: 'deepspeed', sharded: 'optimizer', devices: 8 }, [2, 2, 12 / 8]],
    ['ZeRO 2 on 8', { precision: 'mixed', engine: 'deepspeed', sharded: 'gradients', devices: 8 }, [2, 2 / 8, 12 / 8]],
    ['ZeRO 3 on 8', { precision: 'mixed', engine: 'deepspeed', sharded: 'parameters', devices: 8 }, [2 / 8, 2 / 8, 12 / 8]],
    ['FSDP on 4', { precision: 'mixed', engine: 'fsdp', sharded: 'parameters', devices: 4 }, [1, 1, 2]],
    ['Megatron, TP 2 × DP 4', { precision: 'mixed', engine: 'megatron', sharded: 'optimizer', tensor: 2, devices: 8 }, [1, 2, 12 / 8]],
    ['8-bit states', { optimizer: 'adamw-8bit' }, [2, 2, 2]],
    ['4-bit states', { optimizer: 'adamw-4bit' }, [2, 2, 1]],
    ['a reference model', { reference: true }, [4, 2, 4]],
    ['Lion', { optimizer: 'lion' }, [2, 2, 2]],
    ['SGD', { optimizer: 'sgd' }, [2, 2, 0]],
    ['optimizer on the host', { offload: 'optimizer' }, [2, 2, 0]],
    ['all on the host', { offload: 'all' }, [0, 0, 0]],
    ['steps in the backward pass', { stepInBackward: true, optimizer: 'paged-adamw-8bit' }, [2, 0, 0]],
  ] as const)('%s', (_name, settings, [weights, gradients, optimizer]) => {
    const estimate = need(settings);
    expect(estimate.weightsGiB).toBeCloseTo((count * weights) / gib, 2);
    expect(estimate.gradientsGiB).toBeCloseTo((count * gradients) / gib, 2);
    expect(estimate.optimizerGiB).toBeCloseTo((count * optimizer) / gib, 2);
  });
});

test('LoRA trains rank × (inputs + outputs) of each matrix, on a frozen base', () => {
  // q and o: 4,096 + 4,096; k and v: 4,096 + 1,024.
  expect(adapterParameters(mistral, lora)).toBe(16 * 32 * (2 * 8192 + 2 * 5120));
  expect(adapterParameters(mistral, { ...lora, targets: 'query-value' })).toBe(16 * 32 * (8192 + 5120));
  const all = adapterParameters(mistral, { ...lora, targets: 'all' });
  expect(all).toBe(16 * 32 * (2 * 8192 + 2 * 5120 + 3 * (4096 + 14336)));
  expect(need({ adapter: { ...lora, bits: 4 } }).weightsGiB).toBeLessThan(need({ adapter: lora }).weightsGiB / 3);
});

test('an adapter needs no reference model, because the model under it is frozen', () => {
  expect(need({ adapter: lora, reference: true })).toEqual(need({ adapter: lora }));
});

test('with FSDP, gradients of all experts of a layer exist while each expert adds to them', () => {
  const one = { engine: 'fsdp', sharded: 'parameters', devices: 8, sequence: 1, optimizer: 'adamw-8bit' } as const;
  const buffers = (shape: typeof qwenMoe) => need(one, shape).buffersGiB;
  // 128 experts of 3 × 2,048 × 768 numbers, twice in 16 bits
  expect(buffers(qwenMoe) - buffers({ ...qwenMoe, experts: null })).toBeCloseTo(
    (2 * 2 * 128 * 3 * 2048 * 768) / gib,
    2,
  );
});

test('experts are divided by expert parallelism, and only their copies divide their states', () => {
  const one = { precision: 'mixed', engine: 'megatron', sharded: 'optimizer', devices: 8 } as const;
  const { weightsGiB, optimizerGiB } = need({ ...one, expert: 8 }, qwenMoe);
  expect(weightsGiB).toBeLessThan(need(one, qwenMoe).weightsGiB / 4);
  expect(optimizerGiB).toBeCloseTo(need(one, qwenMoe).optimizerGiB, 0);
});

describe('activations', () => {
  test('grow with the tokens, and shrink with recomputation, context parallelism and a chunked loss', () => {
    const size = (more: Partial<TrainingSettings>) => need(more).activationsGiB ?? 0;
    expect(size({ batch: 2 })).toBeCloseTo(2 * size({}));
    expect(size({ pairs: true })).toBeCloseTo(2 * size({}));
    expect(size({ context: 2 })).toBeCloseTo(size({}) / 2);
    expect(size({ recomputation: 'none' })).toBeGreaterThan(3 * size({}));
    expect(size({ recomputation: 'selective' })).toBeLessThan(size({ recomputation: 'none' }));
    expect(size({ loss: 'chunked' })).toBeLessThan(size({}));
    expect(size({ attention: 'eager', sequence: 8192 })).toBeGreaterThan(2 * size({ sequence: 8192 }));
  });

  test('logits take 12 bytes each', () => {
    const whole = need({ recomputation: 'none' }).activationsGiB ?? 0;
    const chunked = need({ recomputation: 'none', loss: 'chunked' }).activationsGiB ?? 0;
    expect(whole - chunked).toBeCloseTo((2048 * 32_000 * 12 * 15) / 16 / gib, 3);
  });

  test('models of embeddings are trained without logits', () => {
    const embedding = { ...mistral, kind: 'embedding' } as const;
    const saved =
      (need({ recomputation: 'none' }).activationsGiB ?? 0) -
      (need({ recomputation: 'none' }, embedding).activationsGiB ?? 0);
    expect(saved).toBeCloseTo((2048 * 32_000 * 12) / gib, 3);
  });

  test('logits are gone when the first layer is computed again', () => {
    const of = (loss: 'whole' | 'chunked') => need({ recomputation: 'full', loss }).activationsGiB ?? 0;
    const inputs = (2048 * 32 * 2 * 4096) / gib;
    expect(of('whole')).toBeCloseTo(Math.max(of('chunked'), inputs + (2048 * 32_000 * 12) / gib), 3);
  });

  test('offloaded checkpoints leave only what is computed again', () => {
    const of = (recomputation: 'full' | 'offloaded') => need({ recomputation }).activationsGiB ?? 0;
    expect(of('full') - of('offloaded')).toBeCloseTo((2048 * 32 * 2 * 4096) / gib, 6);
  });

  test('kernels with a fused loss write gradients over activations', () => {
    const of = (loss: 'whole' | 'chunked', recomputation: 'full' | 'offloaded') =>
      need({ loss, recomputation, sequence: 65_536 }).activationsGiB ?? 0;
    const inputs = (65_536 * 32 * 2 * 4096) / gib;
    expect(of('chunked', 'offloaded')).toBeCloseTo((of('chunked', 'full') - inputs) / 2, 6);
    expect(of('whole', 'offloaded')).toBeCloseTo(of('whole', 'full') - inputs, 6);
  });

  test('quantized weights are gathered as they are stored', () => {
    const shared = { sharded: 'parameters', engine: 'fsdp', devices: 8 } as const;
    const adapter = { rank: 16, targets: 'all', embeddings: false } as const;
    const of = (bits: 4 | 16) => need({ ...shared, adapter: { ...adapter, bits } });
    expect(of(4).buffersGiB).toBeLessThan(of(16).buffersGiB);
  });

  test('are unknown without batch or sequence; the rest is a lower bound', () => {
    const known = need({});
    for (const missing of [{ batch: null }, { sequence: null }]) {
      const { totalGiB, activationsGiB, fixedGiB } = need(missing);
      expect([totalGiB, activationsGiB]).toEqual([null, null]);
      expect(fixedGiB).toBeCloseTo(known.fixedGiB);
    }
  });
});

test('nothing is said of a fit within the error of the estimate', () => {
  const estimate = need({ precision: 'mixed' });
  // 16 bytes per parameter: 108 GiB.
  expect(trainingFit(estimate, 80)).toBe('too-large');
  expect(trainingFit(estimate, 96)).toBe('unknown');
  expect(trainingFit(estimate, 288)).toBe('fits');
  expect(trainingFit(need({ precision: 'mixed', batch: null }), 288)).toBe('unknown');
});

test('levers are sorted by what they save, and what is in use is not one', () => {
  const settings = { ...alone, precision: 'mixed', recomputation: 'none', devices: 8, batch: 2 } as const;
  const levers = trainingLevers(mistral, settings);
  expect(new Set(levers.map(({ kind }) => kind))).toEqual(
    new Set(['shard', 'lora', 'qlora', 'recompute', 'small-states', 'batch']),
  );
  expect(levers.map(({ savesGiB }) => savesGiB)).toEqual(
    [...levers.map(({ savesGiB }) => savesGiB)].sort((a, b) => b - a),
  );
  expect(trainingLevers(mistral, { ...settings, batch: null })).toEqual([]);
});

test('a checkpoint has weights and states', () => {
  const count = mistral.parameters;
  expect(checkpointGiB(mistral, { ...alone, precision: 'mixed' })).toBeCloseTo((count * 12) / gib);
  expect(checkpointGiB(mistral, { ...alone, precision: 'mixed', engine: 'deepspeed' })).toBeCloseTo((count * 14) / gib);
  expect(checkpointGiB(mistral, alone)).toBeCloseTo((count * 6) / gib);
  expect(checkpointGiB(mistral, { ...alone, adapter: lora })).toBeLessThan(1);
});

describe('bounds on speed by hand', () => {
  test('decoding reads weights and caches once per step', () => {
    // 3,350 GB/s over 14 GiB is 223 tokens/s for one sequence.
    const one = { weightsGiB: 14, cacheGiB: 0, sequences: 1 };
    expect(decodeBound({ memoryBandwidth: 3350 }, 1, one)).toBeCloseTo(3350e9 / (14 * gib));
    expect(decodeBound({ memoryBandwidth: 3350 }, 2, { weightsGiB: 14, cacheGiB: 1, sequences: 4 })).toBeCloseTo(
      (4 * 2 * 3350e9) / (18 * gib),
    );
    expect(decodeBound({ memoryBandwidth: null }, 1, one)).toBeNull();
  });

  test('prefill takes two operations per parameter', () => {
    expect(prefillBound({ tflops: { bf16: 989, fp16: 989, fp8: 1979 } }, 1, { active: 7e9 })).toBeCloseTo(
      989e12 / 14e9,
    );
    expect(prefillBound({ tflops: { bf16: 989, fp16: 989, fp8: 1979 } }, 1, { active: 7e9 }, 'fp8')).toBeCloseTo(
      1979e12 / 14e9,
    );
  });

  test('a million tokens at 100 tokens/s take 10,000 s', () => {
    expect(perMillionTokens(3.6, 100)).toBeCloseTo(10);
  });

  test('training takes six operations per parameter and token', () => {
    const model = { active: 7e9 };
    const hours = trainingGpuHours(h100, model, 1e9, 0.5, false);
    expect(hours).toBeCloseTo((6 * 7e9 * 1e9) / (0.5 * (h100.tflops.bf16 ?? 0) * 1e12) / 3600);
    expect(trainingGpuHours(h100, model, 1e9, 0.5, true)).toBeCloseTo(((hours ?? 0) * 4) / 6);
  });
});
