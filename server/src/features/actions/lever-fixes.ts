import type { FileAnalysis } from '../../analysis.ts';
import type { Fix } from '../../rewrite/fix.ts';
import { spanOf } from '../../yaml/cursor.ts';
import { type Span, shiftSpan, touches } from '../../yaml/span.ts';
import { acceleratedWorkloads } from '../hover/gpu-words.ts';
import { leversOf } from '../levers.ts';
import { trainingFixes } from '../training-fixes.ts';
import { type ProofBudget, provenTogether } from './proof.ts';

/**
 * Cheaper machines and regions for the pods whose selector or GPU request is in a span of the file, and flags with which their training takes less
 * memory; with offsets in the file.
 */
export function leverFixes(file: FileAnalysis, span: Span, budget: ProofBudget): readonly Fix[] {
  return acceleratedWorkloads(file).flatMap(({ workload, document }) => {
    const inside = shiftSpan(span, -document.base);
    if (!touches(spanOf(workload.manifest.root), inside)) return [];
    return workload.podSets.flatMap((podSet) => {
      const requests = podSet.containers.flatMap(({ accelerators }) =>
        accelerators.flatMap(({ limit, request }) => [limit, request].flatMap((quantity) => quantity?.at ?? [])),
      );
      const isOnRequest = requests.some((at) => touches(spanOf(at), inside));
      const selectors = podSet.selectors.flatMap(({ values }) => values.map(({ at }) => spanOf(at)));
      if (!isOnRequest && !selectors.some((one) => touches(one, inside))) return [];
      const less = isOnRequest ? podSet.containers.flatMap((container) => trainingFixes(workload, container)) : [];
      const cheaper = leversOf(workload, podSet, document, file.config).flatMap(({ step }): Fix[] =>
        step === undefined || (!isOnRequest && !touches(step.at, inside)) ? [] : [step.fix],
      );
      return [...cheaper, ...less].flatMap((fix): Fix[] => {
        if (provenTogether({ file, document }, [{ edits: fix.edits }], budget).length === 0) return [];
        const edits = fix.edits.map((edit) => ({ ...edit, span: shiftSpan(edit.span, document.base) }));
        return [{ ...fix, edits }];
      });
    });
  });
}
