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
    ['unsloth', { batch: 2, sequence: 2048, precision: 'half', recomputation: 'offloaded', optimizer: 'adamw-8bit', adapter: { ...lora, rank: 16, bits: 4 }, devices: 1, loss: 'chunked' }],
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
  expect(trained(name)).toMatchObject({ run: null, unknown: reason });
});

function runOf(command: string, devices = 1) {
  const [document] = analyse(`apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  template:
    spec:
      containers:
        - name: main
          image: registry.example/trainer:1
          command: [bash, -c]
          args:
            - |
              ${command}
          resources: {limits: {nvidia.com/gpu: ${devices}}}
`).documents;
  const [workload] = document?.workloads ?? [];
  const [container] = workload?.podSets[0]?.containers ?? [];
  if (workload === undefined || container === undefined) throw new Error('no workload');
  return trainingRun(container, workload);
}

const llama = '--model_name_or_path meta-llama/Llama-2-7b-hf';

test.each([
  ['torchrun --nnodes=2 --nproc_per_node=8', 16],
  ['torchrun --nnodes=2:4 --nproc_per_node=8', 8],
  ['torchrun --nproc_per_node=8', 8],
  ['accelerate launch --num_machines 4 --num_processes 32', 32],
])('a single pod trains with the nodes that its launcher waits for: %s', (launcher, devices) => {
  expect(runOf(`${launcher} train.py ${llama} --bf16 --fsdp full_shard`, 8).run?.settings.devices).toBe(devices);
});

describe('command lines', () => {
  // biome-ignore format: one line for each command
  test.each([
    ['litgpt finetune_lora meta-llama/Llama-2-7b-hf --precision bf16-true --train.micro_batch_size 1 --train.max_seq_length 512 --lora_r 32 --quantize bnb.nf4', { batch: 1, sequence: 512, precision: 'half', recomputation: 'none', adapter: { rank: 32, bits: 4 } }],
    [`llamafactory-cli train ${llama} --finetuning_type full --use_galore --galore_rank 32 --optim adamw_8bit --cutoff_len 1024 --per_device_train_batch_size 1 --pure_bf16`, { optimizer: 'low-rank', stepInBackward: false }],
    [`llamafactory-cli train ${llama} --finetuning_type full --use_apollo --apollo_layerwise --cutoff_len 1024 --per_device_train_batch_size 1 --pure_bf16`, { optimizer: 'low-rank', stepInBackward: true }],
    [`python run_clm.py ${llama} --bf16 --optim galore_adamw_layerwise --per_device_train_batch_size 1`, { optimizer: 'low-rank', stepInBackward: true }],
    ['litgpt finetune_full google/gemma-2b --precision bf16-true --train.micro_batch_size 1', { precision: 'half', recomputation: 'none', adapter: null }],
    ['swift sft --model_type qwen-7b-chat --max_length 2048 --sft_type lora --batch_size 1', { batch: 1, sequence: 2048, precision: 'half', recomputation: 'full', adapter: { bits: 16 } }],
    ['megatron sft --load Qwen2.5-7B-mcore --tensor_model_parallel_size 4 --max_length 8192 --micro_batch_size 1', { engine: 'megatron', sharded: 'optimizer', precision: 'mixed', recomputation: 'none', tensor: 4 }],
    ['megatron rlhf --rlhf_type dpo --load Qwen3-8B-mcore --recompute_granularity full --max_length 4096 --micro_batch_size 1', { engine: 'megatron', sharded: 'optimizer', precision: 'mixed', recomputation: 'full' }],
    ['swift sft --model Qwen/Qwen2.5-7B --train_type full --deepspeed zero3 --use_liger_kernel true --max_length 16384 --per_device_train_batch_size 1', { engine: 'deepspeed', sharded: 'parameters', precision: 'mixed', loss: 'chunked', sequence: 16384 }],
    ['tune run full_finetune_single_device --config llama3_1/8B_full_single_device batch_size=2 tokenizer.max_seq_len=2048 optimizer=bitsandbytes.optim.PagedAdamW8bit optimizer_in_bwd=True', { batch: 2, sequence: 2048, optimizer: 'paged-adamw-8bit', stepInBackward: true, recomputation: 'full', loss: 'chunked' }],
    ['python finetune.py --model_name unsloth/llama-3-8b-bnb-4bit --max_seq_length 2048 --per_device_train_batch_size 1', { adapter: { bits: 4 } }],
    ['python finetune.py --model_name acme/llama-3-8b --load_in_8bit --bf16 --max_seq_length 2048', { adapter: { bits: 8 } }],
    ['tune run lora_finetune_single_device --config llama3_1/8B_qlora_single_device batch_size=2', { adapter: { bits: 4 }, sequence: null }],
    ['torchrun -m torchtitan.train --job.config_file ./torchtitan/models/llama3/train_configs/llama3_8b.toml --training.local_batch_size=2 --training.seq_len=8192', { batch: 2, sequence: 8192, precision: 'mixed', recomputation: 'selective', sharded: 'parameters' }],
    ['CONFIG_FILE=./train_configs/llama3_8b.toml ./torchtitan/run_train.sh --training.batch_size 2', { batch: 2, sequence: null, engine: 'fsdp' }],
    [`llamafactory-cli train ${llama} --finetuning_type lora --bf16 true --use_unsloth true`, { recomputation: 'offloaded' }],
    [`accelerate launch sft.py ${llama} --bf16 True --gradient_checkpointing True --activation_offloading True`, { recomputation: 'offloaded' }],
    [`accelerate launch sft.py ${llama} --bf16 True --activation_offloading True`, { recomputation: 'none' }],
    ['tune run lora_finetune_single_device --config llama3_1/8B_lora_single_device enable_activation_offloading=True', { recomputation: 'offloaded' }],
    [`torchrun fine-tune.py ${llama} --bf16 True --model_max_length 8192 --per_device_train_batch_size 1 --deepspeed ds_configs/stage2.json --low_rank_training True`, { engine: 'deepspeed', sharded: 'gradients', loss: 'whole', recomputation: 'none', adapter: { rank: 8 } }],
    ['torchrun finetune.py --model_name_or_path Qwen/Qwen-7B-Chat-Int4 --fp16 True --use_lora --q_lora --per_device_train_batch_size 1', { adapter: { bits: 4 } }],
    [`torchrun train_mem.py ${llama} --bf16 True --per_device_train_batch_size 2 --fsdp "full_shard auto_wrap"`, { engine: 'fsdp', sharded: 'parameters', precision: 'mixed' }],
    ['python train.py --trainer.strategy=deepspeed_stage_3 --trainer.precision=bf16-mixed --model.name=meta-llama/Llama-2-7b-hf --data.batch_size=2', { engine: 'deepspeed', sharded: 'parameters', precision: 'mixed', batch: 2 }],
    ['deepspeed --module openrlhf.cli.train_sft --max_len 2048 --micro_train_batch_size 2 --pretrain meta-llama/Meta-Llama-3-8B --zero_stage 3 --bf16 --gradient_checkpointing --adam_offload', { sequence: 2048, batch: 2, offload: 'optimizer', sharded: 'parameters', recomputation: 'full' }],
    ['python run_glue.py --model_name_or_path google-bert/bert-large-uncased --per_device_train_batch_size 4 --max_seq_length 512', { precision: 'full', batch: 4, sequence: 512 }],
    [`llamafactory-cli train ${llama} --finetuning_type full --bf16 true --disable_gradient_checkpointing true --attn_implementation eager`, { recomputation: 'none', attention: 'eager', precision: 'mixed', batch: null }],
    [`torchrun train.py ${llama} --bf16 --fsdp "full_shard auto_wrap offload"`, { sharded: 'parameters', offload: 'all' }],
    [`torchrun train.py ${llama} --distributed.strategy=fsdp2 --distributed.tp_size=2 --distributed.pp_size=4 --packed_sequence_size=4096 --torch_dtype=bfloat16`, { engine: 'fsdp', sharded: 'parameters', tensor: 2, pipeline: 4, sequence: 4096, precision: 'half' }],
    [`torchrun train.py ${llama} --bf16 --fsdp full_shard --tp_comm_size=2 --ppo_size=4`, { tensor: 1, pipeline: 1 }],
    ['unsloth train --model google/gemma-3-12b-it --load_in_4bit true --max_seq_length 4096', { attention: 'eager' }],
    ['unsloth train --model google/gemma-3n-E4B-it --load_in_4bit true --max_seq_length 4096', { attention: 'fused' }],
    ['axolotl train --base_model google/gemma-3-12b-it --load_in_4bit true --adapter qlora', { attention: 'fused' }],
    [`torchrun train.py ${llama} --bf16 --fsdp "shard_grad_op auto_wrap" --optim adafactor`, { sharded: 'gradients', optimizer: 'adafactor' }],
  ])('%s', (command, expected) => {
    expect(runOf(command)).toMatchObject({ unknown: null, run: { settings: expected } });
  });

  // biome-ignore format: one line for each command
  test.each([
    ['axolotl train examples/llama-3/qlora.yml', { kind: 'unread', name: 'examples/llama-3/qlora.yml' }],
    [`accelerate launch --config_file fsdp_config.yaml train.py ${llama} --bf16`, { kind: 'unread', name: 'fsdp_config.yaml' }],
    ['torchrun train.py --model_name_or_path acme/model-9b --bf16 --per_device_train_batch_size 1', { kind: 'noShape', name: 'acme/model-9b' }],
    ['swift sft --model_type acme-7b-chat --sft_type lora --batch_size 1', { kind: 'noShape', name: 'acme-7b-chat' }],
    [`torchrun train.py ${llama} --bf16 --optim "$OPTIM" --per_device_train_batch_size 1`, { kind: 'setting', name: 'optim' }],
    [`torchrun train.py ${llama}`, { kind: 'precision' }],
    [`torchrun megatron/train.py ${llama} --tensor-model-parallel-size 2`, { kind: 'precision' }],
    ['torchrun train.py --epochs 3', { kind: 'unnamed' }],
  ])('%s: unknown', (command, reason) => {
    expect(runOf(command)).toMatchObject({ run: null, unknown: reason });
  });

  // biome-ignore format: one line for each command
  test.each([
    [`trl dpo ${llama} --dtype bfloat16 --per_device_train_batch_size 2`, [true, true]],
    [`python scripts/train_dpo.py ${llama} --bf16 --per_device_train_batch_size 2`, [true, true]],
    ['swift rlhf --rlhf_type dpo --model meta-llama/Llama-2-7b-hf --torch_dtype bfloat16', [true, true]],
    [`llamafactory-cli train ${llama} --stage rm --finetuning_type lora --bf16 true`, [true, undefined]],
    [`trl dpo ${llama} --dtype bfloat16 --precompute_ref_log_probs true`, [true, undefined]],
    [`trl kto ${llama} --dtype bfloat16`, [undefined, true]],
    [`llamafactory-cli train ${llama} --stage sft --bf16 true && rm -rf /tmp/cache`, [undefined, undefined]],
    [`trl grpo ${llama} --dtype bfloat16 --reward_model_name_or_path meta-llama/Llama-3.2-1B`, [undefined, undefined]],
  ])('%s: pairs and a reference model', (command, expected) => {
    const { pairs, reference } = runOf(command).run?.settings ?? {};
    expect([pairs, reference]).toEqual(expected);
  });

  // biome-ignore format: one line for each command
  test.each([
    ['swift sft --model meta-llama/Llama-2-7b-hf --sequence_parallel_size 8', 8],
    [`llamafactory-cli train ${llama} --bf16 true --sequence_parallel_size 4`, 4],
    [`accelerate launch sft.py ${llama} --bf16 --ulysses_sequence_parallel_size 2`, 2],
    ['megatron sft --load Qwen1.5-MoE-A2.7B-mcore --tensor_model_parallel_size 2 --sequence_parallel true --bf16 true', 1],
    [`accelerate launch sft.py ${llama} --bf16 --sequence_length 2048 --model_parallel_size 4`, 1],
  ])('%s: %i parts of each sequence', (command, parts) => {
    expect(runOf(command).run?.settings.context).toBe(parts);
  });

  // biome-ignore format: one line for each command
  test.each([
    ['swift sft --model meta-llama/Llama-2-7b-hf --train_type lora', 4, true],
    ['NPROC_PER_NODE=2 swift sft --model meta-llama/Llama-2-7b-hf --train_type lora', 4, true],
    ['swift dpo --model_type yi-6b-chat --sft_type lora', 2, true],
    [`python sft.py ${llama} --bf16 --device_map auto`, 2, true],
    ['NPROC_PER_NODE=4 swift sft --model meta-llama/Llama-2-7b-hf --train_type lora', 4, false],
    ['swift sft --model meta-llama/Llama-2-7b-hf --train_type lora', 1, false],
    ['NPROC_PER_NODE=4 swift sft --model meta-llama/Llama-2-7b-hf --deepspeed zero3', 4, false],
    ['torchrun swift/cli/sft.py --model meta-llama/Llama-2-7b-hf --torch_dtype bfloat16', 4, false],
    [`accelerate launch sft.py ${llama} --bf16 --device_map auto`, 2, false],
    [`python sft.py ${llama} --bf16`, 2, false],
  ])('%s on %i GPUs: one process divides the model: %s', (command, devices, divided) => {
    expect(runOf(command, devices).unknown?.kind === 'divided').toBe(divided);
  });

  const quantized = '--use_peft --load_in_4bit true';
  test.each([
    [`trl sft ${llama} ${quantized}`, true],
    [`python train.py ${llama} --bf16 ${quantized}`, true],
    [`llamafactory-cli train ${llama} --finetuning_type lora --quantization_bit 4`, undefined],
    ['tune run lora_finetune_single_device --config llama3_1/8B_qlora_single_device', undefined],
    ['torchrun finetune.py --model_name_or_path Qwen/Qwen-7B-Chat-Int4 --fp16 True --use_lora', undefined],
  ])('%s: 32 bits for what is not quantized: %s', (command, upcast) => {
    expect(runOf(command).run?.settings.upcast).toBe(upcast);
  });

  test('states of AdamW can have 4 bits', () => {
    expect(runOf(`trl sft ${llama} --dtype bfloat16 --optim adamw_torch_4bit`).run?.settings.optimizer).toBe(
      'adamw-4bit',
    );
  });

  test.each([
    ['q_proj,v_proj,shared_expert.gate_proj,shared_expert.down_proj', 'query-value'],
    ['q_proj,k_proj,v_proj,o_proj,mlp.gate', 'attention'],
    ['q_proj,k_proj,v_proj,o_proj,gate_proj', 'all'],
    ['q_proj k_proj v_proj o_proj gate_proj --lora_r 8', 'all'],
    ['q_proj v_proj --module gate_proj', 'query-value'],
  ])('adapters on %s: %s', (modules, targets) => {
    const run = runOf(`trl sft ${llama} --dtype bfloat16 --use_peft true --lora_target_modules ${modules}`);
    expect(run.run?.settings.adapter?.targets).toBe(targets);
  });

  test.each([
    ['plugins: [axolotl.integrations.cut_cross_entropy.CutCrossEntropyPlugin]', 'chunked'],
    ['plugins: [axolotl.integrations.cut_cross_entropy.CutCrossEntropyPlugin]\ncut_cross_entropy: false', 'whole'],
    ['plugins: [axolotl.integrations.spectrum.SpectrumPlugin]', 'whole'],
  ])('%s: a %s loss', (lines, loss) => {
    const file = ["cat > run.yaml <<'EOF'", 'base_model: meta-llama/Llama-2-7b-hf', 'bf16: true', lines, 'EOF'];
    const run = runOf([...file, 'axolotl train run.yaml'].join('\n').replaceAll('\n', `\n${' '.repeat(14)}`));
    expect(run.run?.settings.loss ?? run.unknown).toBe(loss);
  });

  test("torchtitan's presets are known, and flags take precedence", () => {
    const file = './torchtitan/models/llama3/train_configs/llama3_70b.toml';
    const command = `torchrun --nproc_per_node=8 -m torchtitan.train --job.config_file ${file} --training.local_batch_size 4`;
    expect(runOf(command, 8).run).toMatchObject({
      name: 'llama-3-70B',
      settings: { batch: 4, sequence: 8192, tensor: 8, recomputation: 'full' },
    });
    expect(runOf(command.replace('llama3_70b', 'own'), 8).run).toBeNull();
  });

  test('a variable of the cluster leaves the batch open', () => {
    expect(
      runOf(`torchrun train.py ${llama} --bf16 --per_device_train_batch_size $BATCH`).run?.settings.batch,
    ).toBeNull();
  });
});

test.each([
  ['', 'chunked'],
  ['loss=torch.nn.CrossEntropyLoss', 'whole'],
  ['loss._component_=torch.nn.CrossEntropyLoss', 'whole'],
  ['loss=torchtune.modules.loss.CEWithChunkedOutputLoss', 'chunked'],
])("torchtune's own losses divide the tokens: %s", (option, loss) => {
  const command = 'tune run full_finetune_single_device --config llama3_2/3B_full_single_device dtype=bf16';
  expect(runOf(`${command} ${option}`).run?.settings.loss).toBe(loss);
});

test.each([
  ['--gradient_accumulation_steps=1 --optim=adamw_torch_fused', { onePass: true, optimizer: 'adamw-fused' }],
  ['--gradient_accumulation_steps=8 --optim=adamw_torch', { optimizer: 'adamw' }],
  ['--optim=adamw_bnb_8bit', { optimizer: 'adamw-8bit' }],
])('passes of a step, and its optimizer: %s', (options, expected) => {
  const settings = runOf(`python train.py --model_name_or_path=Qwen/Qwen3-8B --bf16 ${options}`).run?.settings;
  expect(settings).toMatchObject(expected);
  expect(settings?.onePass).toBe('onePass' in expected ? true : undefined);
});

describe("DeepSpeed's file, named in a file of settings", () => {
  const stage =
    '{"train_micro_batch_size_per_gpu": "auto", "zero_optimization": {"stage": 3, "offload_param": {"device": "cpu"}}}';
  const runWith = (files: Readonly<Record<string, string>>) => {
    const job = `apiVersion: batch/v1
kind: Job
metadata: {name: tune}
spec:
  template:
    spec:
      restartPolicy: Never
      volumes: [{name: settings, configMap: {name: tune}}]
      containers:
        - name: main
          image: axolotlai/axolotl:main
          command: [axolotl, train, /settings/tune.yaml]
          volumeMounts: [{name: settings, mountPath: /settings}]
          resources: {limits: {nvidia.com/gpu: 8}}
`;
    const map = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'tune' }, data: files });
    const workload = analyse(`${map}\n---\n${job}`).documents.at(-1)!.workloads[0]!;
    return trainingRun(workload.podSets[0]!.containers[0]!, workload);
  };
  const settings = 'base_model: meta-llama/Llama-2-7b-hf\nbf16: true\nmicro_batch_size: 1\nsequence_len: 2048\n';

  test('is read with it', () => {
    const run = runWith({ 'tune.yaml': `${settings}deepspeed: /settings/ds.json\n`, 'ds.json': stage });
    const settingsOfRun = { engine: 'deepspeed', sharded: 'parameters', offload: 'all', batch: 1 };
    expect(run).toMatchObject({ run: { settings: settingsOfRun } });
  });

  test('leaves the run unknown if it is missing', () => {
    const missing = runWith({ 'tune.yaml': `${settings}deepspeed: /settings/ds.json\n` });
    expect(missing).toMatchObject({ run: null, unknown: { kind: 'unread', name: '/settings/ds.json' } });
    const byName = runWith({ 'tune.yaml': `${settings}deepspeed: /settings/zero2.json\n` });
    expect(byName).toMatchObject({ run: { settings: { engine: 'deepspeed', sharded: 'gradients' } } });
  });
});
