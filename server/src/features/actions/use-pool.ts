import type { FileAnalysis } from '../../analysis.ts';
import type { LivePool } from '../../fleet/cluster-view.ts';
import { fix } from '../../rewrite/fix.ts';
import { otherSelector, usePool } from '../../rewrite/use-pool.ts';
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
  const parts = podSets.map((podSet) => usePool(document.document, podSet, pool));
  if (parts.every((part) => part?.length === 0)) return { problem: `The pods already select ${name}.` };
  const change = fix(`Use the pool ${name}`, 'unsafe', ...parts);
  const proven = change && provenTogether({ file, document }, [{ edits: change.edits }], budgetOfAnswer());
  if (proven?.[0] === undefined) return { problem: 'This workload cannot be changed without breaking the file.' };
  return { edits: proven[0].edits.map((edit) => ({ ...edit, span: shiftSpan(edit.span, document.base) })) };
}
