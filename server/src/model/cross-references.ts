import type { Cursor } from '../yaml/cursor.ts';
import type { Table } from '../yaml/table.ts';
import type { NodeTaint } from './node-pool.ts';
import type { Referenced, ScalerFacts } from './referenced.ts';
import type { RequestedResource } from './requested-resource.ts';
import type { AcceleratorForm, Manifest } from './workload.ts';

export type { Referenced, ScalerFacts } from './referenced.ts';

// What other objects say that one object rests on. Plain records without places, so that they can be compared by value: what was read
// of another document is good as long as it says the same, wherever it moves.

/** How an object finds what it names. All answers are undefined or empty where nothing is seen, or where it is not clear what is meant. */
export interface CrossReferences {
  /** A ServingRuntime of the namespace, else a ClusterServingRuntime: in KServe's order. */
  servingRuntime(namespace: string | null, name: string): Referenced<PodsFacts> | undefined;
  /** A config that an LLMInferenceService names: of its namespace, else of KServe's own. */
  llmConfig(namespace: string | null, name: string): Referenced<LlmConfigFacts> | undefined;
  trainingRuntime(
    kind: 'TrainingRuntime' | 'ClusterTrainingRuntime',
    namespace: string | null,
    name: string,
  ): Referenced<TrainingFacts> | undefined;
  claim(
    kind: 'ResourceClaim' | 'ResourceClaimTemplate',
    namespace: string | null,
    name: string,
  ): Referenced<readonly ReferencedDevice[]> | undefined;
  /** How many places in all files name a ResourceClaim, so that its devices are counted once. */
  claimUsers(namespace: string | null, name: string): number;
  /** The files of a ConfigMap, where they are small. */
  configMap(namespace: string | null, name: string): Referenced<Table<string>> | undefined;
  /** ScaledObjects, HorizontalPodAutoscalers and others of their like that name a target. */
  scalersOf(kind: string, namespace: string | null, name: string): readonly Referenced<ScalerFacts>[];
  /** The PodDisruptionBudgets of a namespace that select pods with these labels. */
  budgetsOf(namespace: string | null, labels: Table<string>): readonly Referenced<BudgetFacts>[];
  /** What a scaler's target runs; what KServe makes of an InferenceService is found by that. */
  workload(kind: string, namespace: string | null, name: string): Referenced<WorkloadFacts> | undefined;
  /** The ClusterQueue behind a LocalQueue. */
  clusterQueueOf(namespace: string | null, localQueue: string): Referenced<QueueFacts> | undefined;
  /** What an object names that nothing is called, where something else surely was meant. */
  dangling(manifest: Manifest): readonly Dangling[];
  /**
   * The described pools of GPU nodes on which a pod lands, if on any: those whose own label it selects; where it is free to go anywhere, all.
   * Undefined where there are none, or where one of them is not known well.
   */
  landingOf(required: readonly RequiredLabel[], isFree: boolean): Landing | undefined;
}

/** A node label that a pod selects, with its alternatives. */
export interface RequiredLabel {
  readonly key: string;
  readonly values: readonly string[];
}

export interface Landing {
  readonly first: Referenced<null>;
  /** How many pools there are besides the first. */
  readonly others: number;
  /** The taints that all of them have. */
  readonly taints: readonly NodeTaint[];
  /** The provider of one of them tolerates the taint of a requested resource by itself. */
  readonly toleratesRequested: boolean;
  /** One of them stands in a folder beside that of the file that asks, or of one above. */
  readonly siblingFolder: boolean;
}

export interface Dangling {
  /** The name, in the object that was asked about. */
  readonly at: Cursor;
  readonly name: string;
  /** What was meant: several where they are equally near. */
  readonly near: readonly Referenced<null>[];
}

/** What the containers of a pod ask for, and where the pod may run. */
export interface PodsFacts {
  readonly containers: readonly ReferencedContainer[];
  readonly selectors: readonly ReferencedSelector[];
  /** The pods beside the first in a group, where there are any. */
  readonly worker: WorkerFacts | null;
}

/** The workers of a runtime on several nodes; null where a template says a size. */
export interface WorkerFacts extends PodsFacts {
  /** Stages of the pipeline. */
  readonly pipeline: number | null;
  /** GPUs of a stage. */
  readonly tensor: number | null;
}

export interface ReferencedContainer {
  readonly type: 'init' | 'sidecar' | 'app';
  readonly name: string;
  readonly accelerators: readonly ReferencedRequest[];
}

export interface ReferencedRequest {
  readonly resource: string;
  readonly form: AcceleratorForm;
  readonly count: number | null;
}

export interface ReferencedSelector {
  readonly key: string;
  readonly values: readonly string[];
}

/** What an LLMInferenceServiceConfig says of the two roles; null where it does not speak of one. */
export interface LlmConfigFacts {
  readonly decode: LlmRoleFacts | null;
  readonly prefill: LlmRoleFacts | null;
}

/** null: it does not say it. */
export interface LlmRoleFacts {
  readonly template: ReferencedPods | null;
  readonly worker: ReferencedPods | null;
  /** Bounds of the replicas; null in them: a template says it. */
  readonly replicas: { readonly min: number | null; readonly max: number | null } | null;
  readonly data: WrittenNumber | null;
  readonly dataLocal: WrittenNumber | null;
  readonly pipeline: WrittenNumber | null;
}

/** A number as written; null: templated. */
export interface WrittenNumber {
  readonly value: number | null;
}

export type ReferencedPods = Pick<PodsFacts, 'containers' | 'selectors'>;

export interface TrainingFacts extends PodsFacts {
  /** `mlPolicy.numNodes`; null where a template will say it. */
  readonly numNodes: number | null;
}

/** As GivenAccelerator, without its place and with the models by id. */
export interface ReferencedDevice {
  readonly requested: RequestedResource;
  readonly form: AcceleratorForm;
  readonly vendor: string | null;
  readonly perPod: number | null;
  readonly each: number | null;
  readonly profile: string | null;
  readonly models: readonly string[];
}

/** As written: a number or a share. */
export interface BudgetFacts {
  readonly minAvailable: string | null;
  readonly maxUnavailable: string | null;
  /** The labels that pods need; null where it is not a plain list of them. */
  readonly selects: Table<string> | null;
}

export interface WorkloadFacts {
  readonly role: string;
  /** Devices that one replica holds; null where that is not known. 0: none. */
  readonly devices: number | null;
  /** US dollars an hour for one replica without traffic; null where no price is known. */
  readonly hourly: number | null;
  /** The same as a range over what may be met; null where no price is known. */
  readonly price: { readonly min: number; readonly max: number } | null;
  readonly latencyCritical: boolean;
}

export interface QueueFacts {
  /** null where a template may add to them. */
  readonly resources: readonly string[] | null;
}

/** A document that stands alone. */
export const noCrossReferences: CrossReferences = {
  servingRuntime: () => undefined,
  llmConfig: () => undefined,
  trainingRuntime: () => undefined,
  claim: () => undefined,
  claimUsers: () => 0,
  configMap: () => undefined,
  scalersOf: () => [],
  budgetsOf: () => [],
  workload: () => undefined,
  clusterQueueOf: () => undefined,
  dangling: () => [],
  landingOf: () => undefined,
};
