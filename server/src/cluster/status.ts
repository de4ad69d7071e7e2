import type { ClusterCopy, Followed } from './cluster-copy.ts';
import type { ConnectionState } from './messages.ts';

/** The state of the copy, with a sentence that says what to do. */
export function stateOf(
  { nodes, pods, isSettled }: Pick<ClusterCopy, 'nodes' | 'pods' | 'isSettled'>,
  context: string,
  wasLive: boolean,
): { readonly state: ConnectionState; readonly message: string | null } {
  const essential = [nodes, pods];
  const rejected = essential.find((one) => one.state() === 'unauthorized');
  if (rejected !== undefined) return { state: 'unauthorized', message: unauthorized(context, rejected.message()) };
  const lost = essential.find((one) => one.state() === 'unreachable');
  if (lost !== undefined) return { state: wasLive ? 'stale' : 'unreachable', message: `${context}: ${lost.message()}` };
  if (nodes.state() === 'forbidden') {
    const message = `The user of context ${context} may not list nodes: bind the ClusterRole in docs/cluster.md`;
    return { state: 'forbidden', message };
  }
  if (essential.every(isWaiting)) return { state: 'connecting', message: null };
  if (wasLive || (essential.every(isKnown) && isSettled())) return { state: 'live', message: partial(pods) };
  return { state: 'loading', message: null };
}

function isWaiting(one: Followed): boolean {
  return one.state() === 'waiting' || (one.state() === 'listing' && one.count() === 0 && !one.isComplete());
}

/** It has been read, or will not be. */
function isKnown(one: Followed): boolean {
  return one.isComplete() || one.state() === 'forbidden' || one.state() === 'absent';
}

function unauthorized(context: string, reason: string): string {
  const what = /^Unauthorized$/i.test(reason) ? 'the API server rejects the credentials' : reason;
  return `${context}: ${what}; log in again, and gpulint reconnects`;
}

function partial(pods: Followed): string | null {
  const namespace = pods.namespace();
  if (pods.state() === 'forbidden') {
    const tried = namespace === null ? '' : `, not even in the namespace ${namespace}`;
    return `No permission to list pods${tried}: free GPUs unknown; set another namespace or bind the ClusterRole in docs/cluster.md`;
  }
  return namespace === null
    ? null
    : `Only pods in the namespace ${namespace} are readable: devices used by other pods look free`;
}
