/** An amount that depends on the number of pods, the price, or both. US dollars. */
export interface Range {
  readonly min: number;
  readonly max: number;
}

/** What a workload costs while it runs. Rendered as is into the JSON report. */
export interface CostEstimate {
  readonly currency: 'USD';
  readonly hourly: Range;
  /** 730 hours. */
  readonly monthly: Range;
  /** What it costs an hour with no traffic or work: replicas at their floor. */
  readonly idleHourly: number;
  /** At the cheapest spot offers of the same providers and regions, on the machine of the basis where that is told. */
  readonly spotHourly: Range | null;
  readonly basis: readonly CostBasis[];
  readonly assumptions: readonly string[];
}

/** One price that the estimate rests on. */
export interface CostBasis {
  readonly podSet: string;
  /** `own`: the project told the price, and no provider. */
  readonly provider: string;
  readonly region: string;
  readonly instanceType: string;
  readonly pricing: 'on-demand' | 'spot' | 'reserved';
  readonly instanceHourly: number;
  /** The same instance on spot; null where no price is known, absent where the basis itself is a spot price. */
  readonly spotInstanceHourly?: number | null;
  /** The part of the instance that one pod takes. */
  readonly share: number;
  readonly asOf: string | null;
  readonly source: string;
}

/** The estimate, or why there is none and what would make one possible. */
export interface CostResult {
  readonly cost: CostEstimate | null;
  /** One sentence when cost is null; null otherwise. */
  readonly problem: string | null;
  /** What would make an estimate possible; null where nothing would, as for a slice that no GPU has. */
  readonly missing: 'gpu' | 'price' | 'count' | null;
  /** The parts of the estimate, in the order of the pod sets that ask for accelerators; empty where there is no estimate. */
  readonly podSets: readonly PodSetAmount[];
}

/** What the pods of one set cost, in US dollars an hour. */
export interface PodSetAmount {
  readonly name: string;
  readonly hourly: Range;
  /** At the floor of replicas. */
  readonly idleHourly: number;
}
