import type { LabelValue, LiveTaint } from '../fleet/cluster-view.ts';
import { tolerationsOf, type WrittenToleration } from '../fleet/pool-selector.ts';
import type { PodSet, Toleration } from '../model/workload.ts';
import { getIn } from '../yaml/cursor.ts';
import { appendItem, insertKey } from '../yaml/edit.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { tableOf } from '../yaml/table.ts';
import { type Edits, joinEdits } from './fix.ts';
import { selectNodes } from './select-nodes.ts';

/** What pods must select, and what they must tolerate. */
export interface PoolToUse {
  readonly selector: readonly LabelValue[];
  readonly taints: readonly LiveTaint[];
}

/** Lets pods run in a pool. Undefined if the text cannot be edited without damage, empty if they already can. */
export function usePool(document: YamlDocument, podSet: PodSet, { selector, taints }: PoolToUse): Edits {
  const isSelected = ({ key, value }: LabelValue) =>
    podSet.selectors.some((one) => one.key === key && one.values.length === 1 && one.values[0]?.value === value);
  const labels = selector.filter((label) => !isSelected(label));
  const selected =
    labels.length === 0 ? [] : selectNodes(document, podSet, tableOf(labels.map(({ key, value }) => [key, value])));
  return joinEdits(selected, tolerate(document, podSet, taints));
}

function tolerate(document: YamlDocument, { pod, tolerations }: PodSet, taints: readonly LiveTaint[]): Edits {
  const missing = tolerationsOf(taints).filter((taint) => !tolerations.some((one) => tolerates(one, taint)));
  if (missing.length === 0) return [];
  const list = getIn(pod, 'tolerations');
  const written = missing.map((one) => ({ ...one }));
  if (list === undefined) return insertKey(document, pod, 'tolerations', written, { after: 'nodeSelector' });
  return list.node.kind === 'seq' ? joinEdits(...written.map((one) => appendItem(document, list, one))) : undefined;
}

function tolerates({ key, operator, value, effect }: Toleration, taint: WrittenToleration): boolean {
  if (effect !== undefined && effect.value !== '' && effect.value !== taint.effect) return false;
  const exists = operator?.value === 'Exists';
  if (key === undefined || key.value === '') return exists;
  return key.value === taint.key && (exists || (value?.value ?? '') === (taint.value ?? ''));
}
