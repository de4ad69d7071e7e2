import type { ClusterView, LiveNode } from '../../fleet/cluster-view.ts';

/** A view, with the nodes of its pools at hand. */
export interface DrawnCluster {
  readonly view: ClusterView;
  /** Sorted by name. @param pool `LivePool.id` */
  readonly nodesOf: (pool: string) => readonly LiveNode[];
  /** Milliseconds since the epoch. */
  readonly now: number;
}
