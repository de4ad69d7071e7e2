import { type CostChange, increaseOf, isChanged, isUnbounded } from '../../features/cost/cost-changes.ts';
import { workloadName } from '../../features/cost-report/charts.ts';
import { type Cell, csvLine, end, top } from '../../features/cost-report/csv.ts';
import type { CostReport } from './cost.ts';
import type { WorkloadCost } from './workload-costs.ts';

type Shown = CostChange<WorkloadCost> & { readonly shown: WorkloadCost };

const columns: readonly (readonly [string, (change: Shown) => Cell])[] = [
  ['workload', ({ shown }) => workloadName(shown)],
  ['kind', ({ shown }) => shown.kind],
  ['name', ({ shown }) => shown.name],
  ['namespace', ({ shown }) => shown.namespace],
  ['change', changeWord],
  ['file', ({ shown }) => shown.path],
  ['line', ({ shown }) => shown.line],
  ['file_before', ({ before }) => before?.path ?? null],
  ['gpus_before_min', ({ before }) => before?.gpus.min ?? null],
  ['gpus_before_max', ({ before }) => before?.gpus.max ?? null],
  ['gpus_after_min', ({ after }) => after?.gpus.min ?? null],
  ['gpus_after_max', ({ after }) => after?.gpus.max ?? null],
  ['hourly_usd_before_min', ({ before }) => end(before?.hourly ?? null, 'min')],
  ['hourly_usd_before_max', ({ before }) => top(before?.hourly ?? null, before?.isOpen ?? false)],
  ['hourly_usd_after_min', ({ after }) => end(after?.hourly ?? null, 'min')],
  ['hourly_usd_after_max', ({ after }) => top(after?.hourly ?? null, after?.isOpen ?? false)],
  ['increase_usd_min', (change) => end(increaseOf(change), 'min')],
  ['increase_usd_max', (change) => top(increaseOf(change), isUnbounded(change))],
  ['no_price_because', ({ before, after }) => after?.problem ?? before?.problem ?? null],
];

/** `new`, `removed`, `changed` or `unchanged`. */
export function changeWord(change: CostChange<WorkloadCost>): string {
  if (change.before === null) return 'new';
  return change.after === null ? 'removed' : isChanged(change) ? 'changed' : 'unchanged';
}

/** The lines of RFC 4180: a header, then one per workload of either state. Unknown values are empty. */
export function* changeCsv({ changes }: CostReport): Generator<string> {
  yield columns.map(([name]) => name).join(',');
  for (const change of changes) {
    const shown = change.after ?? change.before;
    if (shown !== null) yield csvLine(columns.map(([, of]) => of({ ...change, shown })));
  }
}
