import type { CostRow } from '../cost/cost-rows.ts';
import type { PoolRow } from '../pool-lens.ts';

/** What a set of workloads costs, for a reader. Amounts are US dollars. */
export interface ReportedCosts<Row extends ReportedCost = ReportedCost, Saving extends CostSaving = CostSaving> {
  /** The folder or files that the report is about. */
  readonly title: string;
  readonly rows: readonly Row[];
  /** In any order. */
  readonly savings: readonly Saving[];
  /** `on demand at AWS us-east-1, as of 2026-07-20`; undefined without prices. */
  readonly basis: string | undefined;
  /** The node pools of the files; absent in an editor. */
  readonly pools?: readonly ReportedPool[];
  /** The number of definitions, whose pods others run: totals do not include them. Absent in an editor. */
  readonly definitions?: number;
}

/** A node pool with its place. The totals do not include it. */
export interface ReportedPool extends CostPlace, Omit<PoolRow, 'start'> {}

/** A line of a file. */
export interface CostPlace {
  /** As shown; relative to a folder that the reader knows. */
  readonly path: string;
  /** From 1. */
  readonly line: number;
}

/** One workload that counts in the totals, with its place. */
export interface ReportedCost
  extends CostPlace,
    Pick<
      CostRow,
      | 'kind'
      | 'name'
      | 'namespace'
      | 'team'
      | 'gpus'
      | 'cards'
      | 'providers'
      | 'capacity'
      | 'hourly'
      | 'caveat'
      | 'isOpen'
      | 'monthly'
      | 'run'
      | 'possibleHourly'
      | 'nodeHourly'
      | 'idleHourly'
      | 'problem'
    > {}

/** Advice that saves money. */
export interface CostSaving extends CostPlace {
  /** `Deployment/chat`. */
  readonly workload: string | null;
  readonly message: string;
  readonly hourly: number;
  /** The title of the fix; null without one. */
  readonly fix: string | null;
}

/** The largest savings first. */
export function largestSavings<T extends CostSaving>(savings: readonly T[], count = 10): readonly T[] {
  return [...savings].sort((a, b) => b.hourly - a.hourly).slice(0, count);
}
