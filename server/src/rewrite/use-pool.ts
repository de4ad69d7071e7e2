import type { LivePool } from '../fleet/cluster-view.ts';
import { poolSelector, tolerationsOf, type WrittenToleration } from '../fleet/pool-selector.ts';
import { acceleratorByName } from '../model/requested-resource.ts';
import type { PodSet, Selector, Toleration } from '../model/workload.ts';
import { getIn } from '../yaml/cursor.ts';
import { appendItem, insertKey } from '../yaml/edit.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { tableOf } from '../yaml/table.ts';
import { type Edits, joinEdits } from './fix.ts';
import { selectNodes } from './select-nodes.ts';

/** A selector of pods that the nodes of a pool do not meet, and that does not say which pool is meant. */
export function otherSelector({ selectors }: PodSet, pool: LivePool): Selector | undefined {
  const known = new Map(pool.labels.map(({ key, value }) => [key, value]));
  return selectors.find(({ key, values, from }) => {
    if (/\bzone$/.test(key) && values.some(({ value }) => pool.zones.includes(value))) return false;
    const own = known.get(key);
    // A value of the nodeSelector is replaced.
    if (own !== undefined && from === 'nodeSelector') return false;
    return own === undefined || !values.some(({ value }) => value === own);
  });
}

/** Lets pods run in a pool: its labels and what its taints require. Undefined if the text cannot be edited without damage, empty if they already can. */
export function usePool(document: YamlDocument, podSet: PodSet, pool: LivePool): Edits {
  const known = new Map(pool.labels.map(({ key, value }) => [key, value]));
  const isSelected = (key: string, value: string) =>
    podSet.selectors.some((one) => one.key === key && one.values.length === 1 && one.values[0]?.value === value);
  const wrong = podSet.selectors.flatMap(({ key, from }) => {
    const value = known.get(key);
    return from === 'nodeSelector' && value !== undefined ? [{ key, value }] : [];
  });
  const labels = [...poolSelector(pool), ...wrong].filter(({ key, value }) => !isSelected(key, value));
  return joinEdits(
    labels.length === 0 ? [] : selectNodes(document, podSet, tableOf(labels.map(({ key, value }) => [key, value]))),
    tolerate(document, podSet, pool),
  );
}

function tolerate(document: YamlDocument, { pod, tolerations, accelerators }: PodSet, pool: LivePool): Edits {
  const missing = tolerationsOf(pool.taints).filter(
    (taint) =>
      !(pool.toleratesRequested && acceleratorByName(accelerators, taint.key) !== undefined) &&
      !tolerations.some((one) => tolerates(one, taint)),
  );
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
