// The smallest parts of what is known of a cluster.

/** Equal bounds are one figure. */
export interface MoneyRange {
  readonly min: number;
  readonly max: number;
}

/** Units of one resource; devices of dynamic resource allocation count under the name of their driver. */
export interface DeviceCount {
  readonly resource: string;
  readonly count: number;
}

/** The workload that a pod belongs to, as a manifest names it: the Deployment, not its ReplicaSet. */
export interface PodOwner {
  readonly kind: string;
  readonly name: string;
}
