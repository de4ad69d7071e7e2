import { findCheckpointIntervals } from '../command/checkpoint-interval.ts';
import { formatNumber } from '../cost/format.ts';
import { isTrial } from './durable.ts';
import { defineRule } from './rule.ts';
import { spanOfWords } from './word-span.ts';

/**
 * Training on spot saves its progress more rarely than every 30 minutes.
 *
 * ## Why
 *
 * An interruption loses what was done since the last checkpoint: half an interval on average, with all the GPUs of the job. Young's optimum, the
 * square root of 2 x (time to write a checkpoint) x (mean time between failures), is some 20 minutes where a checkpoint takes one
 * minute and a node lasts four hours; a job of several nodes is hit more often than each of them.
 *
 * ```yaml invalid
 * apiVersion: batch/v1
 * kind: Job
 * metadata:
 *   name: train
 * spec:
 *   template:
 *     spec:
 *       restartPolicy: OnFailure
 *       nodeSelector:
 *         karpenter.sh/capacity-type: spot
 *       containers:
 *         - name: main
 *           image: registry.example/trainer:1.4
 *           command: ["python", "train.py", "--model_dir=gs://bucket/run", "--save_checkpoints_secs=7200"]
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 8
 * ```
 *
 * ```yaml valid
 * apiVersion: batch/v1
 * kind: Job
 * metadata:
 *   name: train
 * spec:
 *   template:
 *     spec:
 *       restartPolicy: OnFailure
 *       nodeSelector:
 *         karpenter.sh/capacity-type: spot
 *       containers:
 *         - name: main
 *           image: registry.example/trainer:1.4
 *           command: ["python", "train.py", "--model_dir=gs://bucket/run", "--save_checkpoints_secs=1200"]
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 8
 * ```
 *
 * ## When it is silent
 *
 * Off spot, and for intervals in steps or epochs: how long a step takes is not in the file.
 *
 * ## Sources
 *
 * - [J. W. Young: A first order approximation to the optimum checkpoint interval (1974)](https://dl.acm.org/doi/10.1145/361147.361115)
 * - [Lightning: ModelCheckpoint](https://lightning.ai/docs/pytorch/stable/api/lightning.pytorch.callbacks.ModelCheckpoint.html)
 */
export default defineRule({
  topic: 'checkpoint',
  severity: 'warning',
  container(container, context) {
    const { workload, podSet } = context;
    if (workload.role !== 'training' || podSet.placement.capacity !== 'spot' || isTrial(workload)) return;
    if (!container.accelerators.some(({ count }) => count !== 0)) return;
    const intervals = findCheckpointIntervals(
      container.command.map(({ value }) => value),
      container.args.map(({ value }) => value),
    );
    const shortest = intervals.reduce((best, one) => (one.seconds < best.seconds ? one : best), intervals[0] ?? none);
    if (shortest === none || shortest.seconds <= longest) return;
    const span = spanOfWords(
      context.document,
      [...container.command, ...container.args],
      [shortest.word, shortest.word],
    );
    if (span === undefined) return;
    context.report({
      message: `Saves every ${formatNumber(shortest.seconds / 60)} minutes on spot: an interruption loses half of that on average; 15 to 30 are usual`,
      span,
    });
  },
});

/** Seconds. */
const longest = 30 * 60;
const none = { seconds: 0, name: '', word: { text: '', dynamic: false, item: 0, start: 0, end: 0 } };
