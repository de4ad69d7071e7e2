import { type CostTotal, totalOf } from '../cost/cost-totals.ts';
import type { CostSaving, ReportedCost, ReportedCosts } from './report.ts';

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
}

/** One workload of one state. */
export type WorkloadJson = Pick<
  ReportedCost,
  | 'path'
  | 'line'
  | 'gpus'
  | 'hourly'
  | 'isOpen'
  | 'monthly'
  | 'run'
  | 'possibleHourly'
  | 'idleHourly'
  | 'problem'
  | 'team'
  | 'cards'
  | 'providers'
>;

export function costReportJson({ rows, savings, basis }: ReportedCosts): CostReportJson {
  return {
    version: 1,
    currency: 'USD',
    base: null,
    workloads: rows.map((row) => {
      const { kind, namespace, name } = row;
      return { kind, namespace, name, before: null, after: workloadJson(row), increase: null };
    }),
    before: null,
    after: totalOf(rows),
    increase: null,
    savings: savings.map(savingJson),
    priceBasis: basis ?? null,
  };
}

function workloadJson(row: ReportedCost): WorkloadJson {
  const { path, line, gpus, hourly, isOpen, monthly, run, possibleHourly, idleHourly, problem } = row;
  const { team, cards, providers } = row;
  return {
    path,
    line,
    gpus,
    hourly,
    isOpen,
    monthly,
    run,
    possibleHourly,
    idleHourly,
    problem,
    team,
    cards,
    providers,
  };
}

function savingJson({ workload, message, hourly, fix, path, line }: CostSaving): CostSaving {
  return { workload, message, hourly, fix, path, line };
}
