import type { DeviceCount, LabelValue, LiveTaint, PodOwner, PublishedView } from './cluster-view.ts';

// Whether pods would run in a connected cluster, as plain data like the view.

/** Would these pods run? */
export interface FitQuestion {
  readonly namespace: string;
  /** The workload, whose pods that already run give way to these. */
  readonly owner?: PodOwner;
  readonly groups: readonly PodGroup[];
  /** All pods of all groups must run at once, or none does useful work. */
  readonly together: boolean;
  /** The LocalQueue of Kueue that admits them; null without one. */
  readonly queue: string | null;
  /** ResourceClaims and ResourceClaimTemplates, as JSON objects, that are applied together with the pods. */
  readonly claims: readonly unknown[];
}

/** Pods from one template. */
export interface PodGroup {
  /** The role in the workload: worker, head. */
  readonly name: string;
  /** `{metadata: {labels, annotations}, spec}` as a JSON object. */
  readonly template: unknown;
  /** At least 1. */
  readonly count: number;
}

export type FitOutcome =
  /** All pods have a node. */
  | 'runs'
  /** All pods fit now. */
  | 'fits'
  /** Some of the pods fit now; the others wait. */
  | 'fits-some'
  /** Pods of lower priority would be evicted. */
  | 'preempts'
  /** A pool can add nodes for them. */
  | 'grows'
  /** They would fit if other pods ended. */
  | 'waits'
  /** Quota keeps them out. */
  | 'quota'
  /** No node and no pool can ever run them. */
  | 'never'
  /** What is known of the cluster does not decide it. */
  | 'unknown';

export interface FitAnswer {
  readonly context: string;
  /** When the objects were last known to be current. */
  readonly asOf: number;
  readonly outcome: FitOutcome;
  /** `fits now in pool a100 (6 free)`, `waits: …`: the outcome with its reason, for all pods together. */
  readonly line: string;
  /** What would let the pods run; null if nothing is known to. */
  readonly wayOut: string | null;
  /** Pods of the workload that have a node now. */
  readonly running: number;
  /** Its pods that wait for one. */
  readonly waiting: number;
  /** Pods that fit at once, and all of them. */
  readonly fitting: number;
  readonly pods: number;
  /** One for each group, in the order of the question. */
  readonly groups: readonly GroupFit[];
  readonly growth: readonly Growth[];
  readonly preempted: readonly PreemptedPod[];
  readonly quotas: readonly QuotaState[];
  /** What could not be taken into account: `the pods of other namespaces are not readable`. */
  readonly gaps: readonly string[];
  /** What its pods do with their devices, in words; null: not measured. */
  readonly usage: string | null;
}

/** What an answer says, before it is put in words. */
export type FitResult = Omit<FitFacts, 'line' | 'wayOut' | 'usage'>;

/** An answer without its time, so that equal answers are equal. */
export type FitFacts = Omit<FitAnswer, 'asOf'>;

/** Where the pods of one group could run. */
export interface GroupFit {
  readonly name: string;
  /** Devices that each pod requests. */
  readonly devices: readonly DeviceCount[];
  /** The GPU pools, those where it fits first; other nodes only if it fits there. */
  readonly pools: readonly PoolFit[];
  /** The verdict on one pod: the scheduler's words, and plain ones; null if it fits. */
  readonly words: string | null;
  readonly plain: string | null;
}

export interface PoolFit {
  /** `LivePool.id`. */
  readonly pool: string;
  readonly name: string;
  readonly nodes: number;
  /** The label that names it; null if no label does. */
  readonly label: LabelValue | null;
  /** Pods that fit at once, at most those of the group. */
  readonly fits: number;
  /** Free units of the resource that the pods request; null if they request none. */
  readonly free: number | null;
  /** Pods that would fit if nothing else ran there. */
  readonly fitsEmpty: number;
  readonly reasons: readonly FitReason[];
  /** What the pods would need to be admitted by the labels and taints of the pool; null if only the resources keep them out, or nothing. */
  readonly missing: { readonly labels: readonly LabelValue[]; readonly taints: readonly LiveTaint[] } | null;
}

/** Why some nodes of a pool cannot run the pod. */
export interface FitReason {
  readonly nodes: number;
  /** `Insufficient nvidia.com/gpu`. */
  readonly words: string;
  /** `Insufficient nvidia.com/gpu (free 2, asks 4)`, `untolerated taint {nvidia.com/gpu: present}`. */
  readonly plain: string;
  /** Waiting would not help: the node could not run the pod even if it were empty. */
  readonly forever: boolean;
}

/** A pool that could add nodes for the pods. */
export interface Growth {
  readonly pool: string;
  readonly by: string;
  /** How many; null: unknown. */
  readonly nodes: number | null;
  /** Why it cannot; null if it can. */
  readonly blocked: string | null;
}

export interface PreemptedPod {
  readonly namespace: string;
  readonly name: string;
  readonly node: string;
  readonly priority: number;
}

/** A quota that counts the pods. */
export interface QuotaState {
  readonly kind: 'ResourceQuota' | 'ClusterQueue' | 'LocalQueue';
  readonly name: string;
  readonly resource: string;
  readonly limit: number;
  readonly used: number;
  readonly asks: number;
  /** The pods exceed what is left. */
  readonly exceeded: boolean;
  /** In words: `ClusterQueue gpu-a has 4 of 16 nvidia.com/gpu left`. */
  readonly plain: string;
}

/** A connected cluster, as an analysis sees it. Without a connection there is none, and nothing changes. */
export interface LiveCluster {
  readonly view: PublishedView;
  /** Undefined until the answer arrives; whoever asked is then analyzed again. */
  readonly answer: (question: FitQuestion) => FitAnswer | undefined;
}
