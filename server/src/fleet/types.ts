// What the scheduler knows of nodes and pods: the least that decides where a pod can run. Amounts of cpu are in thousandths of a core, all
// others in whole units (bytes, devices), as the scheduler rounds them.

/** Amounts by resource name. */
export type Amounts = ReadonlyMap<string, number>;

/** Labels by name. */
export type Labels = ReadonlyMap<string, string>;

export interface Taint {
  readonly key: string;
  readonly value: string;
  readonly effect: string;
}

export interface FleetNode {
  readonly name: string;
  readonly labels: Labels;
  readonly taints: readonly Taint[];
  readonly unschedulable: boolean;
  readonly allocatable: Amounts;
}

export interface Toleration {
  /** An empty text tolerates every key. */
  readonly key: string;
  readonly operator: string;
  readonly value: string;
  /** An empty text tolerates every effect. */
  readonly effect: string;
}

/** One condition on a label or a field. */
export interface Requirement {
  readonly key: string;
  readonly operator: string;
  readonly values: readonly string[];
}

/** Conditions of which all must hold; null selects nothing, and an empty list everything. */
export type LabelSelector = readonly Requirement[] | null;

/** A term of node affinity. A term without conditions matches no node. */
export interface NodeSelectorTerm {
  readonly labels: readonly Requirement[];
  readonly fields: readonly Requirement[];
}

/** A required term of pod affinity or anti-affinity. */
export interface PodTerm {
  readonly selector: LabelSelector;
  readonly topologyKey: string;
  readonly namespaces: readonly string[];
  /** Namespaces by their labels, in addition; null selects none. */
  readonly namespaceSelector: LabelSelector;
}

/** A spread constraint that forbids scheduling. */
export interface SpreadConstraint {
  readonly maxSkew: number;
  readonly minDomains: number;
  readonly topologyKey: string;
  readonly selector: LabelSelector;
  /** Count only nodes that the pod's own selector and affinity admit. */
  readonly honorsAffinity: boolean;
  /** Count only nodes whose taints the pod tolerates. */
  readonly honorsTaints: boolean;
}

export interface HostPort {
  readonly ip: string;
  readonly protocol: string;
  readonly port: number;
}

/** A pod, bound or not. */
export interface FleetPod {
  readonly namespace: string;
  readonly name: string;
  readonly labels: Labels;
  readonly priority: number;
  /** False for `preemptionPolicy: Never`. */
  readonly preempts: boolean;
  /** It has been deleted, and still runs. */
  readonly terminating: boolean;
  /** When its node has accepted it, in milliseconds since the epoch; null before. */
  readonly started: number | null;
  /** Its node; an empty text for a pod that waits. */
  readonly nodeName: string;
  readonly requests: Amounts;
  readonly tolerations: readonly Toleration[];
  readonly nodeSelector: Labels;
  /** Required terms of node affinity, of which one must match; null without any. */
  readonly nodeTerms: readonly NodeSelectorTerm[] | null;
  /** Preferred terms of node affinity: they decide nothing, unless one cannot be read. */
  readonly preferredNodes: readonly NodeSelectorTerm[];
  readonly affinity: readonly PodTerm[];
  readonly antiAffinity: readonly PodTerm[];
  readonly spread: readonly SpreadConstraint[];
  readonly hostPorts: readonly HostPort[];
  readonly gates: readonly string[];
  readonly schedulerName: string;
  readonly claims: readonly ClaimReference[];
}

/** A claim that the pod uses: an object, or one made from a template for this pod. */
export interface ClaimReference {
  readonly name: string | null;
  readonly template: string | null;
}

/** A PodDisruptionBudget, as far as preemption cares. */
export interface DisruptionBudget {
  readonly namespace: string;
  readonly selector: LabelSelector;
  /** How many of its pods may be evicted now. */
  readonly allowed: number;
  /** Names of pods whose eviction it already counts. */
  readonly disrupted: readonly string[];
}
