import type { ClusterNodeState } from './cluster-index.ts';
import { filterState, refusalOf } from './filters.ts';
import { type Gang, holdsClaims, type Placed } from './gang-group.ts';
import { selects } from './labels.ts';
import type { NodeState } from './node-state.ts';
import { sum } from './requests.ts';
import type { FleetPod, Labels, PodTerm } from './types.ts';

/** Nodes that one question may look at: a search that takes longer is undecided. */
const maxLooks = 400_000;

/** Pods of one gang; the rest of a larger one is not decided. */
const maxPods = 256;

/**
 * Places pods whose affinity, spread constraints or ports concern each other: one after the other in the order of the groups, each on the first node
 * that takes it, going back where a later pod finds none.
 */
export function placeInOrder(
  groups: readonly Gang[],
  all: readonly ClusterNodeState[],
  namespaces: ReadonlyMap<string, Labels>,
): Placed {
  const sequence = groups.flatMap((group, index) => Array.from({ length: group.count }, () => ({ group, index })));
  const states: NodeState[] = all.map((state) => withoutOthers(state, groups, namespaces));
  const wanted = sequence.slice(0, maxPods);
  const placed = groups.map(() => 0);
  const there = states.map(() => groups.map(() => 0));
  let best: readonly number[] = [...placed];
  // Equal nodes may have different devices.
  const isAlike = groups.every(({ devices }) => devices.open.length === 0 && devices.allocated.length === 0);
  let looks = 0;
  const place = (position: number): boolean => {
    if (totalOf(placed) > totalOf(best)) best = [...placed];
    const next = wanted[position];
    if (next === undefined) return true;
    const { group, index } = next;
    const state = filterState(group.pod, states, namespaces, group.devices);
    looks += states.length / 10;
    const tried = new Set<string>();
    for (const [at, on] of states.entries()) {
      looks += 1;
      if (looks > maxLooks) return false;
      if (refusalOf(group.pod, on, state) !== undefined) continue;
      const counts = (there[at] ?? []).map((count, other) => (other === index ? count + 1 : count));
      if (!holdsClaims(groups, counts, on.node)) continue;
      const kind = isAlike && state.named === undefined ? likeness(on) : on.node.name;
      // Going back to an equal node would fail in the same way.
      if (tried.has(kind)) continue;
      tried.add(kind);
      const before = there[at] ?? [];
      states[at] = withPod(on, group.pod);
      there[at] = counts;
      placed[index] = (placed[index] ?? 0) + 1;
      if (place(position + 1)) return true;
      placed[index] = (placed[index] ?? 0) - 1;
      there[at] = before;
      states[at] = on;
    }
    return false;
  };
  const isComplete = place(0) && wanted.length === sequence.length;
  return { placed: isComplete ? groups.map(({ count }) => count) : best, exact: isComplete || looks <= maxLooks };
}

function totalOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

function withPod(on: NodeState, pod: FleetPod): NodeState {
  const there = { ...pod, nodeName: on.node.name };
  return { node: on.node, pods: [...on.pods, there], used: sum(on.used, pod.requests) };
}

const known = new WeakMap<NodeState, string>();

/** Nodes that differ only in their names take the same pods. */
function likeness(on: NodeState): string {
  const before = known.get(on);
  if (before !== undefined) return before;
  const { node, pods, used } = on;
  const labels = [...node.labels].filter(([key]) => key !== 'kubernetes.io/hostname');
  const there = pods.map((pod) => [pod.namespace, [...pod.labels], pod.antiAffinity, pod.hostPorts]);
  const made = JSON.stringify([labels, node.taints, [...node.allocatable], [...used], there]);
  known.set(on, made);
  return made;
}

/** The node without the pods that none of the groups can notice; what they take stays taken. */
function withoutOthers(
  { node, pods, used }: ClusterNodeState,
  groups: readonly Gang[],
  namespaces: ReadonlyMap<string, Labels>,
): NodeState {
  const kept = pods.filter((pod) => groups.some((group) => concerns(pod, group.pod, namespaces)));
  const room = (node.allocatable.get('pods') ?? 0) - (pods.length - kept.length);
  return { node: { ...node, allocatable: new Map([...node.allocatable, ['pods', room]]) }, pods: kept, used };
}

function concerns(other: FleetPod, pod: FleetPod, namespaces: ReadonlyMap<string, Labels>): boolean {
  if (other.antiAffinity.length > 0 || (other.hostPorts.length > 0 && pod.hostPorts.length > 0)) return true;
  const isNear = ({ selector, namespaces: named, namespaceSelector }: PodTerm) =>
    selects(selector, other.labels) &&
    (named.includes(other.namespace) || selects(namespaceSelector, namespaces.get(other.namespace) ?? new Map()));
  return (
    pod.affinity.some(isNear) ||
    pod.antiAffinity.some(isNear) ||
    (other.namespace === pod.namespace && pod.spread.some(({ selector }) => selects(selector, other.labels)))
  );
}
