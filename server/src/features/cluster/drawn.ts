import type { PodOwner } from '../../fleet/cluster-view.ts';

// What an editor asks of a connected cluster, and what it gets: words to show, made where the cluster is known. Plain data.

export type ClusterDrawing =
  | ({ readonly kind: 'tree'; readonly parent: string | null } & TreeOrder)
  /** The page with the charts. @see PageOptions.nonce */
  | { readonly kind: 'page'; readonly nonce: string }
  | { readonly kind: 'markdown' }
  | { readonly kind: 'json' }
  /** The selector and the tolerations for a pool, as YAML. */
  | { readonly kind: 'pool'; readonly pool: string };

export interface TreeOrder {
  readonly sort: PoolSort;
  /** Only what has all these words; empty shows everything. */
  readonly filter: string;
}

export const poolSorts = ['free', 'idle', 'name'] as const;
export type PoolSort = (typeof poolSorts)[number];

export interface ClusterDrawn {
  readonly nodes: readonly ClusterNode[];
  /** The page, the file, or the totals above the tree. */
  readonly text: string;
}

/** One row of the tree. Texts are plain. */
export interface ClusterNode {
  /** Stays the same while figures change; names the parent when its children are asked for. */
  readonly id: string;
  readonly kind: 'pool' | 'nodes' | 'node' | 'pod' | 'pending' | 'owner' | 'problem' | 'group' | 'action';
  readonly label: string;
  readonly description: string;
  readonly tooltip: string;
  /** The text for screen readers. */
  readonly spoken: string;
  /** The name of a theme icon. */
  readonly icon: string;
  /** The id of a theme color; null: that of other icons. */
  readonly color: string | null;
  /** null: it has no children. */
  readonly children: 'collapsed' | 'expanded' | null;
  /** The bare name, to copy. */
  readonly name: string;
  /** `LivePool.id` of a pool; null for other rows. */
  readonly pool: string | null;
  /** What a click runs, for rows that the editor adds. */
  readonly command?: string;
  /** What the pods belong to; null for other rows. */
  readonly owner: (PodOwner & { readonly namespace: string }) | null;
}
