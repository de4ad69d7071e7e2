import type { ClusterStatus } from '../cluster/messages.ts';
import type { LiveNode } from '../fleet/cluster-view.ts';
import type { PlaceParams } from './protocol.ts';

export type {
  ClusterContext,
  ClusterContexts as ClusterContextsResult,
  ConnectionState as ClusterConnectionState,
} from '../cluster/messages.ts';
export type * from '../features/cluster/drawn.ts';
export type * from '../fleet/cluster-view.ts';

// What the extension and its server exchange about a connected cluster. Nothing of a kubeconfig is read before the user connects, and the server
// never connects by itself. Every time is in milliseconds since the epoch.

export const clusterMethods = {
  /** Connects to a cluster, or to another one. */
  connect: 'gpulint/clusterConnect',
  disconnect: 'gpulint/clusterDisconnect',
  /** The contexts to choose from. It reads the kubeconfig, so send it only when the user wants to choose. */
  contexts: 'gpulint/clusterContexts',
  /** The nodes of a pool with their GPU pods. */
  nodes: 'gpulint/clusterNodes',
  /** Rows of the tree, the page, and what can be copied, in words. */
  draw: 'gpulint/clusterDraw',
  /** The edit that lets the workload at a position run in a pool. */
  usePool: 'gpulint/clusterUsePool',
  /** Server to client, a notification: the state or a figure has changed; at most four times per second. */
  changed: 'gpulint/clusterChanged',
  /** Client to server, a notification: the user has trusted the workspace. */
  trusted: 'gpulint/clusterTrusted',
} as const;

/** The figures are not sent along: `draw` gives those that are shown. */
export interface ClusterChangedParams extends Omit<ClusterStatus, 'view'> {
  /** When the figures were last known to be current; null before the first have arrived. */
  readonly asOf: number | null;
}

export interface ClusterConnectParams {
  /** A context of the kubeconfig; by default the one in the settings, else the current one. */
  readonly context?: string | null;
  /** A kubeconfig instead of the one in the settings, for example the one that the Kubernetes extension uses. */
  readonly kubeconfig?: string | null;
}

/** `problem` is a sentence: why nothing was read or connected. Later problems are states. */
export interface ClusterConnectResult {
  readonly problem: string | null;
}

export interface ClusterContextsParams {
  readonly kubeconfig?: string | null;
}

export interface ClusterNodesParams {
  /** `LivePool.id`. */
  readonly pool: string;
}

/** Sorted by name; empty if the pool is gone. */
export type ClusterNodesResult = readonly LiveNode[];

export interface ClusterUsePoolParams extends PlaceParams {
  /** `LivePool.id`. */
  readonly pool: string;
}
