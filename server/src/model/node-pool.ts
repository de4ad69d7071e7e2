import type { SelectedCapacity } from '../catalog/index.ts';
import type { Table } from '../yaml/table.ts';

/**
 * A pool of nodes with accelerators, wherever it is described: in the config, by an autoscaler's object, by a cluster. What is left out or null is
 * unknown.
 */
export interface NodePool {
  readonly name: string | null;
  /** Labels that all its nodes have. */
  readonly labels: Table<string>;
  /** In the config null says that those of all GPU nodes count. */
  readonly taints: readonly NodeTaint[] | null;
  /** Catalogue id. */
  readonly gpu?: string | null;
  /** Accelerators of one node. */
  readonly devices?: number | null;
  readonly instanceType?: string | null;
  readonly capacity?: SelectedCapacity | null;
  readonly zones?: readonly string[] | null;
  /** What all its nodes together may have of a resource. */
  readonly limits?: Table<number> | null;
  /** The provider's admission plugins tolerate the taint of a requested resource by themselves. */
  readonly toleratesRequested?: boolean;
  /** Only pods that select it land on it. */
  readonly chosen?: boolean;
  /** Part of it is templated, or taints may be added that are not seen. */
  readonly incomplete?: boolean;
}

/** A taint of nodes. */
export interface NodeTaint {
  readonly key: string;
  /** null: unknown. */
  readonly value: string | null;
  readonly effect: TaintEffect;
}

/** https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/ */
export const taintEffects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] as const;

export type TaintEffect = (typeof taintEffects)[number];

export function isTaintEffect(text: string | undefined): text is TaintEffect {
  return taintEffects.some((effect) => effect === text);
}
