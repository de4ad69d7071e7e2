import type { PoolManager } from '../catalog/index.ts';
import type { DeviceCount, MoneyRange, PodOwner } from './amounts.ts';
import type { ClusterUsage, IdlePod, PodUsage, UsageSum } from './device-usage.ts';

export type { DeviceCount, MoneyRange, PodOwner } from './amounts.ts';

// What a connected cluster offers, and whether pods would run there, as plain data: it passes between threads by structured clone, and is printed
// as JSON. So it has no maps, functions or undefined values; names from the cluster are values, never keys. Times are milliseconds since the epoch,
// amounts of money US dollars per hour.

/** A cluster as of one moment. */
export interface ClusterView {
  /** The context of the kubeconfig, or `in-cluster`. */
  readonly context: string;
  /** `v1.32.4`; null: unknown. */
  readonly serverVersion: string | null;
  readonly state: ClusterState;
  /** When the objects were last known to be current. */
  readonly asOf: number;
  /** Pools with accelerators. Their nodes are a question of their own: thousands of them would take longer to copy than to look at. */
  readonly pools: readonly LivePool[];
  readonly totals: ClusterTotals;
  /** Who holds the devices. */
  readonly owners: readonly OwnerUse[];
  /** GPU pods without a node, those that wait longest first. */
  readonly pending: readonly PendingPod[];
  /** Names of DeviceClasses; null if the cluster does not serve them. */
  readonly deviceClasses: readonly string[] | null;
  readonly coverage: readonly Coverage[];
  /** Claims that hold devices although no pod uses them, and devices without a node. */
  readonly leaked: readonly LeakedClaim[];
  readonly problems: readonly NodeProblem[];
  /** null: no Prometheus is known. */
  readonly usage: ClusterUsage | null;
  /** Those that cost most first. */
  readonly idlePods: readonly IdlePod[];
}

/** What analyses see of a view. The rest can be megabytes with each change; it is drawn where the cluster is known. */
export type PublishedView = Omit<ClusterView, 'owners' | 'pending' | 'problems' | 'leaked' | 'idlePods'>;

/** How current the objects are. A view with an old `asOf` shows the last known objects in every state but `loading`. */
export type ClusterState =
  | { readonly kind: 'loading'; readonly nodes: number; readonly pods: number }
  | { readonly kind: 'current' }
  /** Nodes may not be read, so there are no pools. */
  | { readonly kind: 'forbidden'; readonly message: string }
  | { readonly kind: 'unreachable'; readonly message: string }
  /** The credentials have expired or are not valid. */
  | { readonly kind: 'unauthorized'; readonly message: string };

export interface ClusterTotals {
  readonly nodes: number;
  readonly devices: DeviceSum;
  readonly cost: LiveCost;
}

/** Physical accelerators. A MIG slice, a time slice or a core counts as its part of the device. */
export interface DeviceSum {
  readonly total: number;
  /** Not requested by any pod, on nodes that are ready and not cordoned; null if pods may not be read. */
  readonly free: number | null;
  /** Requested by pods; null if they may not be read. */
  readonly used: number | null;
  /** Neither free nor used: their nodes are cordoned or not ready, or the device plugin does not offer them. */
  readonly unavailable: number;
  /** Nodes whose number of devices is unknown; they count as 0. */
  readonly uncountedNodes: number;
}

/** What nodes cost, and the part of it whose devices no pod requests. */
export interface LiveCost {
  /** null: no price is known. */
  readonly hourly: MoneyRange | null;
  readonly idle: MoneyRange | null;
  /** Nodes without a known price, which the amounts do not include. */
  readonly unpricedNodes: number;
  /** The basis of the amounts: `p5.48xlarge on demand in us-east-1 (2026-08-21)`. */
  readonly basis: readonly string[];
  /** Why prices are unknown: `instance type unknown`. */
  readonly because: readonly string[];
}

/** Who manages a pool. */
export type PoolPlatform =
  | PoolManager
  | ('openshift' | 'cluster-api')
  /** Nothing names the pool: nodes of equal product and instance type. */
  | 'similar-nodes';

/** Nodes that a platform manages as one. */
export interface LivePool {
  /** Unique in the view, the same as long as the pool exists. */
  readonly id: string;
  readonly name: string;
  readonly platform: PoolPlatform;
  /** The label of its nodes that names it; null if no label does. */
  readonly label: LabelValue | null;
  /** The accelerator, if all nodes have the same. */
  readonly model: LiveModel | null;
  /** Labels that all its nodes have. */
  readonly labels: readonly LabelValue[];
  /** The values of other labels, for labels of few values. Labels that name one node are not here. */
  readonly otherLabels: readonly { readonly key: string; readonly values: readonly string[] }[];
  /** Taints that all its nodes have, without those that describe a state (not ready, cordoned, under pressure). */
  readonly taints: readonly LiveTaint[];
  readonly instanceTypes: readonly string[];
  readonly zones: readonly string[];
  /** `mixed`: it has nodes of several. */
  readonly capacity: LiveCapacity | 'mixed' | null;
  readonly nodes: number;
  readonly readyNodes: number;
  readonly cordonedNodes: number;
  /** By resource, summed over the nodes. */
  readonly resources: readonly DeviceCounts[];
  readonly devices: DeviceSum;
  readonly cost: LiveCost;
  /** The largest pod that a node could take now; null if no device is free. */
  readonly largestFit: LargestFit | null;
  /** The most units of each resource that one node has. */
  readonly largestNode: readonly DeviceCount[];
  /** How many pods of each size would fit now: 1, 2, 4, 8 ... devices of the main resource. */
  readonly fits: readonly { readonly devices: number; readonly pods: number }[];
  /** Free devices on nodes that other pods use in part. */
  readonly scattered: number;
  /** The bounds of an autoscaler; null if none is known. */
  readonly growth: PoolGrowth | null;
  /** The platform adds tolerations for the resources that a pod requests. */
  readonly toleratesRequested: boolean;
  readonly usage: UsageSum | null;
}

export type LiveCapacity = 'spot' | 'on-demand' | 'reserved' | 'flex';

export interface LiveModel {
  /** Catalog id; null for a card that the catalog does not have. */
  readonly id: string | null;
  /** `H100 80GB SXM`, or the value of the label. */
  readonly name: string;
  /** The label or instance type that it is known from: `nvidia.com/gpu.product`. */
  readonly from: string;
}

export interface LabelValue {
  readonly key: string;
  readonly value: string;
}

export interface LiveTaint {
  readonly key: string;
  readonly value: string;
  readonly effect: string;
}

export interface LiveNode {
  readonly name: string;
  readonly ready: boolean;
  readonly cordoned: boolean;
  /** When it was created; null: unknown. */
  readonly created: number | null;
  readonly instanceType: string | null;
  readonly zone: string | null;
  readonly capacity: LiveCapacity | null;
  readonly model: LiveModel | null;
  readonly taints: readonly LiveTaint[];
  /** Accelerator resources that it offers. */
  readonly resources: readonly DeviceCounts[];
  readonly devices: DeviceSum;
  readonly cost: LiveCost;
  readonly mig: MigLayout | null;
  readonly sharing: DeviceSharingState | null;
  /** Devices that drivers offer through dynamic resource allocation. */
  readonly dra: readonly DraDevices[];
  /** Free CPU in cores and memory in bytes. */
  readonly freeCpu: number;
  readonly freeMemory: number;
  /** The pods with accelerators. */
  readonly pods: readonly LivePod[];
  /** Pods without accelerators. */
  readonly otherPods: number;
}

/** Units of one extended resource. */
export interface DeviceCounts {
  readonly resource: string;
  readonly capacity: number;
  readonly allocatable: number;
  /** By pods; null if they may not be read, as below. */
  readonly requested: number | null;
  /** What a pod can get now: 0 on nodes that are cordoned or not ready. */
  readonly free: number | null;
  /** The part of a device that one unit is; null: unknown. */
  readonly share: number | null;
}

export interface MigLayout {
  readonly strategy: 'single' | 'mixed';
  /** The value of nvidia.com/mig.config; null: unknown. */
  readonly config: string | null;
  readonly profiles: readonly { readonly profile: string; readonly total: number; readonly free: number | null }[];
}

export interface DeviceSharingState {
  /** Pods per device. */
  readonly replicas: number;
  readonly strategy: 'time-slicing' | 'mps' | null;
}

export interface DraDevices {
  readonly driver: string;
  readonly total: number;
  readonly allocated: number;
  /** The model that its devices name, in their words; null if they differ or name none. */
  readonly product: string | null;
}

/** A pod with accelerators that has a node. */
export interface LivePod {
  readonly namespace: string;
  readonly name: string;
  readonly owner: PodOwner | null;
  readonly devices: readonly DeviceCount[];
  readonly created: number | null;
  readonly state: 'running' | 'starting' | 'terminating';
  readonly priority: number;
  /** null: not measured. */
  readonly usage: PodUsage | null;
}

/** The pods of one workload with their accelerators. */
export interface OwnerUse {
  readonly namespace: string;
  /** The pod itself, if nothing owns it. */
  readonly owner: PodOwner;
  readonly pods: number;
  readonly pending: number;
  /** Units by resource that its pods on nodes request. */
  readonly devices: readonly DeviceCount[];
  /** The same in physical devices; null if one of them is unknown. */
  readonly deviceSum: number | null;
  /** `LivePool.id` of the pools that its pods use. */
  readonly pools: readonly string[];
  /** Its part of the price of its nodes; null if one of them is unknown. */
  readonly hourly: MoneyRange | null;
  readonly usage: UsageSum | null;
}

export interface LargestFit {
  readonly resource: string;
  readonly devices: number;
  /** CPU in cores and memory in bytes that are free on the same node. */
  readonly cpu: number;
  readonly memory: number;
  readonly node: string;
}

export interface PoolGrowth {
  /** `Karpenter NodePool gpu`, `cluster autoscaler`. */
  readonly by: string;
  /** Nodes; null: unknown or without a limit. */
  readonly min: number | null;
  readonly max: number | null;
  /** Limits on resources of all nodes together, with what the nodes already have. */
  readonly limits: readonly { readonly resource: string; readonly limit: number; readonly used: number }[];
}

/** A GPU pod without a node. */
export interface PendingPod {
  readonly namespace: string;
  readonly name: string;
  readonly owner: PodOwner | null;
  readonly devices: readonly DeviceCount[];
  readonly created: number | null;
  /** In plain words. */
  readonly reason: string;
  /** What would let it run; null if nothing is known to. */
  readonly wayOut: string | null;
  /** What the scheduler said last; null if nothing. */
  readonly words: string | null;
}

/** What of a resource could be read. */
export interface Coverage {
  /** `nodes`, `pods`, `resourceslices.resource.k8s.io`. */
  readonly resource: string;
  readonly state: 'read' | 'loading' | 'forbidden' | 'not-served' | 'namespaces';
  /** The namespaces that could be read, if not all. */
  readonly namespaces: readonly string[];
}

export interface LeakedClaim {
  readonly namespace: string;
  readonly name: string;
  readonly devices: number;
  readonly node: string | null;
}

/** A node that its labels or instance type describe as a GPU node, but that offers no device. Its price counts as idle. */
export interface NodeProblem {
  readonly node: string;
  readonly pool: string;
  readonly message: string;
}
