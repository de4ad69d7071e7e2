import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { trainingRun } from '../../server/src/model/training-run.ts';
import { analyse } from '../support/analyse.ts';

const { documents } = analyse(readFileSync(new URL('../fixtures/training/frameworks.yaml', import.meta.url), 'utf8'));
const workloads = documents.flatMap((document) => document.workloads);

function trained(name: string) {
  const workload = workloads.find((one) => one.name === name);
  const container = workload?.podSets[0]?.containers[0];
  if (workload === undefined || container === undefined) throw new Error(`no workload ${name}`);
  return trainingRun(container, workload);
}

const lora = { rank: 8, targets: 'attention', bits: 16, embeddings: false };

describe('the settings of a run', () => {
  // biome-ignore format: one line for each framework
  test.each([
    ['transformers', { batch: 2, sequence: 4096, precision: 'mixed', engine: 'fsdp', sharded: 'parameters', recomputation: 'full', optimizer: 'adamw-8bit', adapter: null, devices: 4, offload: 'nothing' }],
    ['deepspeed', { batch: 4, sequence: 2048, precision: 'mixed', engine: 'deepspeed', sharded: 'parameters', offload: 'optimizer', recomputation: 'none', optimizer: 'adamw', devices: 32 }],
    ['accelerate', { batch: 1, sequence: 1024, precision: 'half', engine: 'fsdp', sharded: 'gradients', offload: 'nothing', recomputation: 'full', adapter: { ...lora, rank: 16, targets: 'all' }, devices: 2 }],
    ['axolotl', { batch: 2, sequence: 4096, precision: 'half', engine: 'torch', sharded: 'nothing', recomputation: 'full', optimizer: 'paged-adamw-8bit', adapter: { ...lora, rank: 32, targets: 'all', bits: 4 }, devices: 1, attention: 'fused' }],
    ['llamafactory', { batch: 1, sequence: 2048, precision: 'half', engine: 'torch', sharded: 'nothing', recomputation: 'full', adapter: { ...lora, targets: 'all' }, devices: 1 }],
    ['torchtitan', { batch: 2, sequence: 8192, precision: 'mixed', engine: 'fsdp', sharded: 'parameters', recomputation: 'selective', tensor: 2, sequenceParallel: true, adapter: null, devices: 8 }],
    ['torchtune', { batch: 4, sequence: 2048, precision: 'half', engine: 'fsdp', sharded: 'parameters', recomputation: 'full', adapter: { ...lora, rank: 16 }, devices: 2, loss: 'chunked' }],
    ['megatron', { batch: 1, sequence: 4096, precision: 'mixed', engine: 'megatron', sharded: 'optimizer', recomputation: 'selective', tensor: 4, pipeline: 2, sequenceParallel: true, devices: 8 }],
    ['nemo', { batch: 1, sequence: 2048, precision: 'mixed', engine: 'megatron', sharded: 'optimizer', recomputation: 'full', tensor: 2, adapter: lora, devices: 8 }],
    ['trl', { batch: 1, sequence: 2048, precision: 'half', engine: 'torch', sharded: 'nothing', recomputation: 'full', adapter: null, devices: 1, loss: 'chunked' }],
    ['unsloth', { batch: 2, sequence: 2048, precision: 'half', recomputation: 'full', optimizer: 'adamw-8bit', adapter: { ...lora, rank: 16, bits: 4 }, devices: 1, loss: 'chunked' }],
    ['trainjob', { batch: 1, sequence: 2048, precision: 'mixed', engine: 'deepspeed', sharded: 'parameters', offload: 'nothing', devices: 8 }],
  ])('%s', (name, expected) => {
    expect(trained(name)).toMatchObject({ unknown: null, run: { settings: expected } });
  });

  test.each([
    ['transformers', { name: 'meta-llama/Llama-3.1-8B', accumulation: 8, steps: 500 }],
    ['axolotl', { name: 'meta-llama/Llama-3.1-8B', accumulation: 4 }],
    ['torchtitan', { name: 'llama-3-8B', steps: 1000 }],
    ['torchtune', { name: 'llama-3.1-8B' }],
    ['megatron', { globalBatch: 128, steps: 2000, shape: { layers: 32, hidden: 4096, heads: 32, feedForward: 16384 } }],
  ])('%s: model and length', (name, expected) => {
    expect(trained(name).run).toMatchObject(expected);
  });
});

test.each([
  ['unread', { kind: 'unread', name: 'fsdp.yaml' }],
  ['unnamed', { kind: 'unnamed' }],
  ['unknown-precision', { kind: 'precision' }],
])('%s: unknown, with a reason', (name, reason) => {
  expect(trained(name)).toEqual({ run: null, unknown: reason });
});
