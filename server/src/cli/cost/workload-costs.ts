import type { Range } from '../../cost/types.ts';
import type { ReportFile, ReportWorkload } from '../reports/report-schema.ts';

/** What one workload costs while it runs, from a report. */
export interface WorkloadCost {
  readonly path: string;
  readonly line: number;
  readonly kind: string;
  readonly namespace: string | null;
  readonly name: string | null;
  /** Devices in all pods, from floor to ceiling; null if unknown. */
  readonly gpus: { readonly min: number | null; readonly max: number | null };
  /** US dollars per hour; null without a price. */
  readonly hourly: Range | null;
  /** US dollars per hour with replicas at their floor, for servers; null for others and without a price. */
  readonly idleHourly: number | null;
  /** Why there is no price. */
  readonly problem: string | null;
}

/** The workloads of a report that run, each once: without definitions, and without those that a kustomization counts. */
export function workloadCosts(files: readonly (ReportFile & { readonly source?: string })[]): readonly WorkloadCost[] {
  return files.flatMap(({ path, source, workloads }) =>
    workloads.filter(isRunning).map((workload) => toWorkloadCost(workload, source ?? path)),
  );
}

function isRunning({ role, countedIn, gpus }: ReportWorkload): boolean {
  return role !== 'definition' && countedIn === undefined && gpus.max !== 0;
}

function toWorkloadCost(workload: ReportWorkload, path: string): WorkloadCost {
  const { line, kind, namespace, name, gpus, role, cost, costProblem } = workload;
  return {
    path,
    line,
    kind,
    namespace,
    name,
    gpus,
    hourly: cost?.hourly ?? null,
    idleHourly: role === 'serving' ? (cost?.idleHourly ?? null) : null,
    problem: cost === null ? (costProblem ?? null) : null,
  };
}
