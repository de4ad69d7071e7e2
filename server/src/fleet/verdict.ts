import { filterState, type Refusal, refusalOf } from './filters.ts';
import { isUnreadable } from './labels.ts';
import type { NodeState } from './node-state.ts';
import { type ClusterDevices, type DeviceProblem, podDevices } from './pod-devices.ts';
import { type Eviction, type Preemption, preemption } from './preemption.ts';
import type { DisruptionBudget, FleetPod, Labels } from './types.ts';

/** What kube-scheduler would do with a pod. */
export type Verdict =
  | { readonly kind: 'fits'; readonly nodes: readonly string[] }
  | { readonly kind: 'gated'; readonly gates: readonly string[] }
  /** Another scheduler decides. */
  | { readonly kind: 'other-scheduler'; readonly schedulerName: string }
  /** A claim or a device class is missing: the scheduler does not look at the nodes. */
  | { readonly kind: 'waits'; readonly problem: DeviceProblem }
  /** A part of the pod fails when the scheduler evaluates it: the pod never runs. */
  | { readonly kind: 'error'; readonly message: string }
  | {
      readonly kind: 'refused';
      readonly nodes: number;
      /** By reason: the number of nodes that gave it. Resources that are short on one node count once each. */
      readonly reasons: ReadonlyMap<string, number>;
      readonly refusals: ReadonlyMap<string, Refusal>;
      /** Where lower pods would be evicted. */
      readonly evictions: readonly Eviction[];
      /** Why evictions would not help; null if the pod may not preempt. */
      readonly unhelpful: ReadonlyMap<string, number> | null;
    };

/**
 * Decides as kube-scheduler 1.36 does with its default plugins, except for volumes.
 * @param states the nodes with their pods
 * @param namespaces their labels, by name
 * @param devices what dynamic resource allocation offers; undefined if the cluster does not serve it
 */
export function verdictOn(
  pod: FleetPod,
  states: readonly NodeState[],
  namespaces: ReadonlyMap<string, Labels>,
  devices?: ClusterDevices,
  budgets: readonly DisruptionBudget[] = [],
): Verdict {
  if (pod.schedulerName !== 'default-scheduler') return { kind: 'other-scheduler', schedulerName: pod.schedulerName };
  if (pod.gates.length > 0) return { kind: 'gated', gates: pod.gates };
  const needed = podDevices(pod, devices);
  if ('kind' in needed) return { kind: 'waits', problem: needed };
  const state = filterState(pod, states, namespaces, needed);
  const refusals = new Map<string, Refusal>();
  const fitting: string[] = [];
  for (const each of states) {
    const refusal = refusalOf(pod, each, state);
    if (refusal === undefined) fitting.push(each.node.name);
    else refusals.set(each.node.name, refusal);
  }
  const failed = [...refusals.values()].find(({ fails }) => fails);
  if (failed !== undefined) return { kind: 'error', message: failed.reasons.join() };
  if (fitting.length > 0) {
    // Preferences are read only to choose among several nodes.
    const unreadable = fitting.length > 1 && pod.preferredNodes.some(isUnreadable);
    return unreadable
      ? { kind: 'error', message: 'preferred node affinity cannot be read: Gt and Lt need an integer' }
      : { kind: 'fits', nodes: fitting };
  }
  const tried = pod.preempts ? preemption(pod, states, refusals, state, budgets) : undefined;
  return {
    kind: 'refused',
    nodes: states.length,
    reasons: tally([...refusals.values()].map(({ reasons }) => reasons)),
    refusals,
    evictions: tried?.evictions ?? [],
    unhelpful: tried === undefined ? null : tally(tried.reasons),
  };
}

function tally(lists: Preemption['reasons']): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const reason of lists.flat()) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return counts;
}

/** The scheduler's own words: `0/24 nodes are available: 16 node(s) had untolerated taint(s), 8 Insufficient nvidia.com/gpu.` */
export function schedulerWords(verdict: Extract<Verdict, { readonly kind: 'refused' }>): string {
  const { nodes, reasons, evictions, unhelpful } = verdict;
  const main = `0/${nodes} nodes are available: ${counted(reasons)}.`;
  if (evictions.length > 0) return main;
  if (unhelpful === null)
    return `${main} no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never.`;
  return `${main} no new claims to deallocate, preemption: 0/${nodes} nodes are available: ${counted(unhelpful)}.`;
}

function counted(reasons: ReadonlyMap<string, number>): string {
  return [...reasons]
    .map(([reason, count]) => `${count} ${reason}`)
    .sort()
    .join(', ');
}
