import { HOURS_PER_MONTH } from '../../cost/money.ts';
import { timesCount } from '../../cost/range.ts';
import type { CostRow } from '../../features/cost/cost-rows.ts';
import { type CountedAmounts, withoutNoise } from '../../features/cost/cost-totals.ts';
import type { Severity } from '../../rules/rule.ts';
import type { Report, ReportFile, ReportWorkload } from './report-schema.ts';

/** The summary of a report: totals of the known values. */
export function summarizeReport(files: readonly ReportFile[]): Report['summary'] {
  const findings: Record<Severity, number> = { error: 0, warning: 0, info: 0, hint: 0 };
  for (const { severity } of files.flatMap((file) => file.findings)) findings[severity] += 1;
  const workloads = countedWorkloads(files);
  const baselined = files.reduce((sum, file) => sum + (file.baselined ?? 0), 0);
  const skipped = files.filter(({ parse }) => parse === 'skipped').length;
  const unpriced = workloads.filter(isUnpriced).length;
  return {
    files: files.length,
    ...(skipped === 0 ? {} : { skipped }),
    workloads: workloads.length,
    findings,
    ...(baselined === 0 ? {} : { baselined }),
    gpus: sumOfRanges(workloads.map((workload) => countedCost(workload).gpus)),
    hourly: sumOfRanges(workloads.map((workload) => countedCost(workload).hourly ?? nothing)),
    ...(unpriced === 0 ? {} : { unpriced }),
    ...rangedTotal(workloads),
  };
}

/** Whether a workload runs and has no price. */
function isUnpriced(workload: ReportWorkload): boolean {
  const { hourly, gpus } = countedCost(workload);
  return hourly === null && gpus.max !== 0 && (workload.role !== 'definition' || workload.release !== undefined);
}

function rangedTotal(workloads: readonly ReportWorkload[]): Pick<Report['summary'], 'ranged'> {
  const ranges = workloads.flatMap((workload) => countedCost(workload).possibleHourly ?? []);
  return ranges.length === 0 ? {} : { ranged: { workloads: ranges.length, hourly: sumOfRanges(ranges) } };
}

/** The workloads that the totals include: each runs once per entry. */
export function countedWorkloads(files: readonly ReportFile[]): readonly ReportWorkload[] {
  return files.flatMap(({ workloads }) => workloads.filter(({ countedIn }) => countedIn === undefined));
}

/** What totals count of a workload: for values, their release. */
export function countedCost(workload: ReportWorkload): CountedAmounts & Pick<CostRow, 'problem' | 'nodeHourly'> {
  const { release, gpus, cost, costRange, costProblem, role, roleConfidence } = workload;
  if (release !== undefined)
    return {
      ...release,
      isOpen: release.open === true,
      monthly: release.hourly && timesCount(release.hourly, HOURS_PER_MONTH),
      possibleHourly: release.costRange?.hourly ?? null,
      nodeHourly: release.nodeHourly ?? null,
      problem: release.costProblem ?? null,
    };
  const possibleHourly = costRange?.hourly ?? null;
  const isServer = role === 'serving' && roleConfidence !== 'guess';
  const idleHourly = isServer ? (cost?.idleHourly ?? null) : null;
  return {
    gpus,
    hourly: cost?.hourly ?? null,
    isOpen: cost?.open === true,
    // Reports of earlier versions do not say which workloads end.
    monthly: cost === null ? null : cost.run === undefined ? cost.monthly : cost.run.monthly,
    possibleHourly,
    idleHourly,
    nodeHourly: workload.nodeHourly ?? null,
    problem: cost === null ? (costProblem ?? null) : null,
  };
}

const nothing = { min: null, max: null };

function sumOfRanges(ranges: readonly { readonly min: number | null; readonly max: number | null }[]): {
  min: number;
  max: number;
} {
  let min = 0;
  let max = 0;
  for (const range of ranges) {
    min += range.min ?? 0;
    max += range.max ?? range.min ?? 0;
  }
  return { min: withoutNoise(min), max: withoutNoise(max) };
}
