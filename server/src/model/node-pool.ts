import type { Provider, SelectedCapacity } from '../catalog/index.ts';
import type { Table } from '../yaml/table.ts';
import type { NodeTerm } from './node-terms.ts';

/**
 * A pool of nodes with accelerators, described in the config, by an autoscaler's object or by a cluster. Missing and null fields are unknown.
 */
export interface NodePool {
  readonly name: string | null;
  /** Labels of all its nodes. */
  readonly labels: Table<string>;
  /** In the config, null means the taints set for all GPU nodes. */
  readonly taints: readonly NodeTaint[] | null;
  /** Catalog id. */
  readonly gpu?: string | null;
  /** Catalog ids of the GPUs that its nodes may have; missing if one of them is unknown. */
  readonly gpus?: readonly string[];
  /** Accelerators per node. */
  readonly devices?: number | null;
  readonly instanceType?: string | null;
  readonly capacity?: SelectedCapacity | null;
  readonly zones?: readonly string[] | null;
  /** The nodes that it adds, by their labels: each meets one of the terms. */
  readonly terms?: readonly NodeTerm[];
  /** The object that describes its disks, by kind (with its group) and name. */
  readonly nodeClass?: { readonly kind: string; readonly name: string };
  /** The object that describes its machines, by kind (with its group) and name. Without that object, nothing is known of them. */
  readonly machines?: { readonly kind: string; readonly name: string };
  /** In the config: GiB of the disk on which its pods have their ephemeral storage. */
  readonly diskGiB?: number | null;
  /** The bounds of its number of nodes; null: unknown. */
  readonly size?: { readonly min: number | null; readonly max: number | null };
  /** Of its nodes, so many are on demand, and of the others this percentage; the rest is on spot. */
  readonly onDemandShare?: { readonly base: number; readonly percent: number };
  /** Limits on the resources of all its nodes together. */
  readonly limits?: Table<number> | null;
  /** The provider's admission plugins add the toleration for a requested resource. */
  readonly toleratesRequested?: boolean;
  /** No field states where it is, so its cluster or the provider does. */
  readonly placedBy?: Provider;
  /** Only pods that select the pool land on it. */
  readonly needsSelector?: boolean;
  /** A part is templated, or more taints may be added elsewhere. */
  readonly incomplete?: boolean;
}

/** A toleration as the scheduler reads it; empty texts are not set. */
export type Tolerated = Readonly<Record<'key' | 'operator' | 'value' | 'effect', string>>;

/** A node taint. */
export interface NodeTaint {
  readonly key: string;
  /** null: unknown. */
  readonly value: string | null;
  readonly effect: TaintEffect;
}

/** https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/ */
export const taintEffects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] as const;

export type TaintEffect = (typeof taintEffects)[number];

/** Whether the API server accepts it as the effect of a taint. */
export function isTaintEffect(text: string | undefined): text is TaintEffect {
  return taintEffects.some((effect) => effect === text);
}
