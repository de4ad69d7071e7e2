import { describe, expect, test } from 'vitest';
import type { FlagMeaning } from '../../server/src/catalog/flag-records.ts';
import { meaningOf, takesValue } from '../../server/src/command/flag-meaning.ts';
import { useByFlags } from '../../server/src/command/flag-use.ts';
import { readFlags } from '../../server/src/command/flags.ts';
import { findCheckpointIntervals } from '../../server/src/command/save-interval.ts';

const flags = (word: string) => readFlags([{ text: word, dynamic: false, item: 0, start: 0, end: word.length }]);
const means = (word: string, meaning: FlagMeaning, program?: string) =>
  flags(word).some((flag) => meaningOf(flag, meaning, program) !== undefined);
const everyOf = (word: string) => findCheckpointIntervals(['train', word], []).map(({ every }) => every);

describe('an interval between checkpoints', () => {
  test.each([
    '--save_steps=100',
    '--save-steps=100',
    '--saveSteps=100',
    '--save_every=100',
    '--save_every_n_steps=100',
    '--save_interval=100',
    '--save-interval-updates=100',
    '--save_freq=100',
    '--saving_frequency=100',
    '--checkpoint_freq=100',
    '--checkpoint_frequency=100',
    '--checkpoint-interval=100',
    '--checkpoint_every=100',
    '--checkpoint_every_n_iterations=100',
    '--checkpointing_steps=100',
    '--checkpoint.interval=100',
    '--ckpt_interval=100',
    '--ckptEvery=100',
    '--save_ckpt_freq=100',
    '--save_model_every=100',
    '--interval_ckpt=100',
    'checkpoint_period=100',
    'trainer.save_freq=100',
    '++train.checkpoint.every=100',
    'exp_manager.checkpoint_callback_params.every_n_train_steps=100',
    'multi_tier_checkpointing_backup_interval_steps=100',
  ])('%s counts steps', (word) => {
    expect(everyOf(word)).toEqual([{ steps: 100 }]);
  });

  test.each([
    ['--save_checkpoints_secs=60', 60],
    ['--checkpoint_interval_seconds=60', 60],
    ['--ckpt-every-minutes=5', 300],
    ['--save_every_n_hours=2', 7200],
    ['--save-interval-minutes=30', 1800],
  ])('%s counts time', (word, seconds) => {
    expect(everyOf(word)).toEqual([{ seconds }]);
  });

  test.each([
    // Not about saving.
    '--dataset_config_name=100',
    '--log_every=100',
    '--logging_steps=100',
    '--log_interval=100',
    '--eval_steps=100',
    '--eval_interval=100',
    '--eval_freq=100',
    '--print_freq=100',
    '--max_steps=100',
    '--warmup_steps=100',
    '--gradient_accumulation_steps=100',
    '--test_freq=100',
    '--profile_interval=100',
    '--every_n_steps=100',
    // About saving, but not an interval.
    '--save_total_limit=100',
    '--save_top_k=100',
    '--save_last_n_steps=100',
    '--save_num_checkpoints_to_keep=100',
    '--save_on_each_node=100',
    '--ckpt-step=100',
    '--checkpoint_step=100',
    '--load_checkpoint_step=100',
    '--resume_step=100',
    '--checkpoint_timeout_seconds=100',
    '--save_iterations=100',
    '--local_checkpoint_period=100',
    '--min_checkpoint_interval=100',
    // Recomputation of activations.
    '--gradient_checkpointing_steps=100',
    '--activation-checkpoint-interval=100',
    '--activation_checkpoint.interval=100',
    '--activation_checkpoint.checkpoint_every=100',
    '--checkpoint_num_layers=100',
    '--checkpoint-activations-every=100',
    // Something other than the model.
    '--visualization.save_interval=100',
    'profiler.save_every=100',
    'replay.save_every=100',
    // Epochs, whose length is unknown.
    '--save_every_n_epochs=100',
    '--checkpoint_interval_epochs=100',
    '--save_epochs=100',
    'save_period=100',
    'default_hooks.checkpoint.interval=100',
    'checkpoint_config.interval=100',
    // Not a count of steps.
    '--save_steps=0.2',
    '--save_interval=500ba',
    '--save_every=epoch',
    '--save_steps=0',
  ])('%s is not one', (word) => {
    expect(everyOf(word)).toEqual([]);
  });

  test('is found in hostile names in linear time', () => {
    const started = performance.now();
    for (const part of ['save-', 'save.', 'saveA', '-', '_', '.']) {
      everyOf(`--${part.repeat(40_000)}=1`);
      means(`--${part.repeat(40_000)}=1`, 'tensor-parallel');
    }
    expect(performance.now() - started).toBeLessThan(2000);
  });
});

describe('resumption', () => {
  test.each([
    '--resume=false',
    '--auto_resume=false',
    '--autoResume=false',
    '--autoresume=false',
    '--resume_training=false',
    '--resume_from_checkpoint=false',
    '--auto-resume-from-checkpoints=false',
    'exp_manager.resume_if_exists=false',
    'trainer.exp_manager.resume_if_exists=false',
    '--checkpoint.resume_latest=false',
    'train.resume=false',
    'exp_manager.resume=false',
    'trainer.checkpoint.resume=false',
    'trainer.resume_mode=disable',
  ])('%s', (word) => {
    expect(means(word, 'resume')).toBe(true);
  });

  test.each([
    'exp_manager.resume_ignore_no_checkpoint=false',
    'exp_manager.resume_past_end=false',
    '--resume_optimizer=false',
    '--resume_download=false',
    '--wandb_resume=false',
    '--load_from_checkpoint=false',
    'exp_manager.wandb_logger_kwargs.resume=False',
    'wandb.resume=False',
    'logger.wandb.resume=false',
    'data.resume=false',
  ])('%s does not set it', (word) => {
    expect(means(word, 'resume')).toBe(false);
  });

  test.each([
    '--resume_from=/a',
    '--resume_from_checkpoint=/a',
    'trainer.resume_from_path=/a',
    '--restore-ckpt-path=/a',
    '--load_path=/a',
  ])('%s names a checkpoint', (word) => {
    expect(means(word, 'resume-from')).toBe(true);
  });

  test.each(['--resume=true', '--load=/a', '--load_in_8bit=true', '--restore_optimizer_state=true', '--model_path=/a'])(
    '%s names none',
    (word) => {
      expect(means(word, 'resume-from')).toBe(false);
    },
  );
});

test('variables of the shell belong to no family', () => {
  const count = (...line: string[]) => findCheckpointIntervals(line, []).length;
  expect(count('export', 'SAVE_STEPS=100')).toBe(0);
  expect(count('sh', '-c', 'local SAVE_STEPS=100; declare -x SAVE_EVERY=5')).toBe(0);
  expect(count('env', '-i', 'SAVE_STEPS=100', 'python', 'train.py')).toBe(0);
  expect(count('env', 'SAVE_STEPS=100', 'python', 'train.py', 'save_steps=100')).toBe(1);
});

describe('parallel sizes', () => {
  test.each([
    ['--tensor-parallel-size=2', 'tensor-parallel'],
    ['--tensor_parallel_size=2', 'tensor-parallel'],
    ['--tensorParallelSize=2', 'tensor-parallel'],
    ['--tensor-parallel=2', 'tensor-parallel'],
    ['-tp=2', 'tensor-parallel'],
    ['--tp_size=2', 'tensor-parallel'],
    ['--num-shard=2', 'tensor-parallel'],
    ['--pipeline-parallel-size=2', 'pipeline-parallel'],
    ['--pp=2', 'pipeline-parallel'],
    ['--dp-size=2', 'data-parallel'],
    ['--data-parallel-size=2', 'data-parallel'],
    ['--data-parallel-size-local=2', 'local-data-parallel'],
    ['-dpl=2', 'local-data-parallel'],
  ] as const)('%s is %s', (word, meaning) => {
    expect(means(word, meaning)).toBe(true);
  });

  test.each([
    // Trainers count over all nodes.
    ['--tensor-model-parallel-size=2', 'tensor-parallel'],
    ['--tensor_parallel_degree=2', 'tensor-parallel'],
    ['--parallelism.tensor_parallel_degree=2', 'tensor-parallel'],
    ['trainer.tensor_parallel_size=2', 'tensor-parallel'],
    ['--vllm_tensor_parallel_size=2', 'tensor-parallel'],
    ['--num-shards=2', 'tensor-parallel'],
    ['--data-parallel-rank=2', 'data-parallel'],
    ['--data-parallel-size-local=2', 'data-parallel'],
    ['--data-parallel-address=x', 'local-data-parallel'],
    ['--pipeline-parallel-layers=2', 'pipeline-parallel'],
  ] as const)('%s is not %s', (word, meaning) => {
    expect(means(word, meaning)).toBe(false);
  });
});

test('some flags have a meaning in one program only', () => {
  expect(means('--max-total-tokens=1', 'context-length', 'text-generation-launcher')).toBe(true);
  expect(means('--max-total-tokens=1', 'context-length', 'sglang')).toBe(false);
  expect(means('--max-total-tokens=1', 'request-capacity', 'sglang')).toBe(true);
  expect(means('--max-total-tokens=1', 'request-capacity')).toBe(false);
});

test('a pattern that ends in -* matches more words but not more letters', () => {
  for (const word of ['--max-batch=1', '--max-batch-size=1', '--max-batch-prefill-tokens=1', '--lora-modules=x']) {
    expect(means(word, 'request-capacity')).toBe(true);
  }
  for (const word of ['--max-batches=1', '--lora=x.y', '--loraX=1', '--a.max-batch-size=1']) {
    expect(means(word, 'request-capacity')).toBe(word === '--lora=x.y');
  }
});

test('flags that take one value', () => {
  expect(
    ['--port=1', '--tp=1', '--dtype=x', '--tensor-parallel-size=1'].map((word) => flags(word).every(takesValue)),
  ).toEqual([true, true, true, true]);
  expect(['--trust-remote-code=1', '--quantization=x', '--pp=1'].some((word) => flags(word).some(takesValue))).toBe(
    false,
  );
});

test('names of object properties are not names of flags', () => {
  for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
    expect(everyOf(`--${name}=100`)).toEqual([]);
    expect(means(`--${name}=100`, 'saving')).toBe(false);
  }
});

describe('the number of steps of a run', () => {
  test.each(['--max_steps=9', '--max_train_steps=9', '--train-iters=9', '--total_iterations=9', 'trainer.max_steps=9'])(
    '%s',
    (word) => {
      expect(means(word, 'total-steps')).toBe(true);
    },
  );

  test.each(['--eval_steps=9', '--num_inference_steps=9', 'env.max_steps=9', '--max_steps_per_epoch=9', '--steps=9'])(
    '%s is not one',
    (word) => {
      expect(means(word, 'total-steps')).toBe(false);
    },
  );
});

describe('settings files', () => {
  test.each([
    '--config=x',
    '--cfg=x',
    '--config-file=x',
    '--train_config=x',
    '--job.config_file=x',
    '--experiment_cfg=x',
  ])('%s', (word) => {
    expect(means(word, 'settings-file')).toBe(true);
  });

  test.each(['--dataset_config_name=en', '--ds_config=x', '--tokenizer_config=x', '--generation_config=x'])(
    '%s is not one',
    (word) => {
      expect(means(word, 'settings-file')).toBe(false);
    },
  );
});

describe('the rank of a node', () => {
  test.each(['--node_rank=1', '--node-rank=1', '--machine_rank=1', '--hostRank=1'])('%s', (word) => {
    expect(means(word, 'node-rank')).toBe(true);
  });

  test.each(['--rank=1', '--local_rank=1', '--lora_rank=1'])('%s is not one', (word) => {
    expect(means(word, 'node-rank')).toBe(false);
  });
});

describe('an unknown program is known by its flags', () => {
  const useOf = (...line: string[]) =>
    useByFlags(readFlags(line.map((text, item) => ({ text, dynamic: false, item, start: 0, end: text.length }))))?.use;
  test.each([
    ['training', ['--epochs=3', '--lr=0.1']],
    ['training', ['--learning_rate', '1e-4', '--save_steps=100']],
    ['training', ['train.numEpochs=3', 'optimizer.lr=0.1', 'optimizer.weight_decay=0']],
    ['serving', ['--model=a', '--tensor-parallel-size=2']],
    ['serving', ['--model_path=a', '--max-model-len=2']],
    [undefined, ['--lr=0.1', '--verbose']],
    [undefined, ['--batch_size=8', '--epochs=3']],
    [undefined, ['--model=a', '--port=1']],
  ])('%s: %j', (use, line) => {
    expect(useOf(...line)).toBe(use);
  });

  test.each([
    ['vllm', '--gpu-memory-utilization=0.9'],
    ['its model server flags', '--tensor-parallel-size=2'],
  ])('%s has %s', (program, flag) => {
    const words = ['--model=a', flag].map((text, item) => ({ text, dynamic: false, item, start: 0, end: text.length }));
    expect(useByFlags(readFlags(words))?.program).toBe(program);
  });
});
