import { type CheckpointInterval, findCheckpointIntervals, secondsBetween } from '../../command/save-interval.ts';
import type { ProjectConfig } from '../../config.ts';
import { type LostTime, lostWork } from '../../cost/interruption-cost.ts';
import { formatAmount, formatDuration, formatNumber } from '../../cost/money.ts';
import type { CostResult } from '../../cost/types.ts';
import { checkpointGiB } from '../../memory/training.ts';
import { processInput } from '../../model/process-input.ts';
import { trainingRun } from '../../model/training-run.ts';
import type { Container, Workload } from '../../model/workload.ts';
import { spanOfWords } from '../../rewrite/word-span.ts';
import type { Span } from '../../yaml/span.ts';
import { bestIntervalFacts } from './best-interval.ts';
import type { Block } from './render.ts';

/** The cost of an interruption, on the flag that sets the checkpoint interval. */
export function lostWorkFacts(
  workload: Workload,
  container: Container,
  offset: number,
  result: CostResult,
  config: ProjectConfig,
): { readonly span: Span; readonly facts: readonly Block[] } | undefined {
  const lines = [...container.command, ...container.args];
  const { command, args, env } = processInput(container);
  const intervals = findCheckpointIntervals(command, args, env);
  for (const interval of intervals) {
    const span = spanOfWords(workload.manifest.document, lines, [interval.word, interval.word]);
    if (span === undefined || offset < span.start || offset > span.end) continue;
    const { run } = trainingRun(container, workload);
    const sizeGiB = run === null ? null : checkpointGiB(run.shape, run.settings);
    const best = bestIntervalFacts(interval, workload, result, config, sizeGiB);
    return { span, facts: [...factsOf(interval, result, config), ...best] };
  }
  return undefined;
}

function factsOf(
  interval: CheckpointInterval,
  { cost }: CostResult,
  { training, origins }: ProjectConfig,
): readonly Block[] {
  const { stepSeconds } = training;
  const seconds = secondsBetween(interval, stepSeconds);
  const { every } = interval;
  const steps = 'steps' in every ? `Saves every ${formatNumber(every.steps)} steps` : undefined;
  if (seconds === null) {
    const text = `${steps}. Set training.stepSeconds in .gpulint.yaml to see what an interruption costs.`;
    return [{ kind: 'text', text }];
  }
  const { average, max } = lostWork(seconds, cost);
  const from = origins?.['training.stepSeconds'] ?? 'default';
  const basis =
    steps === undefined
      ? `Saves every ${formatDuration(seconds)}`
      : `${steps}: ${formatDuration(seconds)} at ${formatNumber(stepSeconds ?? 0)} s per step (${from})`;
  return [
    {
      kind: 'lead',
      text: `An interruption loses ${lostWords(average)} of work on average, ${lostWords(max)} at most`,
    },
    {
      kind: 'text',
      text: `${basis}. After an interruption, all GPUs of the job repeat the work since the last checkpoint.`,
    },
  ];
}

function lostWords({ seconds, amount }: LostTime): string {
  return amount === null ? formatDuration(seconds) : formatAmount(amount);
}
