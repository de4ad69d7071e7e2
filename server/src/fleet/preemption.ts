import { type FilterState, filterState, type Refusal, refusalOf } from './filters.ts';
import { selects } from './labels.ts';
import { type NodeState, withPods } from './node-state.ts';
import type { DisruptionBudget, FleetPod } from './types.ts';

// https://github.com/kubernetes/kubernetes/blob/master/pkg/scheduler/framework/preemption/preemption.go

/** A node that would have room, and the pods that would be evicted for it. */
export interface Eviction {
  readonly node: string;
  readonly victims: readonly FleetPod[];
  /** How many of them a PodDisruptionBudget protects. */
  readonly violations: number;
}

/** What preemption would do, by node. */
export interface Preemption {
  readonly evictions: readonly Eviction[];
  /** For each other node, why evictions would not help. */
  readonly reasons: readonly (readonly string[])[];
}

/** Whether evicting pods of lower priority would make room on a node, for each node that refused the pod. */
export function preemption(
  pod: FleetPod,
  states: readonly NodeState[],
  refusals: ReadonlyMap<string, Refusal>,
  state: FilterState,
  budgets: readonly DisruptionBudget[],
): Preemption {
  const evictions: Eviction[] = [];
  const reasons: (readonly string[])[] = [];
  for (const on of states) {
    if (refusals.get(on.node.name)?.forever !== false) {
      reasons.push(['Preemption is not helpful for scheduling']);
      continue;
    }
    const tried = evictFrom(pod, on, states, state, budgets);
    if ('victims' in tried) evictions.push(tried);
    else reasons.push(tried.reasons);
  }
  return { evictions, reasons };
}

/**
 * The eviction that the scheduler chooses: the fewest violated budgets, then the least important and the fewest victims, then those that started last.
 */
export function bestEviction(evictions: readonly Eviction[]): Eviction | undefined {
  const [best] = [...evictions].sort(
    (a, b) =>
      a.violations - b.violations ||
      highest(a.victims) - highest(b.victims) ||
      importance(a.victims) - importance(b.victims) ||
      a.victims.length - b.victims.length ||
      ordered(firstStart(b.victims), firstStart(a.victims)),
  );
  return best;
}

/** When the first of the most important victims started. */
function firstStart(victims: readonly FleetPod[]): number {
  const most = highest(victims);
  return Math.min(...victims.filter(({ priority }) => priority === most).map(startOf));
}

/** A pod that has not started counts as if it started now. */
function startOf({ started }: FleetPod): number {
  return started ?? Number.POSITIVE_INFINITY;
}

/**
 * The more important pod first: by priority, then the one that runs longer. Start times are whole seconds, so many are equal; the scheduler keeps such
 * pods in the order in which it met them, which no object shows. An API server lists them by namespace and name.
 */
function byImportance(left: FleetPod, right: FleetPod): number {
  return (
    right.priority - left.priority ||
    ordered(startOf(left), startOf(right)) ||
    ordered(left.namespace, right.namespace) ||
    ordered(left.name, right.name)
  );
}

function ordered<T extends number | string>(left: T, right: T): number {
  return left === right ? 0 : left < right ? -1 : 1;
}

function highest(victims: readonly FleetPod[]): number {
  return Math.max(...victims.map(({ priority }) => priority));
}

/** Each victim counts, also one of negative priority. */
function importance(victims: readonly FleetPod[]): number {
  return victims.reduce((sum, { priority }) => sum + priority + 2 ** 31, 0);
}

function evictFrom(
  pod: FleetPod,
  on: NodeState,
  states: readonly NodeState[],
  state: FilterState,
  budgets: readonly DisruptionBudget[],
): Eviction | { readonly reasons: readonly string[] } {
  const lower = on.pods.filter(({ priority }) => priority < pod.priority);
  if (lower.length === 0) return { reasons: ['No preemption victims found for incoming pod'] };
  const isLocal = dependsOnNodeOnly(pod, state);
  const refusalWith = (pods: readonly FleetPod[]): Refusal | undefined => {
    const changed = withPods(on.node, pods);
    if (isLocal) return refusalOf(pod, changed, state);
    const all = states.map((each) => (each === on ? changed : each));
    return refusalOf(pod, changed, filterState(pod, all, state.namespaces, state.devices));
  };
  let kept = on.pods.filter(({ priority }) => priority >= pod.priority);
  const refusal = refusalWith(kept);
  if (refusal !== undefined) return { reasons: refusal.reasons };
  // Pods that need not go are kept: those that a budget protects first, then the most important.
  const victims: FleetPod[] = [];
  const guarded = protectedBy(budgets, [...lower].sort(byImportance));
  for (const candidate of [...guarded].sort((left, right) => Number(right.isProtected) - Number(left.isProtected))) {
    if (refusalWith([...kept, candidate.pod]) === undefined) kept = [...kept, candidate.pod];
    else victims.push(candidate.pod);
  }
  const violations = guarded.filter(({ pod: victim, isProtected }) => isProtected && victims.includes(victim)).length;
  return { node: on.node.name, victims, violations };
}

/** Whether the eviction of each pod, after those before it, would exceed a budget. One with an empty selector protects nothing. */
function protectedBy(
  budgets: readonly DisruptionBudget[],
  pods: readonly FleetPod[],
): readonly { readonly pod: FleetPod; readonly isProtected: boolean }[] {
  const left = budgets.map(({ allowed }) => allowed);
  return pods.map((pod) => {
    let isProtected = false;
    for (const [index, { namespace, selector, disrupted }] of budgets.entries()) {
      if (namespace !== pod.namespace || selector?.length === 0 || !selects(selector, pod.labels)) continue;
      if (pod.labels.size === 0 || disrupted.includes(pod.name)) continue;
      left[index] = (left[index] ?? 0) - 1;
      isProtected ||= (left[index] ?? 0) < 0;
    }
    return { pod, isProtected };
  });
}

/** Whether other pods matter to this one only by what they take of its node: no affinity is about them, and none of theirs about it. */
export function dependsOnNodeOnly({ affinity, antiAffinity, spread }: FleetPod, state: FilterState): boolean {
  return (
    affinity.length === 0 && antiAffinity.length === 0 && spread.length === 0 && state.affinity.repelled.size === 0
  );
}
