import type { Table } from '../yaml/table.ts';

// What one object takes from another that it references. The records have no positions.

export interface Referenced<T> {
  readonly kind: string;
  readonly name: string;
  /** The path from the folder of the referencing file; null: the same file. */
  readonly file: string | null;
  /**
   * The object is in a sibling of the referencing file's folder, or of a folder above it: a part of the same project, or an unrelated example.
   * Findings that depend on it are advice.
   */
  readonly siblingFolder: boolean;
  readonly facts: T;
}

/** The identity of an object that states a fact. */
export type ObjectName = Pick<Referenced<unknown>, 'kind' | 'name' | 'file'>;

/** The identity of an object, without its facts. */
export function objectName({ kind, name, file }: ObjectName): ObjectName {
  return { kind, name, file };
}

/** A fact that another object states instead of this one. */
export interface Inherited {
  readonly fact: 'gpuCount' | 'nodeCount' | 'replicas' | 'devices' | 'nodes' | 'sharing';
  /** The machines of the nodes: `p4d.24xlarge`. */
  readonly machines?: readonly string[];
  /** Added to what the object states itself. */
  readonly isAdded?: true;
  /** How many other objects state the same. */
  readonly others?: number;
  readonly from: ObjectName;
}

/** The bounds that a scaler sets. null: templated. */
export interface ScalerFacts {
  /** The effective floor: KEDA's idleReplicaCount if that is lower. */
  readonly min: number | null;
  /** undefined: not set. */
  readonly max: number | null | undefined;
  /** The replicas on average, if a schedule alone sets them. */
  readonly average?: number;
  /** Bounds in Terraform that need values of its folder: `${var.most}`. */
  readonly templates?: { readonly min?: string; readonly max?: string };
  /** The pods of the target's own replicas also run. */
  readonly keepsOwn?: boolean;
  /** The metrics: `cpu`, `memory`, or the name or type of another one. */
  readonly metrics: readonly string[];
}

export interface VolumeClaimFacts {
  /** The requested capacity in bytes; null if unknown. */
  readonly bytes: number | null;
  readonly accessModes: readonly string[];
  readonly storageClass: string | null;
  /** A volume is made for it with a file system; it takes no existing one and is no raw device. */
  readonly isProvisioned: boolean;
}

export interface ServiceFacts {
  /** The cloud that reads its annotations; null if none does. */
  readonly cloud: string | null;
  /** Variables describe only Services with an address: not headless ones. */
  readonly hasAddress: boolean;
  /** The required pod labels; null without a selector. */
  readonly selects: Table<string> | null;
  /** The ports of the pods, by number or name; null if one is unknown. */
  readonly targets: readonly string[] | null;
  /** Its own ports; null if one is unknown. */
  readonly ports: readonly ServicePort[] | null;
  /** Its own labels; null if one is unknown. */
  readonly labels: Table<string> | null;
  /** The port of the pods, by number or name, from which its annotations let Prometheus read metrics; null if none do. */
  readonly scraped: string | null;
  /** As written, or the default ClusterIP; null if it is unknown or if its annotations set how a load balancer reaches it. */
  readonly type: string | null;
  /** It sends requests only to pods that are ready. */
  readonly waits: boolean;
  /** Its annotations set the health check of the load balancer behind an Ingress, or may. */
  readonly hasHealthCheck: boolean;
}

/** As written. */
export interface ServicePort {
  readonly port: string;
  readonly name: string | null;
}

/** As written: a number or a percentage. */
export interface BudgetFacts {
  readonly minAvailable: string | null;
  readonly maxUnavailable: string | null;
  /** The required pod labels; null if the selector is not a plain list of labels. */
  readonly selects: Table<string> | null;
}

/** What a RuntimeClass adds to its pods, as written. */
export interface RuntimeClassFacts {
  /** The quantities on top of what they request, by resource. */
  readonly overhead: Table<string>;
  readonly nodeSelector: Table<string>;
  /** Whether it adds tolerations. */
  readonly tolerates: boolean;
}

/** A workload that stays up, and what its pods request of one resource. */
export interface Demand {
  readonly kind: string;
  readonly name: string;
  readonly count: number;
}

/** What a LimitRange says about containers and pods. */
export interface LimitFacts {
  /** The resources that it gives to every container. */
  readonly names: readonly string[];
  readonly bounds: readonly ResourceBound[];
}

/** A bound that a LimitRange sets for one resource. */
export interface ResourceBound {
  readonly type: 'Container' | 'Pod';
  readonly bound: 'max' | 'min' | 'maxLimitRequestRatio';
  readonly resource: string;
  readonly text: string;
  readonly value: number;
}

/** Resource names with their limits. */
export interface QuotaFacts {
  readonly hard: Table<number>;
}
