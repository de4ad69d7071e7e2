import type { FileAnalysis } from '../analysis.ts';
import { shiftSpan, spansOverlap, type TextEdit } from '../yaml/span.ts';

/** A safe fix with offsets of the file. */
export interface SafeFix {
  readonly rule: string;
  readonly title: string;
  readonly edits: readonly TextEdit[];
}

/**
 * One safe fix for each finding that has one, for "fix all" and `--fix` alike. Of two that touch the same text the first one is taken;
 * the other is there the next time.
 */
export function safeFixes(file: FileAnalysis): readonly SafeFix[] {
  const fixes: SafeFix[] = [];
  for (const { base, findings } of file.documents) {
    for (const { rule, fixes: offered } of findings) {
      const safe = offered.find((fix) => fix.safe);
      if (safe === undefined || safe.edits.length === 0) continue;
      const edits = safe.edits.map(({ span, newText }) => ({ span: shiftSpan(span, base), newText }));
      const clashes = fixes.some((other) => other.edits.some((one) => edits.some((edit) => touches(one, edit))));
      if (!clashes) fixes.push({ rule, title: safe.title, edits });
    }
  }
  return fixes;
}

/** Two insertions at one place do not overlap, but which comes first would be chance. */
function touches(a: TextEdit, b: TextEdit): boolean {
  return spansOverlap(a.span, b.span) || a.span.start === b.span.start;
}
