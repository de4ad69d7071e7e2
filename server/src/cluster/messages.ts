import type { ClusterDrawing, ClusterDrawn } from '../features/cluster/drawn.ts';
import type { LiveNode, PublishedView } from '../fleet/cluster-view.ts';
import type { FitAnswer, FitQuestion } from '../fleet/fit-question.ts';
import type { PrometheusSettings } from './usage.ts';

// What the thread that follows a cluster and the rest of gpulint exchange: plain data that passes by structured clone.

/** What only the user of the machine may set. */
export interface ClusterSettings {
  /** A kubeconfig; null: KUBECONFIG, the default file, or the account of the pod in which gpulint runs. */
  readonly kubeconfig: string | null;
  /** null: the current context. */
  readonly context: string | null;
  /** The only namespace to read; null: all, or that of the context if the user may not read all. */
  readonly namespace: string | null;
  /** The project's own prices, by `ownPricesText`; an empty text if there are none. */
  readonly prices: string;
  /** null: no Prometheus is asked. */
  readonly prometheus: PrometheusSettings | null;
}

export type ToCluster =
  | { readonly kind: 'connect'; readonly settings: ClusterSettings }
  | { readonly kind: 'disconnect' }
  | { readonly kind: 'contexts'; readonly id: number; readonly kubeconfig: string | null }
  | { readonly kind: 'nodes'; readonly id: number; readonly pool: string }
  | { readonly kind: 'draw'; readonly id: number; readonly drawing: ClusterDrawing }
  /** The answer comes as soon as the cluster is known, and again whenever it changes. */
  | { readonly kind: 'ask'; readonly key: string; readonly question: FitQuestion }
  | { readonly kind: 'forget'; readonly key: string };

export type FromCluster =
  | { readonly kind: 'changed'; readonly status: ClusterStatus }
  | { readonly kind: 'contexts'; readonly id: number; readonly result: ClusterContexts }
  | { readonly kind: 'nodes'; readonly id: number; readonly nodes: readonly LiveNode[] }
  /** null: no objects are known. */
  | { readonly kind: 'drawn'; readonly id: number; readonly drawn: ClusterDrawn | null }
  | { readonly kind: 'answered'; readonly answers: readonly { readonly key: string; readonly answer: FitAnswer }[] };

export interface ClusterContexts {
  readonly contexts: readonly ClusterContext[];
  /** Why there are none, in a sentence without a period. */
  readonly problem: string | null;
}

/** A context of the kubeconfig. */
export interface ClusterContext {
  readonly name: string;
  readonly cluster: string;
  readonly namespace: string | null;
  /** The current one of the kubeconfig. */
  readonly isCurrent: boolean;
}

export type ConnectionState =
  /** Not connected. */
  | 'off'
  /** The server has not answered yet. */
  | 'connecting'
  /** Nodes or pods are being listed. */
  | 'loading'
  | 'live'
  /** The connection is lost; `view` shows the last known objects, as of `view.asOf`. */
  | 'stale'
  /** The server has never answered. */
  | 'unreachable'
  /** The user may not list nodes. */
  | 'forbidden'
  /** The credentials are missing, wrong or expired. */
  | 'unauthorized'
  /** The kubeconfig cannot be used, or gpulint has failed. Only a new connection helps. */
  | 'failed';

export interface ClusterStatus {
  readonly state: ConnectionState;
  /** What is wrong and what to do, in a sentence without a period; null if nothing is wrong. */
  readonly message: string | null;
  /** The context; null if there is none. */
  readonly context: string | null;
  /** Objects that have been listed so far, while `state` is `loading`. */
  readonly listed: { readonly nodes: number; readonly pods: number };
  /** GPU pods without a node. */
  readonly pending: number;
  /** null before the first objects have arrived. */
  readonly view: PublishedView | null;
}

/** Not connected. */
export const off: ClusterStatus = {
  state: 'off',
  message: null,
  context: null,
  listed: { nodes: 0, pods: 0 },
  pending: 0,
  view: null,
};
