import type { CrossReferences, Referenced, WorkloadFacts } from '../model/cross-references.ts';
import type { Manifest } from '../model/workload.ts';
import { type Cursor, getIn } from '../yaml/cursor.ts';
import { tableOf } from '../yaml/table.ts';

/** A PodDisruptionBudget without a selector, which selects no pods, next to the only GPU workload that it can be meant for. */
export interface UnmetBudget {
  /** The bound of the budget. */
  readonly at: Cursor;
  readonly workload: Referenced<WorkloadFacts>;
}

/** The budget that should have a selector. */
export function unmetBudget(manifest: Manifest, references: CrossReferences): UnmetBudget | undefined {
  const { root, namespace, isPatch, document } = manifest;
  const spec = getIn(root, 'spec');
  const at = getIn(spec, 'minAvailable') ?? getIn(spec, 'maxUnavailable');
  if (isPatch === true || document.template || at === undefined || getIn(spec, 'selector') !== undefined)
    return undefined;
  const [workload, ...others] = references
    .keptRunning(namespace, tableOf([]))
    .filter(({ file, facts }) => file === null && Object.values(facts.demand).some((count) => count > 0));
  return workload === undefined || others.length > 0 ? undefined : { at, workload };
}
