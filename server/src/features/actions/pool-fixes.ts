import type { FileAnalysis } from '../../analysis.ts';
import type { GroupFit, PoolFit } from '../../fleet/fit-question.ts';
import { type Fix, fix } from '../../rewrite/fix.ts';
import { usePool } from '../../rewrite/use-pool.ts';
import { spanOf } from '../../yaml/cursor.ts';
import { shorten } from '../../yaml/shorten.ts';
import { type Span, shiftSpan, touches } from '../../yaml/span.ts';
import { acceleratedWorkloads } from '../hover/gpu-words.ts';
import { type ProofBudget, provenTogether } from './proof.ts';

/** The selector and the tolerations of the best pool of the connected cluster, for pods in a span of the file that do not fit; offsets in the file. */
export function poolFixes(file: FileAnalysis, span: Span, budget: ProofBudget): readonly Fix[] {
  return acceleratedWorkloads(file).flatMap(({ workload, document }) => {
    const inside = shiftSpan(span, -document.base);
    if (!touches(spanOf(workload.manifest.root), inside)) return [];
    const fit = document.fitOf(workload);
    if (fit === undefined || fit.outcome === 'fits' || fit.outcome === 'runs') return [];
    return workload.podSets.flatMap((podSet): Fix[] => {
      const isHere = workload.podSets.length === 1 || touches(spanOf(podSet.pod), inside);
      const group = isHere ? fit.groups.find(({ name }) => name === podSet.name) : undefined;
      const best = group && bestPool(group);
      if (best === undefined) return [];
      const pool = { selector: best.label === null ? [] : [best.label], taints: best.missing?.taints ?? [] };
      const title = `Use pool ${shorten(best.name, 40)} (${best.free} free): ${whatChanges(best)}`;
      const change = fix(title, 'unsafe', usePool(document.document, podSet, pool));
      if (change === undefined || provenTogether({ file, document }, [{ edits: change.edits }], budget).length === 0)
        return [];
      return [
        { ...change, edits: change.edits.map((edit) => ({ ...edit, span: shiftSpan(edit.span, document.base) })) },
      ];
    });
  });
}

/** The pool with the most free devices that keeps the pods out only by its taints. */
function bestPool({ devices, pools }: GroupFit): PoolFit | undefined {
  const [needed] = devices;
  if (needed === undefined) return undefined;
  const [best] = pools
    .filter(
      ({ fits, free, missing }) =>
        fits === 0 && missing !== null && missing.labels.length === 0 && (free ?? 0) >= needed.count,
    )
    .sort((a, b) => (b.free ?? 0) - (a.free ?? 0));
  return best;
}

function whatChanges({ label, missing }: PoolFit): string {
  const taints = missing?.taints.length ?? 0;
  const toleration = taints === 1 ? 'its toleration' : 'its tolerations';
  return label === null ? `add ${toleration}` : `add its selector and ${toleration.replace('its ', '')}`;
}
