import type { Cursor, Located } from '../../yaml/cursor.ts';
import type { CrossReferences, Referenced } from '../cross-references.ts';
import type { ImplicitDevices } from '../implicit-devices.ts';
import type { ModelOptions } from '../options.ts';
import type { Inherited } from '../referenced.ts';
import type { ReferencedContainer, ReferencedPods } from '../referenced-pods.ts';
import type { Container, FieldSharding, Placement, Retries, Role, Scaling, Selector, Volume } from '../workload.ts';
import type { PodHosts } from './pod-addresses.ts';

/** An entry in the table of kinds: what objects of these kinds run. */
export interface KindEntry {
  /** The API group without its version; empty for the core group. */
  readonly group: string;
  readonly kinds: readonly string[];
  /** The role, if the kind alone decides it. A `definition` runs nothing itself, so its pods are never counted. */
  readonly role?: Role;
  /** The likely role if neither the kind nor the containers decide it. */
  readonly likelyRole?: Role;
  /** The controller keeps the pods running, so a pod with a port is a server. */
  readonly staysUp?: true;
  /** The controller runs steps until the last one has ended, whatever they are. */
  readonly runsSteps?: true;
  /** For scalable kinds, what one of `spec.replicas` is: a pod or a group of pods. */
  readonly replica?: 'pod' | 'group';
  /** The kind has no scale subresource: no autoscaler can set its replicas. */
  readonly unscalable?: true;
  /** Other objects reference it, although no scaler sets its replicas: a runtime, a claim, a cluster. */
  readonly named?: true;
  /** The kind is cluster-scoped. */
  readonly cluster?: true;
  /**
   * Words in fields that request accelerators without a resource name, through other objects or sizes. Empty: the pods name everything that
   * they request. Missing: every object of the kind is related to accelerators.
   */
  readonly words?: readonly string[];
  /** A definition whose pods run as they are written, with other parameters: rules check it like what a use of it runs. */
  readonly runsAsWritten?: true;
  /** Objects are incomplete, but their `resources` are complete: no controller adds limits. */
  readonly wholeResources?: true;
  /** The pods that form one group, wait for each other and split the work: all of an object, or those of each pod set. */
  readonly gang?: 'object' | 'podSet';
  /** Several pods serve one model together, so its parallel sizes span pods. */
  readonly spansPods?: true;
  /** The same for kinds in which a field decides it. */
  readonly spansPodsIf?: (root: Cursor) => boolean;
  /** All machines run the same script, and nothing but its variables says which of them it runs on. */
  readonly sameScript?: true;
  /** Each pod knows only its index in its own pod set, and no variable of torchrun. The object ends when its pods have ended. */
  readonly tasks?: true;
  /** Names of pod sets: one that only waits, and what for, and one whose processes another pod starts. */
  readonly launcher?: Launcher;
  /** For kinds whose roles have a restartPolicy that replaces those of their pods: the default. */
  readonly roleRestarts?: string;
  /** The bounds within which an elastic job runs. */
  readonly elasticPolicy?: (root: Cursor) => Cursor | undefined;
  /** The field with the number of processes per pod that the operator passes to the launcher. */
  readonly processesPerPod?: (root: Cursor) => Cursor | undefined;
  /** The spec of the RayCluster that the object is or contains. */
  readonly rayCluster?: (root: Cursor) => Cursor | undefined;
  /** The spec of the Job that the object is or creates. */
  readonly job?: (root: Cursor) => Cursor | undefined;
  /** It creates such Jobs whenever there is work, so it does not end when they do. */
  readonly repeatsJobs?: true;
  /** The mappings with `minReplicas` and `maxReplicas`. */
  readonly bounds?: (root: Cursor) => readonly (Cursor | undefined)[];
  /** The operator requires a container of this name in each pod set. */
  readonly container?: string;
  /** The controller mounts memory at /dev/shm. */
  readonly mountsShm?: true;
  /** Lost pods do not lose progress: the others hold the state. */
  readonly keepsState?: true;
  /** For kinds whose objects name all storage of their machines: whether this one names any, or what may give access to some. */
  readonly keepsFiles?: (root: Cursor) => boolean;
  /** For these kinds: the directories whose files outlive the machine; null if others may. */
  readonly keptDirectories?: (root: Cursor) => readonly string[] | null;
  /** The hostnames of the pods of an object with a name, if the controller gives them any. */
  readonly addresses?: (root: Cursor, name: string) => readonly PodHosts[];
  /** Whether the controller copies the object's annotations to its pods. Missing: unknown. */
  readonly passesAnnotations?: boolean;
  readonly lower: (object: KindInput) => KindLowering;
}

export interface Launcher {
  /** The name of the pod set that starts the others and waits for them. */
  readonly waits: string;
  readonly words: readonly [name: string, task: string];
  /** Whether the launcher also computes. */
  readonly works: (root: Cursor) => boolean;
  /** The name of the pod set in which the launcher starts processes: their containers only wait for it. */
  readonly driven?: string;
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
  /** The role, if the object's fields decide it instead of its kind. */
  readonly role?: Role;
  readonly podSets: readonly PodSetSource[];
  readonly retries: Retries | null;
  readonly scaling: Scaling | null;
  /** A required field is missing (the object is a patch), or another object adds to this one. */
  readonly partial: boolean;
}

/** The location and the number of one set of pods. */
export interface PodSetSource {
  readonly name: string;
  /** The mapping with the pod's fields. */
  readonly pod: Cursor;
  readonly metadata: Cursor | undefined;
  /** The metadata of the object that a controller makes in between: the Job of a CronJob. */
  readonly madeMetadata?: Cursor;
  readonly replicas: Cursor | undefined;
  readonly pods: PodCount;
  /** For kinds that set the restartPolicy of a pod outside it. */
  readonly restartPolicy?: Cursor;
  /** For kinds with containers outside `containers`. */
  readonly containers?: readonly Container[];
  /** For kinds that set a pod's devices outside its containers; replaces the containers' requests. */
  readonly implicitDevices?: readonly ImplicitDevices[];
  /** For kinds that create device claims in addition to the pod's own. */
  readonly claimed?: readonly ImplicitDevices[];
  /** For kinds that reference claims outside the pod's `resourceClaims`. */
  readonly claims?: readonly Cursor[];
  /** For values with volumes in a form of their own, in addition to the pod's. */
  readonly volumes?: readonly Volume[];
  /** For kinds that name the instance type outside the pod. */
  readonly instanceType?: Located<string>;
  /** For kinds whose fields describe the nodes in other words than labels. */
  readonly placement?: Partial<Placement>;
  /** For values that name the node labels under another key than `nodeSelector`. */
  readonly nodeSelector?: Cursor;
  /** The same for the terms of required node affinity. */
  readonly nodeSelectorTerms?: Cursor;
  /** For values of which a template makes terms of node affinity. */
  readonly selectors?: readonly Selector[];
  /** For kinds with tolerations outside the pod: the mapping that has them. */
  readonly tolerated?: Cursor;
  /** For kinds that reference another object, which supplies what this one omits. */
  readonly inheritedPods?: InheritedPods;
  /** For kinds that set the CPUs and memory of a container outside its `resources`. */
  readonly needing?: readonly ReferencedContainer[];
  /** The facts that another object states. */
  readonly inherited?: readonly Inherited[];
  /** For kinds that pass parallel sizes to the server. */
  readonly sharding?: FieldSharding | undefined;
}

export interface InheritedPods {
  /** The reference to the other object. */
  readonly at: Cursor;
  readonly from: Referenced<unknown>;
  /** The first pod of the group, or the others. */
  readonly pods: ReferencedPods;
}

/** Pods at steady state, from minimum to maximum; null if unknown. */
export interface PodCount {
  readonly min: number | null;
  readonly max: number | null;
  /** The stages of the workload in which they run; missing: in all. Pods of different stages never run at once. */
  readonly stages?: readonly string[];
  /** The pods of all sets that run at once, at most, and those of this set that always do. */
  readonly together?: { readonly most: number; readonly always: number };
}
