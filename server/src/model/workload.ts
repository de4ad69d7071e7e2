import type { AcceleratorForm, Vendor } from '../catalog/index.ts';
import type { Cursor, Located } from '../yaml/cursor.ts';
import type { YamlDocument } from '../yaml/node.ts';
import type { CloudSign } from './cloud-sign.ts';
import type { Container } from './container.ts';
import type { DeviceChoice, DeviceRange } from './device-choices.ts';
import type { PatchTarget } from './kustomize/kustomization.ts';
import type { StorageFit } from './node-disk.ts';
import type { NodeTerm } from './node-terms.ts';
import type { Inherited, Referenced, ScalerFacts } from './referenced.ts';
import type { RequestedResource } from './requested-resource.ts';

export type { AcceleratorRequest, ConfigVariable, Container, MountedScript, Quantity } from './container.ts';

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
  /** The labels of the object that wraps this one, such as that of its queue. */
  readonly outerLabels?: readonly Located<string>[];
  /** The object that wraps this one is suspended. */
  readonly isHeld?: true;
  /** Something else creates the object later (a workflow step, a script, a controller), any number of times. */
  readonly created?: 'later';
  /** The text is only a patch of the object. */
  readonly isPatch?: true;
  /** The objects that a kustomize patch changes, if it names others than its own. */
  readonly target?: PatchTarget;
}

export type Role = 'serving' | 'training' | 'batch' | 'interactive' | 'infrastructure' | 'definition' | 'unknown';
/** `certain`: by kind or program. `likely`: by image, launcher or script name. `guess`: only by ports or probes, or unknown. */
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
  /** The evidence for the role, in words: `kind InferenceService`, `vllm`, `port 8080`; null if there is none. */
  readonly roleFrom: string | null;
  readonly podSets: readonly PodSet[];
  /** Only a part of the object is here (a kustomize patch, a definition, a template): missing fields may be set elsewhere. */
  readonly partial: boolean;
  /** The kind is unknown: everything in it that looks like a pod template was read as one. */
  readonly byShape: boolean;
  /** How failed pods are restarted; null if the object does not set it and the kind has no default. */
  readonly retries: Retries | null;
  readonly scaling: Scaling | null;
  /** For a definition whose pods are counted elsewhere (Helm values): the workload with one pod per set, to price a replica. */
  readonly replica?: Workload;
  /** For such a definition: the workload that a release of the values runs, for totals. Without a written number, one replica or more. */
  readonly release?: Workload;
  /** For a definition whose pods run as they are written: the workload that a use of it runs, for rules. */
  readonly run?: Workload;
  /** The object is partial, but its `resources` are complete. */
  readonly wholeResources?: true;
  /** This is such a replica, one of the pods of a DaemonSet, or a run of a workflow's template. */
  readonly per?: 'replica' | 'node' | 'run';
  /** Another file that fills in values of this one: `values.yaml`. */
  readonly readWith?: string;
  /** Another object that sets the number of pods. */
  readonly scaledBy: Referenced<ScalerFacts> | null;
}

/** Pods from one template; the term is Kueue's. */
export interface PodSet {
  /** The role's name in the kind: Worker, head, predictor ... */
  readonly name: string;
  /** Pods at steady state: floor and ceiling; null if templated or unknown. */
  readonly pods: {
    readonly min: number | null;
    readonly max: number | null;
    /** Those in which they run, if not in all. */
    readonly stages?: readonly string[];
    /** The bound of all pod sets together, and those of this one that are always among them. */
    readonly together?: { readonly most: number; readonly always: number };
  };
  /** The location of the number of pods, if it is written. */
  readonly replicas: Cursor | undefined;
  /** The mapping with the pod's fields (containers, nodeSelector, tolerations ...). */
  readonly pod: Cursor;
  readonly labels: readonly Located<string>[];
  readonly annotations: readonly Located<string>[];
  readonly containers: readonly Container[];
  /** What one pod takes: per resource, the larger of any init container and the sum of app containers and native sidecars. */
  readonly accelerators: readonly PodAccelerator[];
  readonly selectors: readonly Selector[];
  /** Labels with values that their nodes must not have. */
  readonly avoided: readonly Selector[];
  readonly tolerations: readonly Toleration[];
  readonly volumes: readonly Volume[];
  readonly restartPolicy: Located<string> | undefined;
  readonly placement: Placement;
  /** The facts that other objects state. */
  readonly inherited: readonly Inherited[];
  /** How many devices the server in each pod uses, if a field of the kind sets it. */
  readonly sharding: FieldSharding | undefined;
}

/** Over how many devices a controller tells a server to spread one model in each pod. */
export interface FieldSharding {
  /** The fields with their values: `tensor 4 × dataLocal 2`; what uses one device if there are none. */
  readonly text: string;
  readonly devices: number;
  readonly at: Cursor;
  /** Whether the server may be started with other sizes. */
  readonly uncertain?: true;
}

/** What one pod needs of its node, apart from devices. A container without a known request counts as 0, so these are lower bounds. */
export interface PodNeeds {
  /** CPU cores. */
  readonly cpu: number;
  readonly memoryGiB: number;
  /** Elastic Fabric Adapters, which only AWS has. */
  readonly efa: number;
  /** Ephemeral storage. */
  readonly storageGiB: number;
  /** Its parts of cards are on so many different cards. */
  readonly cards?: number;
  /** The part of its CPU, memory and adapters that counts for some of its devices, and the least that a kind of them takes; all if absent. */
  readonly ofHost?: { readonly part: number; readonly least: number };
}

export const noNeeds: PodNeeds = { cpu: 0, memoryGiB: 0, efa: 0, storageGiB: 0 };

export type { AcceleratorForm };

export interface PodAccelerator {
  /** Where it is requested, if not in a container's `resources`. */
  readonly at: Cursor | undefined;
  readonly requested: RequestedResource;
  readonly form: AcceleratorForm;
  /** Number as written, per pod; null if templated. */
  readonly perPod: number | null;
  /** The MIG profile that each device is on the selected nodes or by a claim, `2g.20gb`; the mode of a claimed AMD partition, `cpx_nps4`. */
  readonly slice?: string;
  /** The memory that a claim or an annotation requests of each device. */
  readonly memoryMiB?: number;
  /** Hardware devices per pod (MIG: the profile's share of a card); null if unknown. */
  readonly devices: number | null;
  /** The fewest and the most devices, if alternatives differ in their number. */
  readonly between?: DeviceRange;
  /** The alternatives behind `between`; without them, any number between its bounds. */
  readonly choices?: readonly DeviceChoice[];
  readonly model: string | null;
  /** All models that fit. */
  readonly candidates: readonly string[];
  readonly modelFrom: ModelFrom | null;
  /** What suggests the model, if nothing requires it. */
  readonly modelHint?: ModelHint;
  /** The models that it can be, if nothing names or suggests one. */
  readonly open?: OpenModel;
}

/** The cards for which a request without a model can be. */
export interface OpenModel {
  /** Several if the request only says GPU. */
  readonly vendors: readonly Vendor[];
  /** Catalog ids, if the request allows only these; empty: any card of the vendor. */
  readonly among: readonly string[];
  /** The memory that each device must have, in MiB; 0 if the request names none. */
  readonly memoryMiB: number;
  /** Hardware devices per pod on a model: a fraction for a part of a card; null if unknown. */
  readonly devicesOn: (model: string) => number | null;
}

export type ModelFrom =
  | 'nodeSelector'
  | 'affinity'
  | 'instance-type'
  | 'resource-name'
  /** A field with the name of the card. */
  | 'field'
  | 'annotation'
  | 'device-class'
  | 'node-pool'
  | 'queue'
  | 'hint'
  | 'config';

/** A text that suggests a GPU model. */
export interface ModelHint {
  readonly basis: 'node' | 'pool' | 'preference' | 'toleration' | 'queue' | 'argument' | 'name' | 'comment';
  readonly text: string;
}

/** One node label that the pods require: from nodeSelector or from required node affinity with `In`. */
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

/** A machine of the user's own. */
export interface OwnMachineName {
  readonly name: string;
  /** null: unknown. */
  readonly devices: number | null;
}

/** A machine of the user's own, with its GPU: a catalog id or the user's name. */
export interface OwnMachine extends OwnMachineName {
  readonly gpu: string | null;
}

/** The nodes of pods that may run on spot and on demand, in the form of `Placement.terms`. */
export interface SpotFirst {
  readonly spot: readonly NodeTerm[];
  readonly onDemand: readonly NodeTerm[];
  /** Spot nodes come first, and nodes on demand only if there are none. */
  readonly isFirst: boolean;
}

/** Where the pods run, according to the object and the config. */
export interface Placement {
  readonly capacity: Capacity;
  /** If they may run on both; `capacity` is unknown then. */
  readonly spotFirst?: SpotFirst;
  /** Capacity without a list price that the pods may also run on; it sets no price. */
  readonly unlisted?: readonly ('reserved' | 'flex')[];
  /** The selector that decides the capacity; undefined if the config does. */
  readonly capacityAt: Cursor | undefined;
  readonly provider: string | null;
  /** The providers, if the pods may run at several; `provider` is null then. */
  readonly providers?: readonly string[];
  /** The tool that rents at one of `providers`, if the object names none. */
  readonly tool?: string;
  readonly region: string | null;
  /** The regions, if the pods may run in several; `region` is null then. */
  readonly regions?: readonly string[];
  /** A zone outside the usual zones of its region, such as an AWS Local Zone: it has its own prices. */
  readonly edgeZone?: string;
  readonly instanceType: string | null;
  /** The possible numbers of accelerators per selected node; empty if unknown. */
  readonly nodeGpus: readonly number[];
  /** The requirements on labels that follow from a node's instance type, region or zone: one of the terms must hold. */
  readonly terms: readonly NodeTerm[];
  readonly needs: PodNeeds;
  /** Whether the nodes have the ephemeral storage that the pods request. */
  readonly storage?: StorageFit;
  /** The one machine that the selectors or the config name, if the catalog does not have it. */
  readonly ownMachine?: OwnMachineName;
  /** If some of several machines are the user's own: those, and the others with the models on them. */
  readonly choices?: {
    readonly own: readonly OwnMachine[];
    readonly cloud: { readonly placement: Placement; readonly models: readonly string[] } | null;
  };
  /** The cloud for which the object is written, or the region of its cloud. Only prices look for it. */
  readonly sign?: () => CloudSign | undefined;
  /** If the pods may get other devices elsewhere: each alternative. */
  readonly either?: readonly (DeviceChoice & { readonly where: Partial<Placement> })[];
  /** The name of the cloud of the nodes, if the catalog has no prices of it; `provider` is null then. */
  readonly otherCloud?: string;
  /** The shape of the TPU slice on which the pods run: `4x4`. */
  readonly tpuTopology?: string;
  /** Who charges for the pods themselves, not for machines; `premium`: GKE Autopilot charges for the nodes, and more. */
  readonly billing?: 'autopilot' | 'cloud-run' | 'premium';
  /** The name of the configured node pool that the selectors match. */
  readonly nodePool: string | null;
  readonly providerFrom: 'nodeSelector' | 'affinity' | 'instance-type' | 'config' | null;
}

/** How failed pods are restarted. */
export interface Retries {
  /** The allowed restarts; Infinity if unlimited. */
  readonly limit: number;
  readonly at: Cursor | undefined;
}

/** What changes the number of pods. */
export interface Scaling {
  readonly mechanism: 'knative' | 'keda' | 'hpa' | 'kubeai' | 'none' | 'unknown';
  /** The source of the mechanism: the object's annotations, the config or the kind's default. */
  readonly mechanismFrom: 'annotation' | 'config' | 'default';
  readonly min: Cursor | undefined;
  readonly max: Cursor | undefined;
  /** The mapping to which the floor belongs, and its key there. */
  readonly owner: Cursor;
  readonly minKey: string;
  /** The effective floor, with the kind's default applied; null if templated. */
  readonly floor: number | null;
  readonly canReachZero: boolean;
}
