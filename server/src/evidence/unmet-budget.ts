import { isSlip } from '../catalog/spelling.ts';
import type { CrossReferences, Referenced, WorkloadFacts } from '../model/cross-references.ts';
import type { Manifest } from '../model/workload.ts';
import { asText, type Cursor, entries, getIn, keyOf } from '../yaml/cursor.ts';
import { tableOf } from '../yaml/table.ts';

/** A PodDisruptionBudget that selects no pods, next to a workload that it can only be meant for. */
export interface UnmetBudget {
  /** The label that the workload's pods do not have, or the bound of a budget without a selector. */
  readonly at: Cursor;
  /** Undefined if the budget has no selector. */
  readonly label: string | undefined;
  readonly workload: Referenced<WorkloadFacts>;
}

/** What keeps a budget from protecting the only GPU workload of its file. */
export function unmetBudget(manifest: Manifest, references: CrossReferences): UnmetBudget | undefined {
  const { root, namespace, isPatch, document } = manifest;
  const spec = getIn(root, 'spec');
  const selector = getIn(spec, 'selector');
  const labels = entries(getIn(selector, 'matchLabels'));
  if (isPatch === true || document.template) return undefined;
  const [workload, ...others] = references
    .keptRunning(namespace, tableOf([]))
    .filter(({ file, facts }) => file === null && Object.values(facts.demand).some((count) => count > 0));
  const bound = getIn(spec, 'minAvailable') ?? getIn(spec, 'maxUnavailable');
  if (workload === undefined || others.length > 0 || bound === undefined) return undefined;
  if (selector === undefined) return { at: bound, label: undefined, workload };
  if (labels.length === 0 || entries(selector).length > 1) return undefined;
  const wanted = labels.map((label): [string, string] => [keyOf(label), asText(label) ?? '']);
  if (references.keptRunning(namespace, tableOf(wanted)).length > 0) return undefined;
  // Other pods may have entirely different labels, and a kustomization may add one that these lack.
  const at = labels.find((label) => {
    const [own, value] = [workload.facts.labels[keyOf(label)], asText(label) ?? ''];
    return own !== undefined && own !== value && (isSlip(value, own) || value === workload.name);
  });
  return at && { at, label: `${keyOf(at)}=${asText(at) ?? ''}`, workload };
}
