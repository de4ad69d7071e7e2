import type { Table } from '../yaml/table.ts';
import type { DeviceChoice, DeviceRange } from './device-choices.ts';
import type { Tolerated } from './node-pool.ts';
import type { NodeTerm } from './node-terms.ts';
import type { RequestedResource } from './requested-resource.ts';
import type { AcceleratorForm } from './workload.ts';

/** What the containers of a pod request, and where the pod may run. */
export interface PodsFacts {
  readonly containers: readonly ReferencedContainer[];
  readonly selectors: readonly ReferencedSelector[];
  /** The terms of required node affinity; missing: none. */
  readonly terms?: readonly NodeTerm[];
  /** What they tolerate; missing: nothing. */
  readonly tolerated?: readonly Tolerated[];
  /** The pods of a group after the first, if there are any. */
  readonly worker: WorkerFacts | null;
}

/** The workers of a multi-node runtime; null: a templated size. */
export interface WorkerFacts extends PodsFacts {
  /** Number of pipeline stages. */
  readonly pipeline: number | null;
  /** GPUs per stage. */
  readonly tensor: number | null;
}

/** The name of a container that stands for the first one of a pod, whatever its name. */
export const firstContainer = '';

/** A container, the accelerators that it requests, and what else it needs. */
export interface ReferencedContainer {
  readonly type: 'init' | 'sidecar' | 'app';
  readonly name: string;
  readonly accelerators: readonly ReferencedRequest[];
  readonly needs?: readonly ReferencedNeed[];
}

/** What a container requests of a resource, and its limit; null: not written or unknown. */
export interface ReferencedNeed {
  readonly resource: string;
  readonly request: number | null;
  readonly limit: number | null;
}

/** A request for accelerators; the count is null if it is templated. */
export interface ReferencedRequest {
  readonly resource: string;
  readonly form: AcceleratorForm;
  readonly count: number | null;
}

/** A node label that the pods require, with the allowed values. */
export interface ReferencedSelector {
  readonly key: string;
  readonly values: readonly string[];
}

/** Pods without workers. */
export type ReferencedPods = Pick<PodsFacts, 'containers' | 'selectors' | 'terms' | 'tolerated'>;

/** The two roles of an LLMInferenceServiceConfig; null if it does not configure one. */
export interface LlmConfigFacts {
  readonly decode: LlmRoleFacts | null;
  readonly prefill: LlmRoleFacts | null;
}

/** null: not configured. */
export interface LlmRoleFacts {
  readonly template: ReferencedPods | null;
  readonly worker: ReferencedPods | null;
  /** Bounds of the replicas; a null bound is templated. */
  readonly replicas: { readonly min: number | null; readonly max: number | null } | null;
  readonly data: WrittenNumber | null;
  readonly dataLocal: WrittenNumber | null;
  readonly pipeline: WrittenNumber | null;
}

/** A number as written; null: templated. */
export interface WrittenNumber {
  readonly value: number | null;
}

/** The nodes of a training runtime. */
export interface TrainingFacts extends PodsFacts {
  /** `mlPolicy.numNodes`; null if templated. */
  readonly numNodes: number | null;
}

/** The runs of a template of steps. */
export interface StepFacts {
  /** By the name of a template in the object; the empty name is what the object starts with. */
  readonly runs: Table<readonly StepRun[]>;
  /** The nodes that it selects for its templates. They apply if it is started as a whole. */
  readonly whole?: Pick<PodsFacts, 'selectors' | 'terms'>;
}

/** The pods of one template that run at once: at the busiest moment and at most. null: unknown. */
export interface StepRun extends ReferencedPods {
  readonly name: string;
  readonly min: number | null;
  readonly max: number | null;
  /** The stages in which they run; missing: in all. */
  readonly stages?: readonly string[];
}

/** ImplicitDevices without a position, and with model ids. */
export interface ReferencedDevice {
  readonly requested: RequestedResource;
  readonly form: AcceleratorForm;
  readonly vendor: string | null;
  readonly perPod: number | null;
  readonly each: number | null;
  readonly all: boolean;
  readonly between: DeviceRange | null;
  readonly choices: readonly DeviceChoice[] | null;
  readonly profile: string | null;
  readonly memoryMiB: number | null;
  readonly models: readonly string[];
}
