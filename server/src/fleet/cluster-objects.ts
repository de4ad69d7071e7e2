import type { DeviceMatcher } from './device-allocation.ts';
import type { DeviceSupply } from './devices.ts';
import type { PriorityClasses } from './read.ts';
import type {
  Amounts,
  DisruptionBudget,
  FleetNode,
  FleetPod,
  Labels,
  NodeSelectorTerm,
  Taint,
  Toleration,
} from './types.ts';

// The objects of a cluster as far as the view and its answers need them. `live-read.ts` makes them from API objects, one by one; whoever follows
// the cluster keeps them by uid and replaces an object that has changed, because results are remembered by identity.

/** Everything that is known of a cluster. Absent objects are empty lists; what may not be read is in the coverage. */
export interface ClusterObjects {
  readonly nodes: readonly ClusterNode[];
  /** All pods that have not ended. */
  readonly pods: readonly ClusterPod[];
  /** Labels by name; empty if namespaces may not be read. */
  readonly namespaces: ReadonlyMap<string, Labels>;
  readonly priorityClasses: PriorityClasses;
  readonly budgets: readonly DisruptionBudget[];
  readonly runtimeClasses: ReadonlyMap<string, RuntimeClass>;
  /** Undefined if the cluster does not serve dynamic resource allocation. */
  readonly devices: ClusterDevicesData | undefined;
  readonly quotas: readonly ResourceQuota[];
  readonly kueue: KueueObjects;
  readonly growing: readonly GrowingPool[];
}

export interface ClusterDevicesData {
  readonly supply: DeviceSupply;
  readonly matches: DeviceMatcher;
  /** `namespace/name` of the claims that are allocated, but reserved for no pod. */
  readonly unreserved: readonly string[];
}

export interface ClusterNode extends FleetNode {
  readonly ready: boolean;
  readonly capacity: Amounts;
  readonly created: number | null;
  /** `spec.providerID`; an empty text without one. */
  readonly providerId: string;
  /** The pool that an annotation names, where no label does. */
  readonly annotated: { readonly platform: 'openshift' | 'cluster-api' | 'oke'; readonly name: string } | null;
}

export interface ClusterPod extends FleetPod {
  readonly owner: { readonly kind: string; readonly name: string } | null;
  /** Names of its ResourceClaims, also of those made from templates. */
  readonly claimNames: readonly string[];
  readonly created: number | null;
  readonly state: 'pending' | 'starting' | 'running' | 'terminating';
  /** What the scheduler said last, from the condition PodScheduled or an event; an empty text if nothing. */
  readonly words: string;
  /** The reason of that condition: Unschedulable, SchedulingGated, SchedulerError. */
  readonly wordsReason: string;
}

export interface RuntimeClass {
  readonly name: string;
  readonly nodeSelector: Labels;
  readonly tolerations: readonly Toleration[];
  readonly overhead: Amounts;
}

export interface ResourceQuota {
  readonly namespace: string;
  readonly name: string;
  /** By the quota's own names: `requests.nvidia.com/gpu`, `pods`, `limits.cpu`. */
  readonly hard: Amounts;
  readonly used: Amounts;
  /** It has scopes or a scope selector, so it may not count a pod. */
  readonly scoped: boolean;
}

/** https://kueue.sigs.k8s.io/docs/concepts/ */
export interface KueueObjects {
  readonly localQueues: readonly LocalQueue[];
  readonly clusterQueues: readonly ClusterQueue[];
  readonly flavors: readonly ResourceFlavor[];
}

export interface LocalQueue {
  readonly namespace: string;
  readonly name: string;
  readonly clusterQueue: string;
  readonly stopped: boolean;
}

export interface ClusterQueue {
  readonly name: string;
  /** An empty text without one. */
  readonly cohort: string;
  readonly stopped: boolean;
  readonly groups: readonly {
    readonly resources: readonly string[];
    readonly flavors: readonly {
      readonly name: string;
      readonly resources: readonly {
        readonly name: string;
        readonly nominal: number;
        /** null: without a limit within the cohort. */
        readonly borrowing: number | null;
        readonly used: number;
      }[];
    }[];
  }[];
}

export interface ResourceFlavor {
  readonly name: string;
  readonly labels: Labels;
  readonly taints: readonly Taint[];
  readonly tolerations: readonly Toleration[];
}

/** A pool to which an autoscaler can add nodes: a Karpenter NodePool, a ComputeClass of GKE, or a node group of the cluster autoscaler. */
export interface GrowingPool {
  readonly by: 'karpenter' | 'compute-class' | 'cluster-autoscaler' | 'machine-autoscaler';
  /** It creates nodes although it has none: what they are follows from its own fields. Null: it depends on the cluster. */
  readonly creates: boolean | null;
  readonly name: string;
  /** Labels of the nodes that it adds, as far as they are known. */
  readonly labels: Labels;
  readonly taints: readonly Taint[];
  /** Requirements on the labels of its nodes, which meet one of them. */
  readonly terms: readonly NodeSelectorTerm[];
  readonly min: number | null;
  readonly max: number | null;
  /** Nodes that it has; null: unknown. */
  readonly nodes: number | null;
  readonly limits: Amounts;
  readonly used: Amounts;
  /** Whether it can create nodes now. */
  readonly ready: boolean;
}
