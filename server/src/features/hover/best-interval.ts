import { providerName } from '../../catalog/index.ts';
import { type CheckpointInterval, secondsBetween } from '../../command/save-interval.ts';
import type { ProjectConfig } from '../../config.ts';
import { dateWords } from '../../cost/assumption-words.ts';
import { bestInterval, secondsToWrite, spotRuntime, writingShare } from '../../cost/interruption-cost.ts';
import { formatDuration, formatNumber, plural } from '../../cost/money.ts';
import type { CostResult } from '../../cost/types.ts';
import type { Workload } from '../../model/workload.ts';
import type { Block } from './render.ts';

/**
 * The share of time spent writing checkpoints, and the interval that minimizes the time spent writing plus the time lost, after Young:
 * √(2 × time to write × time between interruptions). Names the config key that is missing.
 * @param sizeGiB of a checkpoint, if it is known
 */
export function bestIntervalFacts(
  interval: CheckpointInterval,
  workload: Workload,
  result: CostResult,
  { training, origins }: ProjectConfig,
  sizeGiB: number | null,
): readonly Block[] {
  const { stepSeconds } = training;
  const seconds = secondsBetween(interval, stepSeconds);
  if (seconds === null) return [];
  const checkpointSeconds = secondsToWrite(training, sizeGiB);
  if (checkpointSeconds === null) {
    return [text('Set training.checkpointSeconds in .gpulint.yaml to see the cost of writing and the best interval.')];
  }
  const share = writingShare(checkpointSeconds, seconds);
  const { checkpointGiBPerSecond } = training;
  const from =
    training.checkpointSeconds === null
      ? `${formatNumber(Math.round(sizeGiB ?? 0))} GiB at ${formatNumber(checkpointGiBPerSecond ?? 0)} GiB/s`
      : (origins?.['training.checkpointSeconds'] ?? 'the config');
  const writing = `Writing checkpoints takes ${percent(share)} of the time: ${formatDuration(checkpointSeconds)} (${from}) every ${formatDuration(seconds)}.`;
  const between = timeBetween(workload, result, training.hoursBetweenInterruptions, origins);
  if (between === undefined) {
    const missing = 'Set training.hoursBetweenInterruptions in .gpulint.yaml to see the best interval.';
    return [text(`${writing} ${missing}`)];
  }
  const best = bestInterval(checkpointSeconds, between.seconds);
  const steps =
    'steps' in interval.every && stepSeconds !== null
      ? ` (${formatNumber(Math.max(1, Math.round(best / stepSeconds)))} steps)`
      : '';
  return [
    text(writing),
    text(
      `The best interval is ${formatDuration(best)}${steps}: √(2 × ${formatDuration(checkpointSeconds)} × ${between.bound}${formatDuration(between.seconds)} between interruptions; ${between.basis}).`,
    ),
  ];
}

/** How long the job runs between interruptions: from the config, else from the interruption rate of its spot nodes. */
function timeBetween(
  { podSets }: Workload,
  { cost }: CostResult,
  hours: number | null,
  origins: ProjectConfig['origins'],
): { readonly seconds: number; readonly bound: string; readonly basis: string } | undefined {
  if (hours !== null) {
    return { seconds: hours * 3600, bound: '', basis: origins?.['training.hoursBetweenInterruptions'] ?? 'the config' };
  }
  const known = spotRuntime(podSets, cost);
  if (known === undefined) return undefined;
  const { seconds, bound, nodes, band, instanceType, date } = known;
  return {
    seconds,
    bound: `at ${bound} `,
    basis: `${providerName('aws')} reclaimed ${band} of ${instanceType} spot nodes per month, ${dateWords(date)}; ${plural(nodes, 'node')}`,
  };
}

function text(words: string): Block {
  return { kind: 'text', text: words };
}

function percent(share: number): string {
  return share < 0.001 ? '<0.1%' : `${formatNumber(Math.round(share * 1000) / 10)}%`;
}
