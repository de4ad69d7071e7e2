import { sum } from './requests.ts';
import type { Amounts, FleetNode, FleetPod, FleetSnapshot } from './types.ts';

/** A node with the pods that hold its resources. */
export interface NodeState {
  readonly node: FleetNode;
  readonly pods: readonly FleetPod[];
  /** What the pods request. */
  readonly used: Amounts;
}

/** The nodes of a snapshot with their pods. Pods of nodes that are gone hold nothing. */
export function nodeStates({ nodes, pods }: FleetSnapshot): readonly NodeState[] {
  const byNode = new Map<string, FleetPod[]>(nodes.map(({ name }) => [name, []]));
  for (const pod of pods) byNode.get(pod.nodeName)?.push(pod);
  return nodes.map((node) => withPods(node, byNode.get(node.name) ?? []));
}

/** A node with other pods. */
export function withPods(node: FleetNode, pods: readonly FleetPod[]): NodeState {
  return { node, pods, used: pods.reduce<Amounts>((total, { requests }) => sum(total, requests), new Map()) };
}
