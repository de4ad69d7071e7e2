import type { ClusterNodeState } from './cluster-index.ts';
import { refusalOf } from './filters.ts';
import { type Gang, holdsClaims, type Placed, usesOneClaim } from './gang-group.ts';
import { placeInOrder } from './gang-order.ts';
import { dependsOnNodeOnly } from './preemption.ts';
import type { Amounts, FleetPod, Labels } from './types.ts';

/**
 * How many pods of all groups can run at the same time. Pods that matter to each other only by what they take of a node are placed exactly; pods
 * with affinity, spread constraints or ports of the host one after the other, as the scheduler does, with a bounded search for a better order.
 */
export function placeTogether(
  groups: readonly Gang[],
  states: readonly ClusterNodeState[],
  namespaces: ReadonlyMap<string, Labels>,
): Placed {
  return groups.every(isIndependent) ? placeExactly(groups, states) : placeInOrder(groups, states, namespaces);
}

function isIndependent({ pod, state }: Gang): boolean {
  return dependsOnNodeOnly(pod, state) && pod.hostPorts.length === 0;
}

/** More states of the search than any real gang has. */
const maxStates = 4096;

/** For each way to place pods of the first groups on the nodes so far, the most pods of the last group. */
function placeExactly(groups: readonly Gang[], states: readonly ClusterNodeState[]): Placed {
  // The largest group last: it is the one that is only counted.
  const order = groups.map((_, index) => index).sort((a, b) => at(groups, a).count - at(groups, b).count);
  const sorted = order.map((index) => at(groups, index));
  const last = sorted.length - 1;
  const fixed = sorted.slice(0, last);
  const isSmall = fixed.reduce((product, { count }) => product * (count + 1), 1) <= maxStates;
  const isShared = sorted.some(usesOneClaim);
  let best: State[] = [{ counts: sorted.map(() => 0) }];
  const single: number[][] = [];
  for (const on of states) {
    const room = roomOn(sorted, on);
    if (room.most.every((count) => count === 0)) continue;
    if (isShared) {
      single.push(
        vectors(
          room,
          sorted.map(({ count }) => count),
        )[0] ?? [],
      );
      continue;
    }
    best = isSmall ? extend(best, room, sorted) : [greedy(best[0] ?? { counts: [] }, room, sorted)];
    const [all] = best;
    if (all !== undefined && best.length === 1 && total(all.counts) === total(sorted.map(({ count }) => count))) break;
  }
  // A claim that all pods share is allocated on one node.
  const found = isShared ? single : best.map(({ counts }) => counts);
  const chosen = found.reduce(
    (most, one) => (total(one) > total(most) ? one : most),
    sorted.map(() => 0),
  );
  const placed = groups.map((_, index) => chosen[order.indexOf(index)] ?? 0);
  const isComplete = groups.every(({ count }, index) => placed[index] === count);
  return { placed, exact: isComplete || isSmall };
}

function at<T>(items: readonly T[], index: number): T {
  return items[index] as T;
}

interface State {
  /** Pods of each group that have a node. */
  readonly counts: readonly number[];
}

function total(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

/** What a node can take of the groups. */
interface Room {
  /** The most pods of each group alone. */
  readonly most: readonly number[];
  readonly holds: (counts: readonly number[]) => boolean;
}

function roomOn(groups: readonly Gang[], on: ClusterNodeState): Room {
  const allowed = groups.map(({ pod, state }) => refusalOf(pod, on, state) === undefined);
  const holds = (counts: readonly number[]) => holdsAll(groups, counts, on);
  const most = groups.map(({ count }, index) => {
    if (allowed[index] !== true) return 0;
    const alone = (pods: number) => groups.map((_, other) => (other === index ? pods : 0));
    return largest(Math.min(count, byResources(at(groups, index).pod, on)), (pods) => holds(alone(pods)));
  });
  return { most, holds };
}

/** The largest number up to `limit` that holds, if all smaller ones do. */
function largest(limit: number, holds: (count: number) => boolean): number {
  if (limit <= 0 || holds(limit)) return Math.max(0, limit);
  let [low, high] = [0, limit];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (holds(middle)) low = middle;
    else high = middle;
  }
  return low;
}

function byResources({ requests }: FleetPod, { node, pods, used }: ClusterNodeState): number {
  let most = (node.allocatable.get('pods') ?? 0) - pods.length;
  for (const [name, amount] of requests) {
    const all = node.allocatable.get(name);
    // Devices of dynamic resource allocation may serve a resource that the node does not have.
    if (amount > 0 && all !== undefined) most = Math.min(most, Math.floor((all - (used.get(name) ?? 0)) / amount));
  }
  return most;
}

function holdsAll(groups: readonly Gang[], counts: readonly number[], on: ClusterNodeState): boolean {
  const { node, pods, used } = on;
  if (pods.length + total(counts) > (node.allocatable.get('pods') ?? 0)) return false;
  const needed = new Map<string, number>();
  for (const [index, { pod }] of groups.entries()) addTimes(needed, pod.requests, counts[index] ?? 0);
  for (const [name, amount] of needed) {
    const all = node.allocatable.get(name);
    if (amount > 0 && all !== undefined && amount > all - (used.get(name) ?? 0)) return false;
  }
  return holdsClaims(groups, counts, node);
}

function addTimes(sum: Map<string, number>, amounts: Amounts, times: number): void {
  if (times > 0) for (const [name, amount] of amounts) sum.set(name, (sum.get(name) ?? 0) + amount * times);
}

/** The largest combinations of pods that a node holds: for each number of the first groups, the most of the last. */
function vectors({ most, holds }: Room, left: readonly number[]): number[][] {
  const found: number[][] = [];
  const choose = (chosen: readonly number[]): void => {
    const index = chosen.length;
    const limit = Math.min(most[index] ?? 0, left[index] ?? 0);
    const padded = (count: number) => [...chosen, count, ...Array<number>(most.length - index - 1).fill(0)];
    if (index === most.length - 1) {
      found.push([...chosen, largest(limit, (count) => holds(padded(count)))]);
      return;
    }
    for (let count = limit; count >= 0; count -= 1) if (count === 0 || holds(padded(count))) choose([...chosen, count]);
  };
  choose([]);
  return found;
}

/** Only the states that no other beats: for equal counts of the first groups, the most of the last. */
function extend(states: readonly State[], room: Room, groups: readonly Gang[]): State[] {
  const best = new Map<string, State>();
  for (const { counts } of states) {
    const left = groups.map(({ count }, index) => count - (counts[index] ?? 0));
    for (const vector of vectors(room, left)) {
      const next = counts.map((count, index) => count + (vector[index] ?? 0));
      const key = next.slice(0, -1).join();
      const before = best.get(key)?.counts.at(-1) ?? -1;
      if ((next.at(-1) ?? 0) > before) best.set(key, { counts: next });
    }
  }
  return [...best.values()];
}

function greedy({ counts }: State, room: Room, groups: readonly Gang[]): State {
  const left = groups.map(({ count }, index) => count - (counts[index] ?? 0));
  const vector: number[] = [];
  for (const [index, limit] of room.most.entries()) {
    const padded = (count: number) => [...vector, count, ...Array<number>(room.most.length - index - 1).fill(0)];
    vector.push(largest(Math.min(limit, left[index] ?? 0), (count) => room.holds(padded(count))));
  }
  return { counts: counts.map((count, index) => count + (vector[index] ?? 0)) };
}
