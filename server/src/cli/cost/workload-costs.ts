import type { Range } from '../../cost/types.ts';
import { type CostRow, isListed } from '../../features/cost/cost-rows.ts';
import type { CountedAmounts } from '../../features/cost/cost-totals.ts';
import type { CheckedFile } from '../reports/format.ts';
import type { ReportFile } from '../reports/report-schema.ts';
import { countedCost } from '../reports/summary.ts';

/** What one workload costs while it runs, from a check or from an earlier report. */
export interface WorkloadCost extends Pick<CostRow, 'kind' | 'namespace' | 'name' | 'problem'>, CountedAmounts {
  /** Below the root of the repository. */
  readonly path: string;
  readonly line: number;
  readonly nodeHourly: Range | null;
  /** As in a row; absent from earlier reports. */
  readonly amountNotes?: string;
  readonly run?: string | null;
}

/** A row with its place, for formats that show all of it. */
export interface PlacedCost extends CostRow, Pick<WorkloadCost, 'path' | 'line'> {}

/** The rows of a check that count: each workload once. */
export function costsInFiles(files: readonly CheckedFile[]): readonly PlacedCost[] {
  return files.flatMap(({ source, rows }) => rows.filter(isListed).map((row) => ({ ...row, path: source })));
}

/** The workloads of a report that count, each once: without definitions, and without those that other files count. */
export function workloadCosts(files: readonly ReportFile[]): readonly WorkloadCost[] {
  return files.flatMap(({ path, workloads }) =>
    workloads.flatMap((workload) => {
      const { line, kind, namespace, name, countedIn, release } = workload;
      const counted = countedCost(workload);
      const runsNothing = workload.role === 'definition' && release === undefined;
      if (
        runsNothing ||
        countedIn !== undefined ||
        !isListed({ ...counted, release: release === undefined ? null : path })
      )
        return [];
      return [{ path, line, kind, namespace, name, ...counted }];
    }),
  );
}
