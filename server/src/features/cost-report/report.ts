import type { Range } from '../../cost/types.ts';

/** What a set of workloads costs, for a reader. Amounts are US dollars. */
export interface CostReport {
  /** The folder or files that the report is about. */
  readonly title: string;
  readonly rows: readonly ReportedCost[];
  /** In any order. */
  readonly savings: readonly CostSaving[];
  /** `on demand at AWS us-east-1, as of 2026-07-20`; undefined without prices. */
  readonly basis: string | undefined;
}

/** A line of a file. */
export interface CostPlace {
  /** As shown; relative to a folder that the reader knows. */
  readonly path: string;
  /** From 1. */
  readonly line: number;
}

/** Advice that saves money. */
export interface CostSaving extends CostPlace {
  /** `Deployment/chat`. */
  readonly workload: string | null;
  readonly message: string;
  readonly hourly: number;
  /** The title of the fix; null if there is none. */
  readonly fix: string | null;
}

/** One workload that counts in the totals, with its place. */
export interface ReportedCost extends CostPlace {
  readonly kind: string;
  readonly name: string | null;
  readonly namespace: string | null;
  readonly team: string | null;
  readonly gpus: { readonly min: number | null; readonly max: number | null };
  readonly accelerators: string;
  readonly cards: readonly string[];
  readonly providers: readonly string[];
  readonly hourly: Range | null;
  readonly monthly: Range | null;
  readonly idleHourly: number | null;
  readonly problem: string | null;
}
