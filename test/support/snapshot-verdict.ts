import { at, text } from '../../server/src/fleet/json.ts';
import { withPods } from '../../server/src/fleet/node-state.ts';
import type { ClusterDevices } from '../../server/src/fleet/pod-devices.ts';
import type { DisruptionBudget, FleetNode, FleetPod, Labels } from '../../server/src/fleet/types.ts';
import { type Verdict, verdictOn } from '../../server/src/fleet/verdict.ts';

/** A cluster at one moment. */
export interface FleetSnapshot {
  readonly nodes: readonly FleetNode[];
  /** Pods that hold resources, as `holdsResources` says. Those of nodes that are gone hold nothing. */
  readonly pods: readonly FleetPod[];
  /** The labels of namespaces, by name. */
  readonly namespaces: ReadonlyMap<string, Labels>;
  readonly budgets?: readonly DisruptionBudget[];
}

/** The verdict on a pod in such a cluster. */
export function verdictOf(
  pod: FleetPod,
  { nodes, pods, namespaces, budgets }: FleetSnapshot,
  devices?: ClusterDevices,
): Verdict {
  const byNode = new Map<string, FleetPod[]>(nodes.map(({ name }) => [name, []]));
  for (const one of pods) byNode.get(one.nodeName)?.push(one);
  const states = nodes.map((node) => withPods(node, byNode.get(node.name) ?? []));
  return verdictOn(pod, states, namespaces, devices, budgets);
}

/** Whether a pod holds its node's resources: it is bound and has not ended. @param pod as the API server returns it */
export function holdsResources(pod: unknown): boolean {
  const phase = at(pod, 'status', 'phase');
  return (text(at(pod, 'spec', 'nodeName')) ?? '') !== '' && phase !== 'Succeeded' && phase !== 'Failed';
}
