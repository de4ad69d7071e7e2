// Requests with alternatives.

/** One of several requests that a pod may get: one L40S, or two L4. */
export interface DeviceChoice {
  /** Catalog ids; empty if the request names none. */
  readonly models: readonly string[];
  readonly devices: number;
}

/** The fewest and the most devices of one pod. */
export interface DeviceRange {
  readonly min: number;
  readonly max: number;
}
