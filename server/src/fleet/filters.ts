import { admits, namedNodes } from './labels.ts';
import type { NodeState } from './node-state.ts';
import { type AffinityState, affinityState, isAttracted, isRepelled, repelsNode } from './pod-affinity.ts';
import { classOfResource, devicesOn, type PodDevices } from './pod-devices.ts';
import { portsTaken, shortages } from './resources-fit.ts';
import { toleratesCordon, untolerated } from './tolerations.ts';
import { type SpreadState, spreadProblem, spreadState } from './topology-spread.ts';
import type { FleetPod, Labels } from './types.ts';

/** Why a node cannot run a pod, in the scheduler's words. */
export interface Refusal {
  /** Usually one; of resources, everything that is short. */
  readonly reasons: readonly string[];
  /** Evicting other pods would not help. */
  readonly forever: boolean;
  /** The filter failed: the pod runs on no node at all. */
  readonly fails?: boolean;
}

/** What the filters compute once for a pod and all nodes. */
export interface FilterState {
  readonly affinity: AffinityState;
  readonly spread: SpreadState;
  /** The nodes that `matchFields` names; undefined if it names none. */
  readonly named: ReadonlySet<string> | undefined;
  readonly namespaces: ReadonlyMap<string, Labels>;
  readonly devices: PodDevices;
}

export function filterState(
  pod: FleetPod,
  states: readonly NodeState[],
  namespaces: ReadonlyMap<string, Labels>,
  devices: PodDevices,
): FilterState {
  return {
    affinity: affinityState(pod, states, namespaces),
    spread: spreadState(pod, states),
    named: namedNodes(pod),
    namespaces,
    devices,
  };
}

/** The refusal of the first filter that a node does not pass, in the order of kube-scheduler; undefined if the pod can run there. */
export function refusalOf(pod: FleetPod, on: NodeState, state: FilterState): Refusal | undefined {
  const { node } = on;
  if (state.named !== undefined && !state.named.has(node.name))
    return never("node(s) didn't satisfy plugin(s) [NodeAffinity]");
  if (node.unschedulable && !toleratesCordon(pod.tolerations)) return never('node(s) were unschedulable');
  if (pod.nodeName !== '' && pod.nodeName !== node.name) return never("node(s) didn't match the requested node name");
  if (untolerated(pod.tolerations, node) !== undefined) return never('node(s) had untolerated taint(s)');
  if (!admits(pod, node)) return never("node(s) didn't match Pod's node affinity/selector");
  if (portsTaken(pod, on)) return fornow("node(s) didn't have free ports for the requested pod ports");
  const short = shortages(pod, on, (name) => classOfResource(name, node, state.devices.supply) !== undefined);
  if (short.length > 0)
    return { reasons: short.map(({ reason }) => reason), forever: short.some(({ forever }) => forever) };
  const spread = spreadProblem(pod, node, state.spread);
  if (spread === 'missing label')
    return never("node(s) didn't match pod topology spread constraints (missing required label)");
  if (spread === 'skew') return fornow("node(s) didn't match pod topology spread constraints");
  if (!isAttracted(pod, node, state.affinity, state.namespaces))
    return never("node(s) didn't match pod affinity rules");
  if (isRepelled(pod, node, state.affinity)) return fornow("node(s) didn't match pod anti-affinity rules");
  if (repelsNode(node, state.affinity)) return fornow("node(s) didn't satisfy existing pods anti-affinity rules");
  const devices = devicesOn(pod, node, state.devices);
  if (devices === 'elsewhere') return never('resourceclaim not available on the node');
  if (devices === 'impossible') return never('cannot allocate all claims');
  return typeof devices === 'object' ? { ...never(devices.error), fails: true } : undefined;
}

function never(reason: string): Refusal {
  return { reasons: [reason], forever: true };
}

function fornow(reason: string): Refusal {
  return { reasons: [reason], forever: false };
}
