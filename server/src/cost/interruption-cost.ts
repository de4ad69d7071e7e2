import { interruptionBand } from '../catalog/index.ts';
import type { ModelOptions } from '../model/options.ts';
import type { PodSet } from '../model/workload.ts';
import { HOURS_PER_MONTH } from './money.ts';
import type { CostEstimate } from './types.ts';

/** The work since the last checkpoint that an interruption loses. */
export interface LostWork {
  /** Half of the interval. */
  readonly average: LostTime;
  readonly max: LostTime;
}

/** The work of a job that an interruption loses, in seconds and in US dollars. */
export interface LostTime {
  readonly seconds: number;
  /** The cost of the time on all GPUs of the job; null if the price is unknown. */
  readonly amount: number | null;
}

/** @param seconds between two checkpoints */
export function lostWork(seconds: number, cost: CostEstimate | null): LostWork {
  return { average: lost(seconds / 2, cost), max: lost(seconds, cost) };
}

function lost(seconds: number, cost: CostEstimate | null): LostTime {
  return { seconds, amount: cost === null ? null : (cost.hourly.max * seconds) / 3600 };
}

/** The share of its time that a trainer spends writing checkpoints. */
export function writingShare(checkpointSeconds: number, secondsBetween: number): number {
  return checkpointSeconds / (secondsBetween + checkpointSeconds);
}

/** The time to write a checkpoint: from the config, else from its size and the speed of writing; null if unknown. */
export function secondsToWrite(
  { checkpointSeconds = null, checkpointGiBPerSecond = null }: NonNullable<ModelOptions['training']>,
  sizeGiB: number | null,
): number | null {
  if (checkpointSeconds !== null || sizeGiB === null || checkpointGiBPerSecond === null) return checkpointSeconds;
  return sizeGiB / checkpointGiBPerSecond;
}

/** The interval that minimizes the time spent writing plus the time lost, after Young: √(2 × time to write × time between interruptions). */
export function bestInterval(checkpointSeconds: number, secondsBetweenInterruptions: number): number {
  return Math.sqrt(2 * checkpointSeconds * secondsBetweenInterruptions);
}

/** How long a job runs between interruptions, from the provider's interruption rate. */
export interface SpotRuntime {
  readonly seconds: number;
  /** `>20%` bounds the time from above, `5-10%` from below. */
  readonly bound: 'most' | 'least';
  readonly nodes: number;
  readonly band: string;
  readonly instanceType: string;
  readonly date: string | null;
}

/** Undefined unless the job runs on a single AWS spot instance type with a known number of nodes and interruption rate. */
export function spotRuntime(podSets: readonly PodSet[], cost: CostEstimate | null): SpotRuntime | undefined {
  const [basis, ...others] = (cost?.basis ?? []).filter(({ pricing }) => pricing === 'spot');
  if (basis === undefined || others.length > 0 || basis.provider !== 'aws') return undefined;
  const { instanceType } = basis;
  const known = interruptionBand(instanceType, basis.region);
  const pods = podSets.find(({ name }) => name === basis.podSet)?.pods.max ?? null;
  // An open band (`>20%`) has only a lower bound.
  const rate = Number(/(\d+)%?$/.exec(known?.band ?? '')?.[1]) / 100;
  if (known === undefined || pods === null || !(rate > 0)) return undefined;
  const { band, date } = known;
  const nodes = Math.max(1, Math.ceil(pods * basis.share));
  const seconds = (HOURS_PER_MONTH * 3600) / (rate * nodes);
  return { seconds, bound: band.startsWith('>') ? 'most' : 'least', nodes, band, instanceType, date };
}
