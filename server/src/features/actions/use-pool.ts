import type { FileAnalysis } from '../../analysis.ts';
import type { LivePool } from '../../fleet/cluster-view.ts';
import { poolSelector } from '../../fleet/pool-selector.ts';
import { acceleratorByName } from '../../model/requested-resource.ts';
import type { PodSet, Selector } from '../../model/workload.ts';
import { fix } from '../../rewrite/fix.ts';
import { type PoolToUse, usePool } from '../../rewrite/use-pool.ts';
import { spanOf } from '../../yaml/cursor.ts';
import { shorten } from '../../yaml/shorten.ts';
import { isAt, shiftSpan, type TextEdit } from '../../yaml/span.ts';
import { budgetOfAnswer, provenTogether } from './proof.ts';

/** The edits, with offsets in the file, or a sentence with the reason why there are none. */
export type PoolChange = { readonly edits: readonly TextEdit[] } | { readonly problem: string };

/** Lets the GPU pods of the workload at an offset run in a pool of the connected cluster. */
export function poolChange(file: FileAnalysis, offset: number, pool: LivePool): PoolChange {
  const name = shorten(pool.name);
  const found = file.documents
    .flatMap((document) => document.workloads.map((workload) => ({ document, workload })))
    .find(({ document, workload }) => isAt(shiftSpan(spanOf(workload.manifest.root), document.base), offset));
  const podSets = found?.workload.podSets.filter(({ accelerators }) => accelerators.length > 0) ?? [];
  if (found === undefined || podSets.length === 0)
    return { problem: 'Place the cursor in a workload that requests GPUs.' };
  const { document } = found;
  for (const podSet of podSets) {
    const other = otherSelector(podSet, pool);
    if (other === undefined) continue;
    const values = other.values.map(({ value }) => shorten(value)).join(' or ');
    const problem = `The pods select ${shorten(other.key)} ${values}, which the nodes of ${name} do not have. Remove it first.`;
    return { problem };
  }
  const parts = podSets.map((podSet) => usePool(document.document, podSet, toUse(podSet, pool)));
  if (parts.every((part) => part?.length === 0)) return { problem: `The pods already select ${name}.` };
  const change = fix(`Use the pool ${name}`, 'unsafe', ...parts);
  const proven = change && provenTogether({ file, document }, [{ edits: change.edits }], budgetOfAnswer());
  if (proven?.[0] === undefined) return { problem: 'This workload cannot be changed without breaking the file.' };
  return { edits: proven[0].edits.map((edit) => ({ ...edit, span: shiftSpan(edit.span, document.base) })) };
}

/** A selector of pods that the nodes of a pool do not meet, and whose value in the pool is unknown. */
function otherSelector({ selectors }: PodSet, { labels, zones }: LivePool): Selector | undefined {
  const known = new Map(labels.map(({ key, value }) => [key, value]));
  return selectors.find(({ key, values, from }) => {
    if (/\bzone$/.test(key) && values.some(({ value }) => zones.includes(value))) return false;
    const own = known.get(key);
    // A value of the nodeSelector is replaced.
    if (own !== undefined && from === 'nodeSelector') return false;
    return own === undefined || !values.some(({ value }) => value === own);
  });
}

/** What pods need for a pool, with the values that the pool has for what they select now. */
function toUse({ selectors, accelerators }: PodSet, pool: LivePool): PoolToUse {
  const known = new Map(pool.labels.map(({ key, value }) => [key, value]));
  const selected = selectors.flatMap(({ key, from }) => {
    const value = known.get(key);
    return from === 'nodeSelector' && value !== undefined ? [{ key, value }] : [];
  });
  return {
    selector: [...poolSelector(pool), ...selected],
    // The platform adds these tolerations.
    taints: pool.taints.filter(
      ({ key }) => !pool.toleratesRequested || acceleratorByName(accelerators, key) === undefined,
    ),
  };
}
