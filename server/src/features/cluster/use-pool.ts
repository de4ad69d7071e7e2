import type { PoolFit } from '../../fleet/fit-question.ts';
import { isTaintEffect } from '../../model/node-pool.ts';
import type { PodSet } from '../../model/workload.ts';
import { type Edits, joinEdits } from '../../rewrite/fix.ts';
import { selectNodes } from '../../rewrite/select-nodes.ts';
import { getIn } from '../../yaml/cursor.ts';
import { appendItem, insertKey, type PlainValue } from '../../yaml/edit.ts';
import type { YamlDocument } from '../../yaml/node.ts';

/** What selects a pool, and what its nodes reject pods by. */
export type PoolToUse = Pick<PoolFit, 'name' | 'label'> & {
  readonly taints: readonly { readonly key: string; readonly value: string; readonly effect: string }[];
};

/**
 * Selects a pool by its label and tolerates its taints. Undefined if it has no label, if the list of tolerations cannot take several at once, or if the
 * text cannot be edited without damage.
 */
export function usePool(document: YamlDocument, podSet: PodSet, { label, taints }: PoolToUse): Edits {
  const isSelected =
    label !== null && podSet.selectors.some(({ key, values }) => key === label.key && values[0]?.value === label.value);
  const selector = label === null || isSelected ? [] : [selectNodes(document, podSet, { [label.key]: label.value })];
  const edits = [...selector, ...(taints.length === 0 ? [] : [tolerate(document, podSet, taints)])];
  return edits.length === 0 ? undefined : joinEdits(...edits);
}

function tolerate(document: YamlDocument, { pod }: PodSet, taints: PoolToUse['taints']): Edits {
  const items = taints.flatMap(({ key, value, effect }): PlainValue[] =>
    isTaintEffect(effect)
      ? [value === '' ? { key, operator: 'Exists', effect } : { key, operator: 'Equal', value, effect }]
      : [],
  );
  const list = getIn(pod, 'tolerations');
  const [first, ...others] = items;
  if (first === undefined) return undefined;
  if (list === undefined) return insertKey(document, pod, 'tolerations', items);
  return list.node.kind === 'seq' && others.length === 0 ? appendItem(document, list, first) : undefined;
}
