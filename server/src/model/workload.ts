import type { AcceleratorForm } from '../catalog/index.ts';
import type { Cursor, Located } from '../yaml/cursor.ts';
import type { YamlDocument } from '../yaml/node.ts';
import type { Inherited, Referenced, ScalerFacts } from './referenced.ts';
import type { RequestedResource } from './requested-resource.ts';

/** One Kubernetes object: a YAML document, or an item of a `kind: List`. */
export interface Manifest {
  readonly document: YamlDocument;
  readonly root: Cursor;
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string | null;
  readonly namespace: string | null;
  readonly labels: readonly Located<string>[];
  readonly annotations: readonly Located<string>[];
}

export type Role = 'serving' | 'training' | 'batch' | 'interactive' | 'infrastructure' | 'definition' | 'unknown';
/** `certain`: the kind or the program says it. `likely`: an image, a launcher or a script's name does. `guess`: only ports or probes do, or nothing does. */
export type Confidence = 'certain' | 'likely' | 'guess';
export type Capacity = 'spot' | 'on-demand' | 'reserved' | 'flex' | 'unknown';

/** What one object will run. */
export interface Workload {
  readonly manifest: Manifest;
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string | null;
  readonly namespace: string | null;
  readonly role: Role;
  readonly roleConfidence: Confidence;
  /** What tells the role, in words: `kind InferenceService`, `vllm`, `port 8080`; null where nothing does. */
  readonly roleFrom: string | null;
  readonly podSets: readonly PodSet[];
  /** Only part of the object is here (a kustomize patch, a definition, a template): what is not said may be said elsewhere. */
  readonly partial: boolean;
  /** The kind is not known: what looks like a pod template in it was read as one, and what its controller makes of it is a guess. */
  readonly byShape: boolean;
  /** How failed pods come back; null where the object does not say and the kind has no default. */
  readonly retries: Retries | null;
  readonly scaling: Scaling | null;
  /** Of a definition whose pods something else counts (Helm values): the same with one pod of each, for what a replica costs. */
  readonly replica?: Workload;
  /** Another file that says what this one leaves open: `values.yaml`. */
  readonly readWith?: string;
  /** Another object that sets the number of pods. */
  readonly scaledBy: Referenced<ScalerFacts> | null;
}

/** Pods made from one template. Kueue's word. */
export interface PodSet {
  /** The role's name in the kind: Worker, head, predictor ... */
  readonly name: string;
  /** Pods at steady state: floor and ceiling; null where templated or unknown. */
  readonly pods: { readonly min: number | null; readonly max: number | null };
  /** Where the number of pods is written, if it is. */
  readonly replicas: Cursor | undefined;
  /** The mapping with the pod's fields (containers, nodeSelector, tolerations ...). */
  readonly pod: Cursor;
  readonly labels: readonly Located<string>[];
  readonly annotations: readonly Located<string>[];
  readonly containers: readonly Container[];
  /** What one pod takes: the larger of any init container and the sum of app containers and native sidecars, per resource. */
  readonly accelerators: readonly PodAccelerator[];
  readonly selectors: readonly Selector[];
  /** Labels with the values that their nodes must not have. */
  readonly avoided: readonly Selector[];
  readonly tolerations: readonly Toleration[];
  readonly volumes: readonly Volume[];
  readonly restartPolicy: Located<string> | undefined;
  readonly placement: Placement;
  /** What of it other objects say. */
  readonly inherited: readonly Inherited[];
}

export interface Container {
  readonly type: 'init' | 'sidecar' | 'app';
  readonly name: string;
  /** The container's mapping; for KServe's `model:` the mapping that stands for it. */
  readonly at: Cursor;
  readonly image: Located<string> | undefined;
  readonly command: readonly Located<string>[];
  readonly args: readonly Located<string>[];
  readonly env: readonly { readonly name: string; readonly value: Located<string> | undefined; readonly at: Cursor }[];
  /** `resources:`, where it is written. */
  readonly resources: Cursor | undefined;
  readonly accelerators: readonly AcceleratorRequest[];
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string; readonly at: Cursor }[];
  /** Shell scripts of ConfigMaps that the command runs. */
  readonly scripts: readonly MountedScript[];
}

export interface MountedScript {
  readonly path: string;
  readonly text: string;
  /** Where the command names it. */
  readonly at: Cursor;
}

export type { AcceleratorForm };

/** One accelerator resource name in a container's `resources`, with what its limits and requests say. */
export interface AcceleratorRequest {
  readonly resource: string;
  readonly form: AcceleratorForm;
  readonly limit: Quantity | undefined;
  readonly request: Quantity | undefined;
  /** The count that will be used: the limit, else the request; null where templated, empty or not a whole number. */
  readonly count: number | null;
}

/** A resource quantity as written. */
export interface Quantity {
  readonly at: Cursor;
  readonly text: string;
  /** null where the text is templated, empty or no quantity. */
  readonly value: number | null;
  readonly templated: boolean;
  readonly empty: boolean;
}

export interface PodAccelerator {
  /** Where it is asked for, if that is no container's `resources`. */
  readonly at: Cursor | undefined;
  readonly requested: RequestedResource;
  readonly form: AcceleratorForm;
  /** As written, per pod; null where templated. */
  readonly perPod: number | null;
  /** Devices of the hardware that this takes, per pod (MIG: the profile's share of a card); null where unknown. */
  readonly devices: number | null;
  readonly model: string | null;
  /** All models that fit what is told, when there is more than one. */
  readonly candidates: readonly string[];
  readonly modelFrom: ModelFrom | null;
}

export type ModelFrom =
  | 'nodeSelector'
  | 'affinity'
  | 'instance-type'
  | 'resource-name'
  | 'annotation'
  | 'device-class'
  | 'node-pool'
  | 'config';

/** One node label that the pods need: from nodeSelector or from required node affinity with `In`. */
export interface Selector {
  readonly key: string;
  /** One value, or the alternatives of an `In`. */
  readonly values: readonly Located<string>[];
  readonly from: 'nodeSelector' | 'affinity';
  readonly at: Cursor;
}

export interface Toleration {
  readonly at: Cursor;
  readonly key: Located<string> | undefined;
  readonly operator: Located<string> | undefined;
  readonly value: Located<string> | undefined;
  readonly effect: Located<string> | undefined;
  readonly tolerationSeconds: Cursor | undefined;
}

export interface Volume {
  readonly name: string;
  /** The volume source's key: emptyDir, persistentVolumeClaim, hostPath, csi, nfs, configMap, secret, ephemeral ... */
  readonly source: string;
  readonly at: Cursor;
}

/** Where the pods run, as far as the object and the config say. */
export interface Placement {
  readonly capacity: Capacity;
  /** What says so: a selector, a toleration, the config. */
  readonly capacityAt: Cursor | undefined;
  readonly provider: string | null;
  readonly region: string | null;
  readonly instanceType: string | null;
  /** How many accelerators the selected nodes have, or the alternatives; empty where it is not told. */
  readonly nodeGpus: readonly number[];
  /** The pool of the project's nodes that the selectors lead to, by its name. */
  readonly nodePool: string | null;
  readonly providerFrom: 'nodeSelector' | 'affinity' | 'instance-type' | 'config' | null;
}

/** What brings failed pods back. */
export interface Retries {
  /** Restarts the kind grants; Infinity where nothing bounds them. */
  readonly limit: number;
  readonly at: Cursor | undefined;
}

/** What changes the number of pods. */
export interface Scaling {
  readonly mechanism: 'knative' | 'keda' | 'hpa' | 'none' | 'unknown';
  /** The mode that the object's annotations, or the config, or the kind's default name. */
  readonly mechanismFrom: 'annotation' | 'config' | 'default';
  readonly min: Cursor | undefined;
  readonly max: Cursor | undefined;
  /** The mapping in which the floor belongs, and its key there. */
  readonly owner: Cursor;
  readonly minKey: string;
  /** The floor in force, with the kind's default applied; null where templated. */
  readonly floor: number | null;
  readonly canReachZero: boolean;
}
