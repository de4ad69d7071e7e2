import { type FilterState, filterState, type Refusal, refusalOf } from './filters.ts';
import { type NodeState, withPods } from './node-state.ts';
import type { FleetPod } from './types.ts';

// https://github.com/kubernetes/kubernetes/blob/master/pkg/scheduler/framework/preemption/preemption.go

/** A node that would have room, and the pods that would be evicted for it. */
export interface Eviction {
  readonly node: string;
  readonly victims: readonly FleetPod[];
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
): Preemption {
  const evictions: Eviction[] = [];
  const reasons: (readonly string[])[] = [];
  for (const on of states) {
    if (refusals.get(on.node.name)?.forever !== false) {
      reasons.push(['Preemption is not helpful for scheduling']);
      continue;
    }
    const tried = evictFrom(pod, on, states, state);
    if ('victims' in tried) evictions.push(tried);
    else reasons.push(tried.reasons);
  }
  return { evictions, reasons };
}

function evictFrom(
  pod: FleetPod,
  on: NodeState,
  states: readonly NodeState[],
  state: FilterState,
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
  // Pods that need not go are kept, the most important first.
  const victims: FleetPod[] = [];
  for (const candidate of [...lower].sort((left, right) => right.priority - left.priority)) {
    if (refusalWith([...kept, candidate]) === undefined) kept = [...kept, candidate];
    else victims.push(candidate);
  }
  return { node: on.node.name, victims };
}

/** Whether other pods matter to this one only by what they take of its node: no affinity is about them, and none of theirs about it. */
export function dependsOnNodeOnly({ affinity, antiAffinity, spread }: FleetPod, state: FilterState): boolean {
  return (
    affinity.length === 0 && antiAffinity.length === 0 && spread.length === 0 && state.affinity.repelled.size === 0
  );
}
