import type { FileAnalysis } from '../../analysis.ts';
import type { Finding } from '../../rules/rule.ts';
import { type Span, shiftSpan } from '../../yaml/span.ts';
import { budgetOfAnswer, provenFixes } from '../actions/proof.ts';
import { describeWorkload } from '../hover/gpu-words.ts';
import { shownFindings } from '../shown-findings.ts';
import type { CostSaving } from './report.ts';

/** A saving at its place in the file. */
export interface FoundSaving extends Omit<CostSaving, 'path' | 'line'> {
  readonly span: Span;
}

/** The findings of a file that name a saving, with their first fix that is proven. Without hints, which are shown only on request. */
export function savingsIn(file: FileAnalysis): readonly FoundSaving[] {
  const found = shownFindings(file).filter(
    ({ finding: { saving, severity } }) => saving !== null && severity !== 'hint',
  );
  if (found.length === 0) return [];
  const wasteful = new Set(found.map(({ finding }) => finding));
  const budget = budgetOfAnswer();
  const proven = new Set(
    file.documents.flatMap((document) => {
      const findings = document.findings.filter((finding) => wasteful.has(finding));
      return findings.length === 0 ? [] : [...provenFixes({ file, document }, findings, budget)];
    }),
  );
  return found.flatMap(({ finding, base }) => toSaving(finding, base, (fix) => proven.has(fix)));
}

function toSaving(
  { saving, workload, message, fixes, span }: Finding,
  base: number,
  isProven: (fix: Finding['fixes'][number]) => boolean,
): readonly FoundSaving[] {
  if (saving === null) return [];
  return [
    {
      workload: workload === null ? null : describeWorkload(workload),
      message,
      hourly: saving,
      fix: fixes.find(isProven)?.title ?? null,
      span: shiftSpan(span, base),
    },
  ];
}
