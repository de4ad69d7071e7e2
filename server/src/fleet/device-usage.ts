import type { DeviceCount, MoneyRange, PodOwner } from './amounts.ts';

// What Prometheus has measured of the devices in a cluster, as plain data: part of the view.

/** What a pod has done with its devices over a window. Ratios are at least 0 and at most 1. */
export interface PodUsage {
  readonly namespace: string;
  readonly pod: string;
  /** Devices or MIG slices with metrics. */
  readonly devices: number;
  /** `mean`: on average over its devices and the window. `p95`: below this for 95% of the time, on the busiest device. null: not measured. */
  readonly busy: { readonly mean: number; readonly p95: number } | null;
  /** Of the device that used most at one time; null: not measured. */
  readonly memory: MemoryUse | null;
  /** The same, of all its devices together. */
  readonly allMemory: MemoryUse | null;
  /** All its devices, on average; null: not measured. */
  readonly watts: number | null;
  /** The MIG profile of its devices; null for whole devices. */
  readonly profile: string | null;
  /** Metrics cover the whole window: what is said holds for all of it. */
  readonly isWhole: boolean;
  /** Seconds of the window with metrics. */
  readonly seconds: number;
  /** Other pods use the same devices, so the figures may be theirs. */
  readonly isShared: boolean;
}

/** Bytes at the peak, and of all there are. */
export interface MemoryUse {
  readonly used: number;
  readonly total: number;
}

/** What the pods of a pool or workload do with their devices. */
export interface UsageSum {
  /** Pods with metrics, and all of them. */
  readonly measured: number;
  readonly pods: number;
  /** On average over the devices and the window; null: not measured. */
  readonly busy: number | null;
  readonly memory: MemoryUse | null;
}

/** What is known from Prometheus. */
export interface ClusterUsage {
  readonly state: 'asking' | 'measured' | 'problem';
  /** Why there are no figures, in a sentence without a period; null if there are. */
  readonly message: string | null;
  /** `https://prometheus.example:9090`, without credentials. */
  readonly source: string;
  /** The length of the window. */
  readonly hours: number;
  /** Pods with devices, and those with metrics. */
  readonly pods: number;
  readonly measured: number;
  readonly idle: IdleSum;
}

/** Pods that have used their devices less than `idleBelow` during the whole window. */
export interface IdleSum {
  readonly pods: number;
  /** Physical devices. */
  readonly devices: number;
  /** US dollars per hour; null if one of the prices is unknown. */
  readonly hourly: MoneyRange | null;
}

export interface IdlePod extends IdleSum {
  readonly namespace: string;
  readonly name: string;
  readonly owner: PodOwner | null;
  readonly node: string;
  readonly pool: string;
  readonly holds: readonly DeviceCount[];
  readonly usage: PodUsage;
  /** A MIG slice that would hold what it uses; null if none is known to. */
  readonly slice: string | null;
}
