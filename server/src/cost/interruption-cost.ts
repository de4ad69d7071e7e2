import { interruptionBand } from '../catalog/index.ts';
import type { PodSet } from '../model/workload.ts';
import { HOURS_PER_MONTH } from './format.ts';
import type { CostEstimate } from './types.ts';

/** What an interruption loses of the work since the last checkpoint. */
export interface LostWork {
  /** Half of the interval. */
  readonly average: LostTime;
  readonly most: LostTime;
}

export interface LostTime {
  readonly seconds: number;
  /** What the time costs on all GPUs of the job; null where no price is known. */
  readonly amount: number | null;
}

/** @param seconds between two checkpoints */
export function lostWork(seconds: number, cost: CostEstimate | null): LostWork {
  return { average: lost(seconds / 2, cost), most: lost(seconds, cost) };
}

function lost(seconds: number, cost: CostEstimate | null): LostTime {
  return { seconds, amount: cost === null ? null : (cost.hourly.max * seconds) / 3600 };
}

/** The part of its time in which a trainer writes checkpoints, and waits. */
export function writingShare(checkpointSeconds: number, secondsBetween: number): number {
  return checkpointSeconds / (secondsBetween + checkpointSeconds);
}

/** The interval at which writing and losing together take least, after Young: √(2 × time to write × time between interruptions). */
export function bestInterval(checkpointSeconds: number, secondsBetweenInterruptions: number): number {
  return Math.sqrt(2 * checkpointSeconds * secondsBetweenInterruptions);
}

/** How long a job runs between interruptions, after what a provider took back. */
export interface SpotRuntime {
  readonly seconds: number;
  /** `>20%` bounds the time from above, `5-10%` from below. */
  readonly bound: 'most' | 'least';
  readonly nodes: number;
  readonly band: string;
  readonly instanceType: string;
  readonly date: string | null;
}

/** Undefined where the job is not on one kind of AWS's spot nodes, or their number or rate is unknown. */
export function spotRuntime(podSets: readonly PodSet[], cost: CostEstimate | null): SpotRuntime | undefined {
  const [basis, ...others] = (cost?.basis ?? []).filter(({ pricing }) => pricing === 'spot');
  if (basis === undefined || others.length > 0 || basis.provider !== 'aws') return undefined;
  const { instanceType } = basis;
  const known = interruptionBand(instanceType, basis.region);
  const pods = podSets.find(({ name }) => name === basis.podSet)?.pods.max ?? null;
  // Of an open band (`>20%`) only its edge is known.
  const rate = Number(/(\d+)%?$/.exec(known?.band ?? '')?.[1]) / 100;
  if (known === undefined || pods === null || !(rate > 0)) return undefined;
  const { band, date } = known;
  const nodes = Math.max(1, Math.ceil(pods * basis.share));
  const seconds = (HOURS_PER_MONTH * 3600) / (rate * nodes);
  return { seconds, bound: band.startsWith('>') ? 'most' : 'least', nodes, band, instanceType, date };
}
