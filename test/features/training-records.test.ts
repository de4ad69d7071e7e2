import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { trainingNote, trainingRecords } from '../../server/src/features/training-records.ts';
import { analyse } from '../support/analyse.ts';

const fixture = readFileSync(new URL('../fixtures/features/hover/training-on-spot.yaml', import.meta.url), 'utf8');
const manifest = fixture.replace(/^.*\n/, '').replace('$0', '');

function workloadOf(text: string) {
  const [workload] = analyse(text).documents.flatMap(({ workloads }) => workloads);
  if (workload === undefined) throw new Error('no workload');
  return workload;
}

test('a training container has a record with what one GPU needs', () => {
  const workload = workloadOf(manifest);
  const [record, ...others] = trainingRecords(workload);
  expect(others).toEqual([]);
  expect(record).toMatchObject({
    use: 'training',
    model: 'mistralai/Mistral-7B-v0.1',
    haveGiB: 79.18,
    fits: null,
    devices: 8,
    kvCacheGiB: null,
    unknown: null,
  });
  // Weights, gradients and states of 7.24 billion parameters on 8 GPUs, 16 bytes each, are 13.5 GiB.
  expect((record?.needGiB ?? 0) - (record?.overheadGiB ?? 0)).toBeCloseTo((7.24e9 * 16) / 8 / 2 ** 30, 1);
  expect(trainingNote(workload)).toEqual(['needs about 68 of 79.2 GiB per GPU']);
});

test('without a batch size the record has a lower bound instead of a figure', () => {
  const [record] = trainingRecords(workloadOf(manifest.replace('--per_device_train_batch_size=2', '--seed=1')));
  expect(record).toMatchObject({ needGiB: null, fits: null });
  expect(record?.unknown).toBe('batch size or sequence length unknown: at least 13 GiB, and activations');
});

test('weights, gradients and states that exceed the GPU do not fit', () => {
  const whole = workloadOf(manifest.replace('--fsdp=full_shard', '--seed=1'));
  expect(trainingRecords(whole)).toMatchObject([{ fits: false, weightsGiB: 26.98 }]);
  expect(trainingNote(whole)[0]).toMatch(/^needs about 2\d\d of 79\.2 GiB per GPU: too much$/);
});

test('a model without a shape has a reason, and no model has no record', () => {
  const acme = manifest.replace('mistralai/Mistral-7B-v0.1', 'acme/model-9b');
  expect(trainingRecords(workloadOf(acme))).toMatchObject([
    { model: 'acme/model-9b', unknown: 'the catalog has no sourced shape for acme/model-9b', needGiB: null },
  ]);
  expect(trainingRecords(workloadOf(manifest.replace(/--model_name_or_path=.*/, '--seed=1')))).toEqual([]);
});

test('with an unknown number of GPUs, or an unknown precision, the reason has the states', () => {
  const countless = trainingRecords(workloadOf(manifest.replace(/nvidia.com\/gpu: 8/g, 'nvidia.com/gpu: $GPUS')));
  // 8 bytes per parameter: 16 bits are the least.
  expect(countless).toMatchObject([
    {
      unknown:
        'the number of its GPUs is unknown; weights, gradients and optimizer states take at least 108 GiB across all of them',
    },
  ]);
  const [open] = trainingRecords(workloadOf(manifest.replace('--bf16', '--seed=1')));
  expect(open).toMatchObject({ model: 'mistralai/Mistral-7B-v0.1', needGiB: null });
  expect(open?.unknown).toBe(
    'no setting determines whether weights have 16 or 32 bits; weights, gradients and optimizer states take 6.7 to 13 GiB per GPU',
  );
});

test('a process that divides the model has a bound over all of its GPUs', () => {
  const command = 'swift sft --model meta-llama/Llama-2-7b-hf --train_type lora --max_length 2048';
  const [record] = trainingRecords(workloadOf(jobOf(command, 4)));
  expect(record).toMatchObject({ model: 'meta-llama/Llama-2-7b-hf', needGiB: null });
  expect(record?.unknown).toBe(
    'one process divides the model among its GPUs; weights, gradients and optimizer states take at least 13 GiB across all of them',
  );
});

// biome-ignore format: one line for each command
test.each([
  ['swift rlhf --rlhf_type dpo --model Qwen/Qwen2.5-7B --max_length 8192 --per_device_train_batch_size 1', '1 × up to 8,192 tokens per GPU'],
  ['swift sft --model Qwen/Qwen2.5-7B --max_length 8192 --per_device_train_batch_size 1 --packing true', '1 × 8,192 tokens per GPU'],
  ['swift sft --model Qwen/Qwen2.5-7B --max_length 8192 --per_device_train_batch_size 1 --packing false', '1 × up to 8,192 tokens per GPU'],
  ['megatron pretrain --model Qwen/Qwen2.5-7B --bf16 true --seq-length 4096 --micro-batch-size 1', '1 × 4,096 tokens per GPU'],
])('%s: %s', (command, tokens) => {
  const [record] = trainingRecords(workloadOf(jobOf(command.replace('megatron pretrain', 'torchrun pretrain_gpt.py'), 1)));
  expect(record?.assumptions[0]).toContain(tokens);
});

test('GPUs that share a sequence are named', () => {
  const command = 'swift sft --model Qwen/Qwen2.5-7B --max_length 32768 --batch_size 1 --sequence_parallel_size 4';
  const [record] = trainingRecords(workloadOf(jobOf(`NPROC_PER_NODE=4 ${command}`, 4)));
  expect(record?.assumptions[0]).toContain('1 × up to 32,768 tokens per 4 GPUs');
});

function jobOf(command: string, gpus: number): string {
  return `apiVersion: batch/v1
kind: Job
metadata: {name: tune}
spec:
  template:
    spec:
      containers:
        - {name: main, image: "registry.example/trainer:1", command: [bash, -c, "${command}"], resources: {limits: {nvidia.com/gpu: ${gpus}}}}
`;
}
