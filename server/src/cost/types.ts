import type { RunLength } from '../model/run-length.ts';
import type { Assumption } from './assumption.ts';
import type { NoEstimate } from './no-estimate.ts';

/** An amount that depends on the number of pods, the price, or both. US dollars. */
export interface Range {
  readonly min: number;
  readonly max: number;
}

/** The cost of a workload while it runs. */
export interface CostEstimate {
  readonly currency: 'USD';
  readonly hourly: Range;
  /** 730 hours. */
  readonly monthly: Range;
  /** The hourly cost without traffic or work: replicas at their floor. */
  readonly idleHourly: number;
  /** At the cheapest spot offers of the same providers and regions, on the instance type of the basis if that is known. */
  readonly spotHourly: Range | null;
  /** The same as a range: a single number does not stand for the prices of several machines. */
  readonly idle: Range;
  /** The ceiling of `hourly` counts fewer pods than may run: their number has no known bound. */
  readonly isOpen: boolean;
  /** For a workload that ends: what one run costs, and a month of runs. */
  readonly run?: RunCost;
  readonly basis: readonly CostBasis[];
  /** May contain duplicates; their wording removes them. */
  readonly assumptions: readonly Assumption[];
}

/** The cost of a workload that ends. `deadline`: at most; `steps`: about; without `perMonth`, it runs once. */
export interface RunCost extends RunLength {
  /** US dollars; null if the length is unknown. */
  readonly total: Range | null;
  /** US dollars per hour of a run, if it is suspended: the estimate itself is $0. */
  readonly whileRunning?: Range;
}

/** One price behind the estimate. */
export interface CostBasis {
  readonly podSet: string;
  /** null: the project's own price of a GPU at any provider. */
  readonly provider: string | null;
  readonly region: string;
  readonly instanceType: string;
  readonly pricing: 'on-demand' | 'spot' | 'reserved';
  readonly instanceHourly: number;
  /** The same instance on spot; null if the price is unknown, absent if the basis itself is a spot price. */
  readonly spotInstanceHourly?: number | null;
  /** The share of the instance that one pod uses. */
  readonly share: number;
  readonly asOf: string | null;
  /** Source of the catalog's price; null if the price is from the config. */
  readonly source: string | null;
}

/** The estimate, or why there is none. */
export type CostResult =
  | {
      readonly cost: CostEstimate;
      readonly unknown: null;
      /** The amount of each pod set that requests accelerators, in their order. */
      readonly podSets: readonly PodSetAmount[];
    }
  | { readonly cost: null; readonly unknown: NoEstimate; readonly podSets: readonly [] };

/** The cost of one pod set, in US dollars per hour. */
export interface PodSetAmount {
  readonly name: string;
  readonly hourly: Range;
  /** With replicas at their floor. */
  readonly idleHourly: number;
}
