import { expect, test } from 'vitest';
import { findCheckpointSigns } from '../../server/src/command/checkpoint.ts';

const signs = (command: readonly string[], env: Readonly<Record<string, string | undefined>> = {}) =>
  findCheckpointSigns({ command, args: [], env: Object.entries(env).map(([name, value]) => ({ name, value })) })
    .map(({ kind, text }) => `${kind} ${text}`)
    .join(', ');

test.each([
  [['train', '--output_dir', '/out'], 'path /out'],
  [['train', '--save=./ckpt', '--load=/weights'], 'path ./ckpt'],
  [['train', '--output_dir', '$OUT'], 'unknown output-dir'],
  [['train', '--output-dir', 'ckpt'], 'path ckpt'],
  [['train', '--checkpoint_folder=runs.1'], 'path runs.1'],
  [
    ['train', '--output-dir', 'none', '--output_path=run', '--save', 'best'],
    'unknown output-dir, unknown output-path, unknown save',
  ],
  [['train', '--save-checkpoint', '/ckpt'], 'path /ckpt'],
  [['train', '--save_checkpoints=out/run'], 'path out/run'],
  [['train', '--save-checkpoint', 'true', '--save_ckpt=500'], ''],
  [['train', '--resume_from_checkpoint', 'true'], 'resume resume-from-checkpoint'],
  [['train', '--resume_from_checkpoint=false'], ''],
  [['train', 'exp_manager.resume_if_exists=True'], 'resume exp-manager.resume-if-exists'],
  [['train', '--push_to_hub'], 'store push-to-hub'],
  [['train', '--config', 'a.json'], 'unknown config'],
  [['bash', '-c', 'rclone copy /out remote:out'], 'store rclone'],
  [['train', '--gradient_checkpointing', 'true', '--activation_checkpoint_dir', '/x'], ''],
  [['train', '--checkpoint_interval', '100', '--save_steps', '5'], ''],
  [['train', '--dataset', 's3://bucket/data', '--model_path=gs://bucket/weights'], ''],
  [['train', '--logs', '/tmp/logs'], ''],
])('%j', (command, expected) => {
  expect(signs(command)).toBe(expected);
});

test('an object store counts if it is written to', () => {
  expect(signs(['train', '--output_dir', 's3://bucket/out'])).toContain('store s3://bucket/out');
  expect(signs(['bash', '-c', 'aws s3 sync s3://bucket/data /data && train'])).toBe('');
  expect(signs(['bash', '-c', 'train && aws s3 cp /out s3://bucket/out'])).toContain('store s3://bucket/out');
});

test('the environment', () => {
  expect(signs([], { CKPT_DIR: '/ckpt', OUTPUT_DIR: undefined })).toBe('path /ckpt, unknown OUTPUT_DIR');
  expect(signs([], { CHECKPOINT_URI: 'gs://bucket/run', S3_BUCKET: 'x' })).toBe(
    'store gs://bucket/run, unknown S3_BUCKET',
  );
  expect(signs([], { FSx_PATH: '/fsx', fsxPath: '/fsx' })).toBe('unknown FSx_PATH, unknown fsxPath');
  expect(signs([], { DATA_DIR: '/data', MODEL_PATH: 's3://bucket/model', NCCL_DEBUG: 'INFO' })).toBe('');
});
