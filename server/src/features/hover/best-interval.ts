import { interruptionBand, providerName } from '../../catalog/index.ts';
import { type CheckpointInterval, secondsBetween } from '../../command/checkpoint-interval.ts';
import type { ProjectConfig } from '../../config.ts';
import { formatDuration, formatNumber, HOURS_PER_MONTH } from '../../cost/format.ts';
import type { CostResult } from '../../cost/types.ts';
import type { Workload } from '../../model/workload.ts';
import type { Block } from './markdown.ts';

/**
 * What writing checkpoints takes of the time, and the interval at which writing and losing together take least, after Young:
 * √(2 × time to write × time between interruptions). Says which key is missing where one is.
 */
export function bestInterval(
  interval: CheckpointInterval,
  workload: Workload,
  result: CostResult,
  { training, origins }: ProjectConfig,
): readonly Block[] {
  const { stepSeconds, checkpointSeconds } = training;
  const seconds = secondsBetween(interval, stepSeconds);
  if (seconds === null) return [];
  if (checkpointSeconds === null) {
    return [text('Set training.checkpointSeconds in .gpulint.yaml to see what writing costs, and the best interval.')];
  }
  const share = checkpointSeconds / (seconds + checkpointSeconds);
  const from = origins?.['training.checkpointSeconds'] ?? 'the config';
  const writing = `Writing takes ${percent(share)} of the time: ${formatDuration(checkpointSeconds)} (${from}) every ${formatDuration(seconds)}.`;
  const between = timeBetween(workload, result, training.hoursBetweenInterruptions, origins);
  if (between === undefined) {
    const missing = 'Set training.hoursBetweenInterruptions to see the best interval.';
    return [text(`${writing} ${missing}`)];
  }
  const best = Math.sqrt(2 * checkpointSeconds * between.seconds);
  const steps =
    'steps' in interval.every && stepSeconds !== null
      ? `, ${formatNumber(Math.max(1, Math.round(best / stepSeconds)))} steps`
      : '';
  return [
    text(writing),
    text(
      `Least is lost with a checkpoint every ${formatDuration(best)}${steps}: √(2 × ${formatDuration(checkpointSeconds)} × ${between.bound}${formatDuration(between.seconds)} between interruptions; ${between.basis}).`,
    ),
  ];
}

/** How long the job runs between interruptions: what the project says, else what is known of its spot nodes. */
function timeBetween(
  { podSets }: Workload,
  { cost }: CostResult,
  told: number | null,
  origins: ProjectConfig['origins'],
): { readonly seconds: number; readonly bound: string; readonly basis: string } | undefined {
  if (told !== null) {
    return { seconds: told * 3600, bound: '', basis: origins?.['training.hoursBetweenInterruptions'] ?? 'the config' };
  }
  const [basis, ...others] = (cost?.basis ?? []).filter(({ pricing }) => pricing === 'spot');
  if (basis === undefined || others.length > 0 || basis.provider !== 'aws') return undefined;
  const known = interruptionBand(basis.instanceType, basis.region);
  const [pods] = podSets.filter(({ name }) => name === basis.podSet).map((podSet) => podSet.pods.max);
  // Of an open band (`>20%`) only its edge is known.
  const rate = Number(/(\d+)%?$/.exec(known?.band ?? '')?.[1]) / 100;
  if (known === undefined || pods == null || !(rate > 0)) return undefined;
  const nodes = Math.max(1, Math.ceil(pods * basis.share));
  return {
    seconds: (HOURS_PER_MONTH * 3600) / (rate * nodes),
    bound: known.band.startsWith('>') ? 'at most ' : 'at least ',
    basis: `${providerName('aws')} took back ${known.band} of ${basis.instanceType} a month, as of ${known.date ?? 'an unknown date'}; ${nodes === 1 ? '1 node' : `${nodes} nodes`}`,
  };
}

function text(words: string): Block {
  return { kind: 'text', text: words };
}

function percent(share: number): string {
  return share < 0.001 ? '<0.1%' : `${formatNumber(Math.round(share * 1000) / 10)}%`;
}
