import type { GrowingPool } from './cluster-objects.ts';
import type { FitPool } from './fit-pools.ts';
import type { FitOutcome, Growth, PreemptedPod, QuotaState } from './fit-question.ts';
import { placeTogether } from './gang.ts';
import type { Gang } from './gang-group.ts';
import { unknownGrowth } from './growth.ts';
import type { FleetPod } from './types.ts';
import type { Verdict } from './verdict.ts';

/** Pods of one template that are to be placed. */
export interface PodsToFit {
  readonly name: string;
  readonly count: number;
  readonly pod: FleetPod;
}

/** Such pods, and what the scheduler would do with one of them. */
export interface FoundPods extends PodsToFit {
  readonly verdict: Verdict;
  /** Undefined if a claim or a device class is missing. */
  readonly gang: Gang | undefined;
}

/** What is known of all groups. */
export interface OutcomeInput {
  readonly found: readonly FoundPods[];
  readonly placed: readonly number[];
  readonly missing: readonly number[];
  readonly pools: readonly FitPool[];
  readonly quotas: readonly QuotaState[];
  readonly growth: readonly Growth[];
  readonly preempted: readonly PreemptedPod[];
  readonly together: boolean;
  readonly exact: boolean;
  readonly growing: readonly GrowingPool[];
  readonly stopped: string | null;
}

/** What the pods do: they fit, wait, or never run. */
export function outcomeOf(input: OutcomeInput): FitOutcome {
  const { found, placed, missing, quotas, growth, preempted, together, exact } = input;
  if (input.stopped !== null || quotas.some(({ exceeded }) => exceeded)) return 'quota';
  if (found.some(({ verdict }) => verdict.kind === 'error' || verdict.kind === 'waits')) return 'never';
  if (missing.every((count) => count === 0)) return 'fits';
  if (!exact) return 'unknown';
  const isSome = placed.some((count) => count > 0);
  if (isSome && !together) return 'fits-some';
  if (preempted.length > 0) return 'preempts';
  if (growth.some(({ blocked }) => blocked === null)) return 'grows';
  const couldFit = found.every(({ gang, count }) => gang !== undefined && fitsEmpty(gang, input.pools) >= count);
  if (couldFit) return 'waits';
  return unknownGrowth(
    input.pools,
    input.growing,
    found.map(({ pod }) => pod),
  ).length > 0
    ? 'unknown'
    : 'never';
}

/** Pods that would fit if no others were there, on the nodes that admit them. */
function fitsEmpty(gang: Gang, pools: readonly FitPool[]): number {
  return pools.reduce((all, pool) => all + emptyIn(gang, pool), 0);
}

/** The same in one pool. */
export function emptyIn(gang: Gang, pool: FitPool): number {
  pool.empty ??= pool.states.flatMap(({ node }) =>
    node.unschedulable ? [] : [{ node, pods: [], used: new Map<string, number>() }],
  );
  const pod = { ...gang.pod, affinity: [], antiAffinity: [], spread: [], hostPorts: [] };
  const affinity = { attracting: new Map(), repelling: new Map(), repelled: new Map() };
  const state = { ...gang.state, affinity, spread: [], devices: { ...gang.devices, taken: new Set<string>() } };
  const { placed } = placeTogether([{ pod, count: gang.count, devices: state.devices, state }], pool.empty, new Map());
  return placed[0] ?? 0;
}
