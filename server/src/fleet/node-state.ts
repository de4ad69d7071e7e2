import { sum } from './requests.ts';
import type { Amounts, FleetNode, FleetPod } from './types.ts';

/** A node with the pods that hold its resources. */
export interface NodeState {
  readonly node: FleetNode;
  readonly pods: readonly FleetPod[];
  /** What the pods request. */
  readonly used: Amounts;
}

/** A node with other pods. */
export function withPods(node: FleetNode, pods: readonly FleetPod[]): NodeState {
  return { node, pods, used: pods.reduce<Amounts>((total, { requests }) => sum(total, requests), new Map()) };
}
