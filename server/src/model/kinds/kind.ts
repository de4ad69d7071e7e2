import type { Cursor, Located } from '../../yaml/cursor.ts';
import type { CrossReferences, PodsFacts, Referenced } from '../cross-references.ts';
import type { ImplicitDevices } from '../implicit-devices.ts';
import type { ModelOptions } from '../options.ts';
import type { Inherited } from '../referenced.ts';
import type { Container, Retries, Role, Scaling } from '../workload.ts';

/** One row of the kinds table: what an object of these kinds will run. */
export interface KindEntry {
  /** The API group without its version; empty for the core group. */
  readonly group: string;
  readonly kinds: readonly string[];
  /** Where the kind alone tells it. Nothing runs from a `definition` by itself, so its pods are never counted. */
  readonly role?: Role;
  /** What its objects are for where neither the kind nor their containers tell it. */
  readonly usualRole?: Role;
  /** Its pods are kept running, so one that answers on a port is a server. */
  readonly staysUp?: true;
  /** What one of `spec.replicas` is, for kinds whose replicas a scaler sets: one pod, or the pods of a group. */
  readonly replica?: 'pod' | 'group';
  /** Other objects name it although no scaler sets its replicas: as a runtime, a claim, a cluster. */
  readonly named?: true;
  /** It is in no namespace. */
  readonly cluster?: true;
  /**
   * Words of fields by which its objects take accelerators that no resource name shows: what another object says, or sizes alone. Empty: their pods
   * name all that they request. Left out: each of its objects bears on accelerators.
   */
  readonly words?: readonly string[];
  /** Its objects leave things out, but not of `resources`: nothing adds limits there. */
  readonly wholeResources?: true;
  readonly lower: (object: KindInput) => KindLowering;
}

export interface KindInput {
  readonly kind: string;
  readonly apiVersion: string;
  /** The object's root mapping. */
  readonly root: Cursor;
  readonly namespace: string | null;
  readonly annotations: readonly Located<string>[];
  readonly options: ModelOptions;
  readonly crossReferences: CrossReferences;
}

export interface KindLowering {
  /** Where the object's fields tell it, and its kind alone does not. */
  readonly role?: Role;
  readonly podSets: readonly PodSetSource[];
  readonly retries: Retries | null;
  readonly scaling: Scaling | null;
  /** A field without which the API server refuses the object is missing (it is a patch), or another object adds to this one. */
  readonly partial: boolean;
}

/** Where one set of pods is described, and how many there are of it. */
export interface PodSetSource {
  readonly name: string;
  /** The mapping with the pod's fields. */
  readonly pod: Cursor;
  readonly metadata: Cursor | undefined;
  readonly replicas: Cursor | undefined;
  readonly pods: PodCount;
  /** For kinds that describe containers in other places than `containers`. */
  readonly containers?: readonly Container[];
  /** For kinds that say what one pod takes in other places than its containers; it then stands for what these ask. */
  readonly implicitDevices?: readonly ImplicitDevices[];
  /** For kinds that make claims of devices, beside the pod's own. */
  readonly claimed?: readonly ImplicitDevices[];
  /** For kinds that name claims in other places than the pod's `resourceClaims`. */
  readonly claims?: readonly Cursor[];
  /** For kinds that name the instance type outside of the pod. */
  readonly instanceType?: Located<string>;
  /** For kinds that name another object, which says what this one leaves out. */
  readonly inheritedPods?: InheritedPods;
  /** What of it another object says. */
  readonly inherited?: readonly Inherited[];
}

export interface InheritedPods {
  /** Where the other object is named. */
  readonly at: Cursor;
  readonly from: Referenced<unknown>;
  /** Of the group's pods the first, or the others. */
  readonly pods: Pick<PodsFacts, 'containers' | 'selectors'>;
}

/** Pods at steady state, from floor to ceiling; null where that is not told. */
export interface PodCount {
  readonly min: number | null;
  readonly max: number | null;
}
