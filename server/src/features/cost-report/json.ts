import type { Range } from '../../cost/types.ts';
import { type CostTotal, totalOf } from '../cost/cost-totals.ts';
import type { CostSaving, ReportedCost, ReportedCosts, ReportedPool } from './report.ts';
import { pick, rowFields } from './state-fields.ts';

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
  readonly after: CostTotal;
  readonly increase: null;
  readonly savings: readonly CostSaving[];
  readonly priceBasis: string | null;
  /** Those with a price. */
  readonly nodePools?: readonly (Pick<ReportedPool, (typeof poolFields)[number]> & { readonly nodeHourly: Range })[];
}

/** One workload of one state. */
export type WorkloadJson = Pick<ReportedCost, (typeof rowFields)[number]>;

const savingFields = ['workload', 'message', 'hourly', 'fix', 'path', 'line'] as const;

const poolFields = ['path', 'line', 'name', 'nodeHourly', 'nodes', 'limitHourly'] as const;

export function costReportJson({ rows, savings, basis, pools = [] }: ReportedCosts): CostReportJson {
  const priced = pools.flatMap((pool) => {
    const { nodeHourly } = pool;
    return nodeHourly === null ? [] : [{ ...pick(pool, poolFields), nodeHourly }];
  });
  return {
    version: 1,
    currency: 'USD',
    base: null,
    workloads: rows.map((row) => {
      const { kind, namespace, name } = row;
      return { kind, namespace, name, before: null, after: pick(row, rowFields), increase: null };
    }),
    before: null,
    after: totalOf(rows),
    increase: null,
    savings: savings.map((saving) => pick(saving, savingFields)),
    priceBasis: basis ?? null,
    ...(priced.length === 0 ? {} : { nodePools: priced }),
  };
}
