import type { ClusterNode, ClusterObjects, ClusterPod } from './cluster-objects.ts';
import { type NodeState, withPods } from './node-state.ts';

/** A node of a cluster with the pods that hold its resources. */
export interface ClusterNodeState extends NodeState {
  readonly node: ClusterNode;
  readonly pods: readonly ClusterPod[];
}

const known = new WeakMap<ClusterNode, ClusterNodeState>();
const indexes = new WeakMap<ClusterObjects, readonly ClusterNodeState[]>();

/** The nodes with their pods, computed once for the objects. A node whose pods are the same keeps its state. */
export function statesOf(objects: ClusterObjects): readonly ClusterNodeState[] {
  const before = indexes.get(objects);
  if (before !== undefined) return before;
  const byNode = new Map<string, ClusterPod[]>(objects.nodes.map(({ name }) => [name, []]));
  for (const pod of objects.pods) if (pod.nodeName !== '') byNode.get(pod.nodeName)?.push(pod);
  const states = objects.nodes.map((node) => {
    const pods = byNode.get(node.name) ?? [];
    const last = known.get(node);
    if (last !== undefined && sameItems(last.pods, pods)) return last;
    const { used } = withPods(node, pods);
    const made = { node, pods, used };
    known.set(node, made);
    return made;
  });
  indexes.set(objects, states);
  return states;
}

function sameItems(a: readonly ClusterPod[], b: readonly ClusterPod[]): boolean {
  return a.length === b.length && a.every((one, index) => one === b[index]);
}
