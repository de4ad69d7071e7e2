import type { Assumption } from './assumption.ts';
import type { NoEstimate } from './no-estimate.ts';

/** An amount that depends on the number of pods, the price, or both. US dollars. */
export interface Range {
  readonly min: number;
  readonly max: number;
}

/** What a workload costs while it runs. */
export interface CostEstimate {
  readonly currency: 'USD';
  readonly hourly: Range;
  /** 730 hours. */
  readonly monthly: Range;
  /** What it costs an hour with no traffic or work: replicas at their floor. */
  readonly idleHourly: number;
  /** At the cheapest spot offers of the same providers and regions, on the machine of the basis where that is known. */
  readonly spotHourly: Range | null;
  readonly basis: readonly CostBasis[];
  /** Some may repeat: their words do not. */
  readonly assumptions: readonly Assumption[];
}

/** One price that the estimate rests on. */
export interface CostBasis {
  readonly podSet: string;
  /** null: the project's own price of a GPU, wherever it runs. */
  readonly provider: string | null;
  readonly region: string;
  readonly instanceType: string;
  readonly pricing: 'on-demand' | 'spot' | 'reserved';
  readonly instanceHourly: number;
  /** The same instance on spot; null where no price is known, absent where the basis itself is a spot price. */
  readonly spotInstanceHourly?: number | null;
  /** The part of the instance that one pod takes. */
  readonly share: number;
  readonly asOf: string | null;
  /** Of the catalogue's price; null where the config has the price. */
  readonly source: string | null;
}

/** The estimate, or why there is none. */
export type CostResult =
  | {
      readonly cost: CostEstimate;
      readonly unknown: null;
      /** The parts of the estimate, in the order of the pod sets that request accelerators. */
      readonly podSets: readonly PodSetAmount[];
    }
  | { readonly cost: null; readonly unknown: NoEstimate; readonly podSets: readonly [] };

/** What the pods of one set cost, in US dollars an hour. */
export interface PodSetAmount {
  readonly name: string;
  readonly hourly: Range;
  /** At the floor of replicas. */
  readonly idleHourly: number;
}
