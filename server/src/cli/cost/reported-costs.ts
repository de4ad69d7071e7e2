import path from 'node:path';
import { priceBasis } from '../../features/cost/price-basis.ts';
import type { CostSaving, ReportedCosts, ReportedPool } from '../../features/cost-report/report.ts';
import { standardInput } from '../files.ts';
import type { CheckedFile } from '../reports/format.ts';
import { isDefinition } from '../reports/text.ts';
import type { PlacedCost } from './workload-costs.ts';

/** The costs of one state with all that reports for people show. */
export function reportedCosts(
  paths: readonly string[],
  rows: readonly PlacedCost[],
  files: readonly CheckedFile[],
  terraformPools: readonly ReportedPool[],
): ReportedCosts {
  const [first = '.'] = paths;
  const name = first === standardInput ? 'standard input' : path.basename(path.resolve(first)) || first;
  const title = paths.length > 1 ? `${name} and ${paths.length - 1} more` : name;
  const described = files.flatMap(({ source, pools: some }) => some.map((pool) => ({ ...pool, path: source })));
  const pools = [...described, ...terraformPools];
  const basis = priceBasis([...files.flatMap(({ rows, costs }) => (rows.length === 0 ? [] : costs)), ...pools]);
  const definitions = files.flatMap(({ file }) => file.workloads).filter(isDefinition).length;
  return { title, rows, savings: files.flatMap(savingsIn), basis, pools, definitions };
}

/** Hints are shown only on request, here as elsewhere. */
function savingsIn({ file, source }: CheckedFile): readonly CostSaving[] {
  return file.findings.flatMap(({ severity, saving, workload, message, range, fixes }) =>
    saving === undefined || severity === 'hint'
      ? []
      : [
          {
            workload,
            message,
            hourly: saving.hourly,
            fix: fixes[0]?.title ?? null,
            path: source,
            line: range.start.line,
          },
        ],
  );
}
