import type { NodeState } from './node-state.ts';
import type { FleetPod, HostPort } from './types.ts';

// https://github.com/kubernetes/kubernetes/blob/master/pkg/scheduler/framework/plugins/noderesources/fit.go

/** What a node lacks for a pod. */
export interface Shortage {
  /** The scheduler's words: `Insufficient nvidia.com/gpu`, `Too many pods`. */
  readonly reason: string;
  /** The node would not hold the pod even if it were empty. */
  readonly forever: boolean;
}

/**
 * Everything that a node lacks for a pod, most general first.
 * @param isDevice whether a resource is served by devices on this node
 */
export function shortages(
  { requests }: FleetPod,
  { node, pods, used }: NodeState,
  isDevice: (resource: string) => boolean,
): readonly Shortage[] {
  const found: Shortage[] = [];
  if (pods.length + 1 > (node.allocatable.get('pods') ?? 0)) found.push({ reason: 'Too many pods', forever: false });
  for (const [name, amount] of requests) {
    const all = node.allocatable.get(name) ?? 0;
    // Nothing is never too much, not even for a node that is overcommitted.
    if (amount > 0 && amount > all - (used.get(name) ?? 0) && !isDevice(name))
      found.push({ reason: `Insufficient ${name}`, forever: amount > all });
  }
  return found;
}

/** Whether a port of the host that the pod needs is taken. */
export function portsTaken({ hostPorts }: FleetPod, { pods }: NodeState): boolean {
  return (
    hostPorts.length > 0 &&
    pods.some((other) => other.hostPorts.some((taken) => hostPorts.some((port) => collide(port, taken))))
  );
}

function collide(left: HostPort, right: HostPort): boolean {
  return (
    left.port === right.port &&
    left.protocol === right.protocol &&
    (left.ip === right.ip || left.ip === '0.0.0.0' || right.ip === '0.0.0.0')
  );
}
