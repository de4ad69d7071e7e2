import { expect, test } from 'vitest';
import { findCheckpointIntervals, secondsBetween } from '../../server/src/command/save-interval.ts';

const seconds = (...command: string[]) =>
  findCheckpointIntervals(command, []).map((interval) => secondsBetween(interval, null));

test('flags with an interval in time', () => {
  expect(seconds('python', 'train.py', '--save_checkpoints_secs=600')).toEqual([600]);
  expect(
    seconds('python', 'train.py', 'exp_manager.checkpoint_callback_params.train_time_interval=00:02:00:00'),
  ).toEqual([7200]);
  expect(seconds('python', 'train.py', 'exp_manager.checkpoint_callback_params.train_time_interval.hours=1')).toEqual([
    3600,
  ]);
  expect(seconds('python', 'train.py', 'multi_tier_checkpointing_backup_interval_minutes=45')).toEqual([2700]);
});

test('steps, variables and values that are not intervals', () => {
  const steps = findCheckpointIntervals(['python', 'train.py', '--save_steps=600', '--save-interval', '1000'], []);
  expect(steps.map((interval) => secondsBetween(interval, null))).toEqual([null, null]);
  expect(steps.map((interval) => secondsBetween(interval, 2.5))).toEqual([1500, 2500]);
  expect(seconds('python', 'train.py', '--save_steps=0', '--save_interval=$STEPS')).toEqual([]);
  expect(seconds('sh', '-c', 'python train.py --save_checkpoints_secs=$SECS')).toEqual([]);
  expect(seconds('python', 'train.py', '--save_checkpoints_secs=soon')).toEqual([]);
});
