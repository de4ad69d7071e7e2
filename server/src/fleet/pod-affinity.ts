import { selects } from './labels.ts';
import type { NodeState } from './node-state.ts';
import type { FleetNode, FleetPod, Labels, PodTerm } from './types.ts';

// https://github.com/kubernetes/kubernetes/blob/master/pkg/scheduler/framework/plugins/interpodaffinity/filtering.go

/** What the pods of all nodes mean for the affinity of one pod. */
export interface AffinityState {
  /** By topology: how many pods match all terms of the affinity. */
  readonly attracting: Counts;
  /** By topology: how many pods match a term of the anti-affinity. */
  readonly repelling: Counts;
  /** By topology: how many terms of the anti-affinity of other pods match this pod. */
  readonly repelled: Counts;
}

/** Counts by topology key and value. */
type Counts = Map<string, Map<string, number>>;

export function affinityState(
  pod: FleetPod,
  states: readonly NodeState[],
  namespaces: ReadonlyMap<string, Labels>,
): AffinityState {
  const state: AffinityState = { attracting: new Map(), repelling: new Map(), repelled: new Map() };
  // Most pods have no terms, and concern a pod without terms in no way.
  const isPlain = pod.affinity.length === 0 && pod.antiAffinity.length === 0;
  for (const { node, pods } of states) {
    for (const other of pods) if (!isPlain || other.antiAffinity.length > 0) count(state, pod, other, node, namespaces);
  }
  return state;
}

function count(
  { attracting, repelling, repelled }: AffinityState,
  pod: FleetPod,
  other: FleetPod,
  node: FleetNode,
  namespaces: ReadonlyMap<string, Labels>,
): void {
  const matches = (term: PodTerm, target: FleetPod) => matchesTerm(term, target, namespaces);
  for (const term of other.antiAffinity) if (matches(term, pod)) add(repelled, term, node);
  for (const term of pod.antiAffinity) if (matches(term, other)) add(repelling, term, node);
  // Only a pod that matches every term attracts.
  if (pod.affinity.length > 0 && pod.affinity.every((term) => matches(term, other)))
    for (const term of pod.affinity) add(attracting, term, node);
}

function matchesTerm(term: PodTerm, pod: FleetPod, namespaces: ReadonlyMap<string, Labels>): boolean {
  const inNamespace =
    term.namespaces.includes(pod.namespace) ||
    selects(term.namespaceSelector, namespaces.get(pod.namespace) ?? new Map());
  return inNamespace && selects(term.selector, pod.labels);
}

function add(counts: Counts, { topologyKey }: PodTerm, node: FleetNode): void {
  const value = node.labels.get(topologyKey);
  if (value === undefined) return;
  const values = counts.get(topologyKey) ?? new Map<string, number>();
  counts.set(topologyKey, values.set(value, (values.get(value) ?? 0) + 1));
}

function counted(counts: Counts, key: string, value: string | undefined): number {
  return value === undefined ? 0 : (counts.get(key)?.get(value) ?? 0);
}

/** Whether pods that this one must be near are near the node. The first pod of a group that matches its own terms may go anywhere. */
export function isAttracted(
  pod: FleetPod,
  node: FleetNode,
  { attracting }: AffinityState,
  namespaces: ReadonlyMap<string, Labels>,
): boolean {
  if (pod.affinity.some(({ topologyKey }) => !node.labels.has(topologyKey))) return false;
  const near = pod.affinity.every(
    ({ topologyKey }) => counted(attracting, topologyKey, node.labels.get(topologyKey)) > 0,
  );
  return near || (attracting.size === 0 && pod.affinity.every((term) => matchesTerm(term, pod, namespaces)));
}

/** Whether a pod that this one must avoid is near the node. */
export function isRepelled({ antiAffinity }: FleetPod, node: FleetNode, { repelling }: AffinityState): boolean {
  return antiAffinity.some(({ topologyKey }) => counted(repelling, topologyKey, node.labels.get(topologyKey)) > 0);
}

/** Whether a pod near the node must avoid this one. */
export function repelsNode(node: FleetNode, { repelled }: AffinityState): boolean {
  return [...repelled].some(([key]) => counted(repelled, key, node.labels.get(key)) > 0);
}
