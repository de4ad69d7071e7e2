import { usesAccelerators } from '../evidence/launch.ts';
import { type NoCheckpoint, neverSaves } from '../evidence/progress-flags.ts';
import { rankZeroOf } from '../evidence/rank-zero.ts';
import { hasRole } from '../evidence/role-confidence.ts';
import { isTrialStep } from '../evidence/volume-lifetime.ts';
import type { Container } from '../model/workload.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { setFlag } from '../rewrite/words.ts';
import { spanOf } from '../yaml/cursor.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * Training never saves a checkpoint.
 *
 * ## Why
 *
 * With `--save_strategy no` or `--no-save`, an interval beyond the last step or epoch, or Megatron without `--save`, a failed run leaves nothing behind: every
 * restart, and every later run, starts again at step 0. An interval as long as the run saves only at its end, so a run that fails also starts
 * again at step 0. The arguments of Transformers' Trainer are also read in code that the manifest has.
 *
 * ```yaml invalid
 * apiVersion: batch/v1
 * kind: Job
 * metadata:
 *   name: finetune
 * spec:
 *   backoffLimit: 4
 *   template:
 *     spec:
 *       restartPolicy: Never
 *       containers:
 *         - name: main
 *           image: registry.example/trainer:1.4
 *           command: ["torchrun", "train.py", "--save_strategy=no", "--output_dir=/ckpt"]
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 8
 * ```
 *
 * ```yaml valid
 * apiVersion: batch/v1
 * kind: Job
 * metadata:
 *   name: finetune
 * spec:
 *   backoffLimit: 4
 *   template:
 *     spec:
 *       restartPolicy: Never
 *       containers:
 *         - name: main
 *           image: registry.example/trainer:1.4
 *           command: ["torchrun", "train.py", "--save_strategy=steps", "--save_steps=200", "--output_dir=/ckpt"]
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 8
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: checkpoints take time and space, and the right interval depends on the job.
 *
 * ## When it is silent
 *
 * For workloads other than training, and for benchmarks and trials. If nothing restarts the job, the finding is information only.
 * A checkpoint of only the last step is a warning if the run is set to resume, information if it just restarts, and nothing otherwise.
 *
 * ## Sources
 *
 * - [Transformers: TrainingArguments](https://huggingface.co/docs/transformers/main_classes/trainer#transformers.TrainingArguments)
 * - [Megatron-LM: arguments](https://github.com/NVIDIA/Megatron-LM/blob/main/megatron/training/arguments.py)
 */
export default defineRule({
  topic: 'checkpoint',
  severity: 'warning',
  container(container, context) {
    const { workload } = context;
    if (!hasRole(workload, 'training') || container.type !== 'app' || isTrialStep(workload, context.podSet)) return;
    if (!usesAccelerators(container, context.podSet)) return;
    const cause = neverSaves(container);
    if (cause === undefined) return;
    // It is reported where rank 0 runs.
    const zero = rankZeroOf(container, context.podSet, workload);
    if (zero !== undefined && neverSaves(zero.container)?.text === cause.text) return;
    const span =
      cause.at === undefined ? spanOfWords(context.document, container, [cause.word, cause.word]) : spanOf(cause.at);
    if (span === undefined) return;
    const restarts = workload.retries !== null && workload.retries.limit > 0;
    // Many short runs need only their result.
    if (cause.atEnd && !restarts) return;
    context.report({
      severity: restarts && !(cause.atEnd && cause.resumes !== true) ? 'warning' : 'info',
      message: `${cause.text}: ${restarts ? 'every restart starts again at step 0' : 'a failed run leaves nothing to resume from'}`,
      span,
      fixes: () => [saving(cause, [...container.command, ...container.args], context)],
    });
  },
});

function saving({ instead }: NoCheckpoint, lines: Container['command'], { document }: PodSetContext): Fix | undefined {
  return instead && fix(instead.title, 'unsafe', setFlag(document, lines, instead.flag, instead.value));
}
