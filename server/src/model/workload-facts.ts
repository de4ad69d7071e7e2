import type { Table } from '../yaml/table.ts';

/** A container, and which of cpu and memory it requests, by a request or by a limit. */
export interface ContainerFacts {
  readonly name: string;
  readonly requests: readonly string[];
}

/** What a workload is, costs and requests. */
export interface WorkloadFacts {
  readonly role: string;
  /** The app containers of its pods; null if they are unknown or if other fields than the containers' resources count. */
  readonly containers: readonly ContainerFacts[] | null;
  /** Devices of one replica; null if unknown. */
  readonly devices: number | null;
  /** US dollars per hour for one replica without traffic; null if the price is unknown. */
  readonly hourly: number | null;
  /** The same as a range; null if the price is unknown. */
  readonly price: { readonly min: number; readonly max: number } | null;
  readonly latencyCritical: boolean;
  /** What its pods always request of each accelerator resource; empty for workloads that end. */
  readonly demand: Table<number>;
  /** The labels of its pods, if it has one pod template. */
  readonly labels: Table<string>;
  /** The known server that its pods run, and nothing else; null if that is not certain. */
  readonly server: ServerFacts | null;
  /** The number of replicas; null if it is unknown, undefined if it is not set. */
  readonly replicas: number | null | undefined;
  /** The names of the ports of its containers; null if one is unknown. */
  readonly portNames: readonly string[] | null;
}

/** A server on the only port where it listens. */
export interface ServerFacts {
  readonly program: string;
  readonly port: number;
  /** What it lacks for its metrics, in words: `without --metrics`; null if it has some, or may have. */
  readonly lacksMetrics: string | null;
  /** Its readinessProbe asks for a path, or may. */
  readonly isProbed: boolean;
  /** A flag may give all its paths a prefix. */
  readonly hasPrefix: boolean;
  /** It certainly answers requests without a key. */
  readonly lacksKey: boolean;
}
