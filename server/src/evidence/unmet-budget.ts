import { isSlip } from '../catalog/spelling.ts';
import type { CrossReferences, Referenced, WorkloadFacts } from '../model/cross-references.ts';
import type { Manifest } from '../model/workload.ts';
import { asText, type Cursor, entries, getIn, isIncomplete, isUnseen, keyOf } from '../yaml/cursor.ts';
import { tableOf } from '../yaml/table.ts';

/** A PodDisruptionBudget that selects no pods, next to a workload that it can only be meant for. */
export interface UnmetBudget {
  /** The label that the workload's pods do not have, or the bound of a budget without a selector. */
  readonly at: Cursor;
  /** Undefined if the budget has no selector. */
  readonly label: string | undefined;
  /** Whether a kustomization may add the label to the pods: they have none of that key. */
  readonly mayBeAdded: boolean;
  readonly workload: Referenced<WorkloadFacts>;
}

/** What keeps a budget from protecting the only GPU workload of its file. */
export function unmetBudget(manifest: Manifest, references: CrossReferences): UnmetBudget | undefined {
  const { root, namespace, isPatch } = manifest;
  const spec = getIn(root, 'spec');
  const selector = getIn(spec, 'selector');
  const matchLabels = getIn(selector, 'matchLabels');
  const labels = entries(matchLabels);
  if (spec === undefined || isPatch === true || [root, spec, selector, matchLabels, ...labels].some(isUnseen))
    return undefined;
  const [workload, ...others] = references
    .keptRunning(namespace, tableOf([]))
    .filter(({ file, facts }) => file === null && Object.values(facts.demand).some((count) => count > 0));
  const bound = getIn(spec, 'minAvailable') ?? getIn(spec, 'maxUnavailable');
  if (workload === undefined || others.length > 0 || bound === undefined || isIncomplete(bound)) return undefined;
  if (selector === undefined) return { at: bound, label: undefined, mayBeAdded: false, workload };
  if (labels.length === 0 || entries(selector).length > 1) return undefined;
  const wanted = labels.map((label): [string, string] => [keyOf(label), asText(label) ?? '']);
  if (references.keptRunning(namespace, tableOf(wanted)).length > 0) return undefined;
  const own = workload.facts.labels;
  const names = new Set([workload.name, ...Object.values(own)]);
  // Other pods may have entirely different labels.
  const at = labels.find((label) => {
    const [key, value] = [keyOf(label), asText(label) ?? ''];
    const has = own[key];
    return has === undefined ? names.has(value) : has !== value && (isSlip(value, has) || names.has(value));
  });
  return at && { at, label: `${keyOf(at)}=${asText(at) ?? ''}`, mayBeAdded: own[keyOf(at)] === undefined, workload };
}
