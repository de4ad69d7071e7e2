import type { FileAnalysis } from '../analysis.ts';
import type { Finding, Fix } from '../rules/rule.ts';
import { shiftSpan, spansOverlap, type TextEdit } from '../yaml/span.ts';

/** A fix with offsets of the file. */
export interface FileFix {
  readonly rule: string;
  readonly title: string;
  readonly safe: boolean;
  readonly edits: readonly TextEdit[];
}

/** One safe fix for each finding that has one, for "fix all" and `--fix` alike. */
export function safeFixes(file: FileAnalysis): readonly FileFix[] {
  return chooseFixes(file, ({ fixes }) => fixes.find((fix) => fix.safe));
}

/** One fix for each finding of a rule: a safe one where there is one, else the first. */
export function fixesOfRule(file: FileAnalysis, rule: string): readonly FileFix[] {
  return chooseFixes(file, (finding) =>
    finding.rule === rule ? (finding.fixes.find((fix) => fix.safe) ?? finding.fixes[0]) : undefined,
  );
}

/** Of two fixes that touch the same text the first one is taken; the other is there the next time. */
function chooseFixes(file: FileAnalysis, choose: (finding: Finding) => Fix | undefined): readonly FileFix[] {
  const fixes: FileFix[] = [];
  for (const { base, findings } of file.documents) {
    for (const finding of findings) {
      const chosen = choose(finding);
      if (chosen === undefined || chosen.edits.length === 0) continue;
      const { title, safe } = chosen;
      const edits = chosen.edits.map(({ span, newText }) => ({ span: shiftSpan(span, base), newText }));
      const clashes = fixes.some((other) => other.edits.some((one) => edits.some((edit) => touches(one, edit))));
      if (!clashes) fixes.push({ rule: finding.rule, title, safe, edits });
    }
  }
  return fixes;
}

/** Two insertions at one place do not overlap, but which comes first would be chance. */
function touches(a: TextEdit, b: TextEdit): boolean {
  return spansOverlap(a.span, b.span) || a.span.start === b.span.start;
}
