import type { Cursor, Located } from '../../yaml/cursor.ts';
import type { ModelOptions } from '../options.ts';
import type { Container, Retries, Role, Scaling } from '../workload.ts';

/** One row of the kinds table: what an object of these kinds will run. */
export interface KindEntry {
  /** The API group without its version; empty for the core group. */
  readonly group: string;
  readonly kinds: readonly string[];
  /** Where the kind alone tells it. */
  readonly role?: Role;
  readonly lower: (object: KindInput) => KindLowering;
}

export interface KindInput {
  readonly kind: string;
  /** The object's root mapping. */
  readonly root: Cursor;
  readonly annotations: readonly Located<string>[];
  readonly options: ModelOptions;
}

export interface KindLowering {
  readonly podSets: readonly PodSetSource[];
  readonly retries: Retries | null;
  readonly scaling: Scaling | null;
  /** A field without which the API server refuses the object is missing: it is a patch. */
  readonly partial: boolean;
}

/** Where one set of pods is described, and how many there are of it. */
export interface PodSetSource {
  readonly name: string;
  /** The mapping with the pod's fields. */
  readonly pod: Cursor;
  readonly metadata: Cursor | undefined;
  readonly replicas: Cursor | undefined;
  readonly pods: { readonly min: number | null; readonly max: number | null };
  /** For kinds that describe containers in other places than `containers`. */
  readonly containers?: readonly Container[];
}
