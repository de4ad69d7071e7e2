import { type CostTotal, totalOf } from '../cost/cost-totals.ts';
import type { CostSaving, ReportedCost, ReportedCosts, ReportedPool } from './report.ts';
import { pick, rowFields, totalFields } from './state-fields.ts';

/** The content of `gpulint cost --format json` without a base. schemas/cost.schema.json describes it. */
export interface CostReportJson {
  readonly version: 1;
  readonly currency: 'USD';
  readonly base: null;
  readonly workloads: {
    readonly kind: string;
    readonly namespace: string | null;
    readonly name: string | null;
    readonly before: null;
    readonly after: WorkloadJson;
    readonly increase: null;
  }[];
  readonly before: null;
  readonly after: Pick<CostTotal, (typeof totalFields)[number]>;
  readonly increase: null;
  readonly savings: readonly CostSaving[];
  readonly priceBasis: string | null;
  readonly nodePools?: readonly Pick<ReportedPool, (typeof poolFields)[number]>[];
}

/** One workload of one state. */
export type WorkloadJson = Pick<ReportedCost, (typeof rowFields)[number]>;

const savingFields = ['workload', 'message', 'hourly', 'fix', 'path', 'line'] as const;

const poolFields = ['path', 'line', 'name', 'nodeHourly', 'nodes', 'limitHourly', 'problem'] as const;

export function costReportJson({ rows, savings, basis, pools = [] }: ReportedCosts): CostReportJson {
  return {
    version: 1,
    currency: 'USD',
    base: null,
    workloads: rows.map((row) => {
      const { kind, namespace, name } = row;
      return { kind, namespace, name, before: null, after: pick(row, rowFields), increase: null };
    }),
    before: null,
    after: pick(totalOf(rows), totalFields),
    increase: null,
    savings: savings.map((saving) => pick(saving, savingFields)),
    priceBasis: basis ?? null,
    ...(pools.length === 0 ? {} : { nodePools: pools.map((pool) => pick(pool, poolFields)) }),
  };
}
