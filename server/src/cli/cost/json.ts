import { type CostChange, increaseOf, totalIncrease } from '../../features/cost/cost-changes.ts';
import { pick, stateFields, totalFields } from '../../features/cost-report/state-fields.ts';
import { jsonText } from '../terminal.ts';
import type { CostReport } from './cost.ts';
import type { CostJson } from './cost-schema.ts';
import type { WorkloadCost } from './workload-costs.ts';

/** The costs of two states as one JSON document. */
export function* renderChangeJson({ base, changes, before, after }: CostReport): Generator<string> {
  const report: CostJson = {
    version: 1,
    currency: 'USD',
    base,
    workloads: changes.flatMap((change) => toJson(change, base !== null)),
    before: before && pick(before, totalFields),
    after: pick(after, totalFields),
    increase: before === null ? null : totalIncrease(before, after, changes).hourly,
  };
  yield `${jsonText(report, 2)}\n`;
}

function toJson(change: CostChange<WorkloadCost>, isCompared: boolean): CostJson['workloads'] {
  const { before, after } = change;
  const shown = after ?? before;
  if (shown === null) return [];
  const { kind, namespace, name } = shown;
  const increase = isCompared ? increaseOf(change) : null;
  return [{ kind, namespace, name, before: stateOf(before), after: stateOf(after), increase }];
}

function stateOf(workload: WorkloadCost | null): CostJson['workloads'][number]['before'] {
  return workload && pick(workload, stateFields);
}
