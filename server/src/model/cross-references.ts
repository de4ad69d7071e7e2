import type { NamedModel } from '../catalog/index.ts';
import type { Cursor } from '../yaml/cursor.ts';
import type { Table } from '../yaml/table.ts';
import type { CloudSign } from './cloud-sign.ts';
import type { DataKeys } from './data-keys.ts';
import type { NodePool, NodeTaint, Tolerated } from './node-pool.ts';
import type { NodeTerm } from './node-terms.ts';
import type {
  BudgetFacts,
  Demand,
  LimitFacts,
  QuotaFacts,
  Referenced,
  RuntimeClassFacts,
  ScalerFacts,
  ServiceFacts,
  VolumeClaimFacts,
} from './referenced.ts';
import type { Manifest } from './workload.ts';

export type { BudgetFacts, Demand, Referenced, ScalerFacts, ServiceFacts, VolumeClaimFacts } from './referenced.ts';

import type { LlmConfigFacts, PodsFacts, ReferencedDevice, StepFacts, TrainingFacts } from './referenced-pods.ts';
import type { WorkloadFacts } from './workload-facts.ts';

// What an object takes from other objects. The records have no positions, so that they can be compared by value: an answer stays current as
// long as the facts in the other document are the same, wherever they move.

/**
 * Looks up what an object references. Answers are undefined or empty if there is no such object or if the reference is ambiguous. Functions that
 * take it call its methods on it (`crossReferences.claim(…)`), because all documents share them.
 */
export interface CrossReferences {
  /** A ServingRuntime in the namespace, else a ClusterServingRuntime: the order of KServe. */
  servingRuntime(namespace: string | null, name: string): Referenced<PodsFacts> | undefined;
  /** What OpenShift AI adds to the pods of an object that names a HardwareProfile. */
  hardwareProfile(namespace: string | null, name: string): Referenced<PodsFacts> | undefined;
  /** A config that an LLMInferenceService names: in its namespace, else in KServe's own. */
  llmConfig(namespace: string | null, name: string): Referenced<LlmConfigFacts> | undefined;
  trainingRuntime(
    kind: 'TrainingRuntime' | 'ClusterTrainingRuntime',
    namespace: string | null,
    name: string,
  ): Referenced<TrainingFacts> | undefined;
  /** What a WorkflowTemplate, Task or Pipeline runs. @param kind with its group */
  steps(kind: string, namespace: string | null, name: string): Referenced<StepFacts> | undefined;
  claim(
    kind: 'ResourceClaim' | 'ResourceClaimTemplate',
    namespace: string | null,
    name: string,
  ): Referenced<readonly ReferencedDevice[]> | undefined;
  /** The number of references to a ResourceClaim in all files, among which its devices are divided. */
  claimUsers(namespace: string | null, name: string): number;
  /** The files in a ConfigMap, if they are small. */
  configMap(namespace: string | null, name: string): Referenced<Table<string>> | undefined;
  /** The keys of a Secret or a ConfigMap in the same file; undefined if unknown. */
  keysOf(kind: 'Secret' | 'ConfigMap', namespace: string | null, name: string): DataKeys | undefined;
  /**
   * The ScaledObjects, HorizontalPodAutoscalers and other scalers with a target.
   * @param group the target's API group; null if unknown. Scalers that name no group match any.
   */
  scalersOf(
    group: string | null,
    kind: string,
    namespace: string | null,
    name: string,
  ): readonly Referenced<ScalerFacts>[];
  /** The name of another HorizontalPodAutoscaler of the same file with this target. */
  otherAutoscaler(kind: string, namespace: string | null, target: string, own: string): string | undefined;
  /** Whether a NetworkPolicy in a namespace may let pods with these labels ask a name server. */
  resolvesNames(namespace: string | null, labels: Table<string>): boolean;
  /** Whether the network policies of a namespace, or of a network plugin, may decide who reaches its pods. */
  limitsClients(namespace: string | null): boolean;
  /** The PodDisruptionBudgets in a namespace that select pods with these labels. */
  budgetsOf(namespace: string | null, labels: Table<string>): readonly Referenced<BudgetFacts>[];
  /** The Deployments and StatefulSets in a namespace whose pods have these labels. */
  keptRunning(namespace: string | null, labels: Table<string>): readonly Referenced<WorkloadFacts>[];
  /** What a scaler's target runs. A Deployment that KServe creates is found through its InferenceService. */
  workload(kind: string, namespace: string | null, name: string): Referenced<WorkloadFacts> | undefined;
  /** The ClusterQueue behind a LocalQueue. */
  clusterQueueOf(namespace: string | null, localQueue: string): Referenced<QueueFacts> | undefined;
  /** The most of each resource that a queue of Volcano or KAI lets run at once. */
  queueCapacity(group: string, name: string): Referenced<Table<number>> | undefined;
  /** The number of pods that name a PodGroup; null if the project has none or their number is unknown. */
  gangPods(namespace: string | null, group: string): number | null;
  /** The keys of the only ConfigMap of a name, if it is in the same file, in any namespace. */
  keysInFile(name: string): DataKeys | undefined;
  /** The resources that a LimitRange gives to every container of a namespace. */
  defaultsIn(namespace: string | null): readonly string[];
  /** The LimitRanges of a namespace that bound resources. */
  limitsIn(namespace: string | null): readonly Referenced<LimitFacts>[];
  /** The ResourceQuotas of a namespace that apply to all its pods. */
  quotasIn(namespace: string | null): readonly Referenced<QuotaFacts>[];
  /** The workloads of a namespace in the same file that always request a resource, in the order of the file. */
  demandsOf(namespace: string | null, resource: string): readonly Demand[];
  /** The comments in the same file that name cards, in documents that run no pods. */
  fileHeader(): readonly string[];
  volumeClaim(namespace: string | null, name: string, of?: string): Referenced<VolumeClaimFacts> | undefined;
  /** A PersistentVolume with its capacity. */
  volume(name: string): Referenced<VolumeClaimFacts> | undefined;
  runtimeClass(name: string): Referenced<RuntimeClassFacts> | undefined;
  /** The Services of a namespace that select pods with these labels. */
  servicesOf(namespace: string | null, labels: Table<string>): readonly Referenced<ServiceFacts>[];
  /** The Services that have these labels; none in a namespace of very many. */
  servicesLabeled(namespace: string | null, labels: Table<string>): readonly Referenced<ServiceFacts>[];
  /** A Service of the core API. */
  service(namespace: string | null, name: string): Referenced<ServiceFacts> | undefined;
  /** The Services of the same file and namespace with almost this name: misspelled, or with another word for a Service. */
  servicesLike(namespace: string | null, name: string): readonly Referenced<ServiceFacts>[];
  /** The only Service of a name, if it is in the same file, but in another namespace. */
  serviceElsewhere(namespace: string | null, name: string): StrayService | undefined;
  /** The name of the only Service, or of the only workload whose pods have these labels, if it is in the same file, but in another namespace. */
  labeledElsewhere(
    what: 'service' | 'workload',
    namespace: string | null,
    labels: Table<string>,
  ): InNamespace<string> | undefined;
  /** The cloud that reads the annotations of a ServiceAccount; null if none does. */
  accountCloud(namespace: string | null, name: string): string | null;
  /** The model by the config.json in a folder of the workspace with its name, or with the end of its path. */
  modelConfig(name: string): NamedModel | undefined;
  /** Whether an object without what its kind requires may be a patch: the project has kustomizations or installers, or the file's path says so. */
  mayBePatch(): boolean;
  /** References of an object to names that do not exist and are certainly misspelled. */
  dangling(manifest: Manifest): readonly Dangling[];
  /** Whether any file may describe pools: without one, nothing lands anywhere. */
  knowsPools(): boolean;
  /**
   * The pools of GPU nodes on which a pod can land: those whose own label it requires, or all if it is free. Undefined if one is incomplete.
   * @param tolerated excludes pools with other taints, unless all have some; undefined: unknown
   */
  landingOf(required: readonly RequiredLabel[], isFree: boolean, tolerated?: readonly Tolerated[]): Landing | undefined;
  /**
   * The pools whose nodes meet what a pod says about machines, cards and places, by its node terms, if they are near as for a free pod.
   * @param cards how many whole cards the pod requests
   * @param tolerated excludes pools with other taints; undefined: unknown
   */
  poolsFor(terms: readonly NodeTerm[], cards: number, tolerated?: readonly Tolerated[]): Landing | undefined;
  /** The cloud of all pools with accelerators in the project, wherever they are defined; undefined if they are of several, or unknown. */
  cloudOfPools(): CloudSign | undefined;
  /**
   * The config of the device plugin on nodes with this value of nvidia.com/device-plugin.config; null: nodes without the label.
   * @param isShared only nodes that share their GPUs have the requested resource
   */
  deviceSharing(config: string | null, isShared: boolean): Referenced<DeviceSharing> | undefined;
  /**
   * The pools of the connected cluster that offer the requested resources and have the labels. Undefined without a connection, without such a pool
   * and while the nodes are not known.
   */
  livePools(wanted: PodWants): LivePools | undefined;
  /** What the nodes of the connected cluster offer; undefined without a connection and while not all nodes are known. */
  liveOffers(): LiveOffers | undefined;
  /** The values of a label on the nodes with accelerators of the connected cluster; undefined as above. */
  liveValues(key: string): LiveValues | undefined;
  /** Whether a kustomization that includes the file adds accelerators to an object of it. */
  overlaysAddAccelerators(group: string, kind: string, name: string): boolean;
  /** Whether a kustomization that includes the file, or its folder, sets the tag or the digest of an image. */
  overlaysSetImage(name: string): boolean;
  /** The nodes that the queue of a workload chooses from: the labels of the ResourceFlavors behind a LocalQueue. */
  flavorsOf(namespace: string | null, localQueue: string): readonly FlavorFacts[];
}

/** A config of the device plugin. */
export interface DeviceSharing {
  readonly config: string;
  /** Pods per GPU. */
  readonly replicas: number;
  /** Pods per slice, by resource. */
  readonly slices?: readonly { readonly resource: string; readonly pods: number }[];
  /** Nodes without the label have it, whatever its name is. */
  readonly isDefault?: true;
  /** The operator takes the config from this ConfigMap, which says how many pods share a GPU. */
  readonly configMap?: string;
}

/** A ResourceFlavor of a queue. */
export interface FlavorFacts {
  readonly name: string;
  /** The labels of its nodes; null if no file defines the flavor. */
  readonly labels: Table<string> | null;
  /** The taints of its nodes that it does not tolerate for its pods. */
  readonly taints: readonly NodeTaint[];
  /** The queue has a quota of devices in it. */
  readonly hasDevices: boolean;
}

/** A node label that a pod requires, with the allowed values. */
export interface RequiredLabel {
  readonly key: string;
  readonly values: readonly string[];
}

/** What a pod needs of nodes, as plain values. */
export interface PodWants {
  readonly labels: readonly RequiredLabel[];
  /** Accelerator resources, of which a pool must offer all. */
  readonly resources: readonly string[];
}

/** The connected cluster. */
export interface LiveCluster {
  /** The name of its context. */
  readonly cluster: string;
  /** When the facts were read, in milliseconds since the epoch. Facts that are the same later keep the time. */
  readonly asOf: number;
}

/** The node pools of the connected cluster. */
export interface LivePools extends LiveCluster {
  readonly pools: readonly NodePool[];
  /** Capacity of the largest node for the first resource; null if no resource is requested. */
  readonly largest: number | null;
  /** An autoscaler can add nodes, which may differ. */
  readonly canGrow: boolean;
}

/** What the nodes of the connected cluster offer. */
export interface LiveOffers extends LiveCluster {
  /** Accelerator resources, sorted. */
  readonly resources: readonly string[];
  /** Names of DeviceClasses; null if they are not known. */
  readonly deviceClasses: readonly string[] | null;
}

/** The values that the nodes of the connected cluster have for a label. */
export interface LiveValues extends LiveCluster {
  readonly values: readonly string[];
}

/** The node pools on which a pod must run. */
export interface Landing {
  readonly first: Referenced<null>;
  /** The number of pools besides the first. */
  readonly others: number;
  /** The taints common to all of them. */
  readonly taints: readonly NodeTaint[];
  /** The provider of one of them adds the toleration for a requested resource. */
  readonly toleratesRequested: boolean;
  /** One of them is in a sibling of the referencing file's folder, or of a folder above it. */
  readonly siblingFolder: boolean;
  /** The pod selects none of them: they are all that the project has, in a folder for its nodes. */
  readonly isElsewhere?: true;
  /** Catalog ids of the GPUs that they have; empty if those of one are unknown. */
  readonly gpus: readonly string[];
  /** The nodes that they add; empty if those of one are unknown. */
  readonly terms: readonly NodeTerm[];
  /** Those that the limits of the pools leave; empty like `terms`. */
  readonly startable: readonly NodeTerm[];
  /** The cards and nodes are those of the nearest pools, or a patch may change them. */
  readonly isPart?: boolean;
  /** How many GPUs all of them may have at once; null: unknown. */
  readonly most: number | null;
}

/** A name without an object, and the objects that it may mean. */
export interface Dangling {
  /** The name in the referencing object. */
  readonly at: Cursor;
  readonly name: string;
  /** The intended object; several if they are equally near. */
  readonly near: readonly Referenced<null>[];
  /** The namespace of the object of this name in the same file, if it is not the one in which the reference looks. */
  readonly elsewhere: string | null;
}

/** A fact about an object outside the namespace in which it was looked for; null if it names none. */
export interface InNamespace<T> {
  readonly namespace: string | null;
  readonly facts: T;
}

/** What a ClusterQueue offers. */
export interface QueueFacts {
  /** null if a template may add more. */
  readonly resources: readonly string[] | null;
  /** The names of its flavors, in order. */
  readonly flavors: readonly string[];
  /** Those with a quota of devices. */
  readonly deviceFlavors: readonly string[];
  /** The largest quota of one flavor, by resource; empty if the queue may borrow from others. */
  readonly largest: Table<number>;
}

/** A Service in another namespace, with its selector. */
export interface StrayService extends InNamespace<Table<string>> {
  /** The file has a workload of its name, other than in the namespace from which the lookup starts: it may have these pods. */
  readonly hasWorkload: boolean;
}

/** The same cross-references with other answers to some questions. */
export function withAnswers(all: CrossReferences, own: Partial<CrossReferences>): CrossReferences {
  return Object.assign(Object.create(all), own);
}

/** The cross-references of a document without others. */
export const noCrossReferences: CrossReferences = {
  servingRuntime: () => undefined,
  hardwareProfile: () => undefined,
  llmConfig: () => undefined,
  trainingRuntime: () => undefined,
  steps: () => undefined,
  claim: () => undefined,
  claimUsers: () => 0,
  configMap: () => undefined,
  keysOf: () => undefined,
  scalersOf: () => [],
  otherAutoscaler: () => undefined,
  resolvesNames: () => false,
  limitsClients: () => true,
  budgetsOf: () => [],
  keptRunning: () => [],
  workload: () => undefined,
  clusterQueueOf: () => undefined,
  queueCapacity: () => undefined,
  gangPods: () => null,
  keysInFile: () => undefined,
  defaultsIn: () => [],
  limitsIn: () => [],
  quotasIn: () => [],
  demandsOf: () => [],
  fileHeader: () => [],
  volumeClaim: () => undefined,
  volume: () => undefined,
  runtimeClass: () => undefined,
  servicesOf: () => [],
  servicesLabeled: () => [],
  service: () => undefined,
  servicesLike: () => [],
  serviceElsewhere: () => undefined,
  labeledElsewhere: () => undefined,
  accountCloud: () => null,
  modelConfig: () => undefined,
  mayBePatch: () => true,
  dangling: () => [],
  knowsPools: () => false,
  landingOf: () => undefined,
  poolsFor: () => undefined,
  cloudOfPools: () => undefined,
  livePools: () => undefined,
  liveOffers: () => undefined,
  liveValues: () => undefined,
  flavorsOf: () => [],
  deviceSharing: () => undefined,
  overlaysAddAccelerators: () => false,
  overlaysSetImage: () => false,
};
