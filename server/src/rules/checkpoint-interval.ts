import { type CheckpointInterval, findCheckpointIntervals, secondsBetween } from '../command/save-interval.ts';
import { bestInterval, secondsToWrite } from '../cost/interruption-cost.ts';
import { formatDuration, formatNumber } from '../cost/money.ts';
import { savesOnlyLast } from '../evidence/last-save.ts';
import { usesAccelerators } from '../evidence/launch.ts';
import { neverSaves } from '../evidence/progress-flags.ts';
import { hasRole } from '../evidence/role-confidence.ts';
import { isTrialStep } from '../evidence/volume-lifetime.ts';
import { checkpointGiB } from '../memory/training.ts';
import { processInput } from '../model/process-input.ts';
import { trainingRun } from '../model/training-run.ts';
import type { Container } from '../model/workload.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { setFlag } from '../rewrite/words.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * Training on spot saves checkpoints more than 30 minutes apart.
 *
 * ## Why
 *
 * An interruption loses the work since the last checkpoint: on average half an interval, on all GPUs of the job. Young's optimum, the square
 * root of 2 x (time to write a checkpoint) x (mean time between failures), is about 20 minutes if a checkpoint takes one minute and a node
 * lasts four hours. A job on several nodes is interrupted more often than each of them.
 *
 * With `training.hoursBetweenInterruptions` and either `training.checkpointSeconds` or `training.checkpointGiBPerSecond` (the size follows from
 * the model), the rule computes the optimum of the job and reports intervals more than three times as long.
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
 * ## Fix safety
 *
 * Unsafe: checkpoints take time and space.
 *
 * ## When it is silent
 *
 * For intervals in epochs, unless a run on spot saves only at its end (information), and for intervals in steps unless `training.stepSeconds`
 * in `.gpulint.yaml` gives the length of a step. Outside spot, only intervals of more than four hours are reported, as information.
 *
 * ## Sources
 *
 * - [J. W. Young: A first order approximation to the optimum checkpoint interval (1974)](https://dl.acm.org/doi/10.1145/361147.361115)
 * - [Lightning: ModelCheckpoint](https://lightning.ai/docs/pytorch/stable/api/lightning.pytorch.callbacks.ModelCheckpoint.html)
 */
export default defineRule({
  topic: 'checkpoint',
  severity: 'warning',
  options: {
    spotMinutes: { default: 30, least: 1, description: 'Maximum interval in minutes on spot nodes.' },
    // Three times Young's optimum if a checkpoint takes one minute and a failure occurs every two days.
    hours: { default: 4, least: 0.1, description: 'Maximum interval in hours on other nodes.' },
  },
  container(container, context) {
    const { workload, podSet } = context;
    if (!hasRole(workload, 'training') || isTrialStep(workload, podSet)) return;
    if (!usesAccelerators(container, context.podSet)) return;
    checkLast(container, context);
    const { command, args, env } = processInput(container);
    const intervals = findCheckpointIntervals(command, args, env);
    const { stepSeconds = null } = context.options.training ?? {};
    const timed = intervals.map((interval) => ({ ...interval, seconds: secondsBetween(interval, stepSeconds) }));
    // If there are several intervals, one of unknown length may be the shortest.
    if (timed.some(({ seconds }) => seconds === null)) return;
    const [first, ...others] = timed;
    if (first === undefined) return;
    const shortest = others.reduce((best, one) => ((one.seconds ?? 0) < (best.seconds ?? 0) ? one : best), first);
    const { seconds, every, word } = shortest;
    const onSpot = podSet.placement.capacity === 'spot';
    const best = bestFor(container, context);
    const usual = onSpot ? context.option('spotMinutes') * 60 : context.option('hours') * 3600;
    const longest = best === null ? usual : timesBest * best.seconds;
    if (seconds === null || seconds <= longest) return;
    const span = spanOfWords(context.document, container, [word, word]);
    if (span === undefined) return;
    // checkpoint-never reports the same flag.
    const never = container.type === 'app' ? neverSaves(container)?.word : undefined;
    if (never?.item === word.item && never.start === word.start) return;
    const basis =
      'steps' in every ? ` (${formatNumber(every.steps)} steps of ${formatNumber(stepSeconds ?? 0)} s)` : '';
    const target = best === null ? halfAnHour : Math.max(60, Math.round(best.seconds / 60) * 60);
    const fixes = () => [saveEvery(target, shortest, stepSeconds, container, context)];
    if (best !== null) {
      context.report({
        message: `Checkpoints are ${formatDuration(seconds)} apart${basis}: ${best.basis}, saving every ${formatDuration(target)} loses the least`,
        span,
        severity: onSpot ? 'warning' : 'info',
        fixes,
      });
      return;
    }
    context.report(
      onSpot
        ? {
            message: `Checkpoints on spot are ${formatNumber(seconds / 60)} min apart${basis}: an interruption loses half of that on average; 15–30 min is typical`,
            span,
            fixes,
          }
        : {
            message: `Checkpoints are ${formatNumber(seconds / 3600)} h apart${basis}: a failure loses half of that on average`,
            span,
            severity: 'info',
            fixes,
          },
    );
  },
});

/** Reports a run on spot whose only checkpoint is that of its end. */
function checkLast(container: Container, { podSet, document, report }: PodSetContext): void {
  const last = podSet.placement.capacity === 'spot' && container.type === 'app' ? savesOnlyLast(container) : undefined;
  const span = last && spanOfWords(document, container, [last.word, last.word]);
  if (last === undefined || span === undefined || neverSaves(container) !== undefined) return;
  // A run of one epoch may be short.
  report({ severity: 'info', message: `${last.text}: an interruption on spot loses the whole run`, span });
}

/** An interval of three times the best one wastes two thirds more than it. */
const timesBest = 3;

/** Young's optimum, if the config says how often a job is interrupted and how long a checkpoint takes; null otherwise. */
function bestFor(
  container: Container,
  { workload, options: { training } }: PodSetContext,
): { readonly seconds: number; readonly basis: string } | null {
  const hours = training?.hoursBetweenInterruptions ?? null;
  if (training === undefined || hours === null) return null;
  const { run } = trainingRun(container, workload);
  const sizeGiB = run === null ? null : checkpointGiB(run.shape, run.settings);
  const writing = secondsToWrite(training, sizeGiB);
  if (writing === null) return null;
  const size =
    sizeGiB === null || (training.checkpointSeconds ?? null) !== null
      ? ''
      : `${formatNumber(Math.round(sizeGiB))} GiB, `;
  const basis = `with ${size}${formatDuration(writing)} to write and ${formatNumber(hours)} h between interruptions`;
  return { seconds: bestInterval(writing, hours * 3600), basis };
}

function saveEvery(
  seconds: number,
  { every, flag, unit, part }: CheckpointInterval,
  stepSeconds: number | null,
  { command, args }: Container,
  { document }: PodSetContext,
): Fix | undefined {
  const steps = 'steps' in every && stepSeconds !== null ? Math.max(1, Math.floor(seconds / stepSeconds)) : undefined;
  const value = steps === undefined ? (part ? undefined : inUnit(seconds, unit)) : String(steps);
  const shown = steps === undefined ? '' : ` (${formatNumber(steps)} steps)`;
  const edits = value === undefined ? undefined : setFlag(document, [...command, ...args], flag, value);
  return fix(`Save every ${formatDuration(seconds)}${shown}`, 'unsafe', edits);
}

/** Whole minutes in the unit of a flag. Whole hours cannot express most of them. */
function inUnit(seconds: number, unit: CheckpointInterval['unit']): string | undefined {
  const minutes = seconds / 60;
  const two = (count: number) => String(count).padStart(2, '0');
  if (unit === 'seconds') return String(seconds);
  if (unit === 'minutes') return String(minutes);
  return unit === 'clock' ? `00:${two(Math.floor(minutes / 60))}:${two(minutes % 60)}:00` : undefined;
}

/** Seconds. */
const halfAnHour = 30 * 60;
