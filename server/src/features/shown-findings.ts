import { judgeTogether } from '../analysis/judge.ts';
import type { FileAnalysis } from '../analysis.ts';
import type { Finding } from '../rules/rule.ts';

/** A finding with the offset of its document, to which its span is relative. */
export interface ShownFinding {
  readonly finding: Finding;
  readonly base: number;
}

/** The findings of a file: of those that one per file is enough of, the first of each rule. */
export function shownFindings(file: FileAnalysis): readonly ShownFinding[] {
  judgeTogether([file]);
  const seen = new Set<string>();
  return file.documents.flatMap(({ findings, base }) =>
    findings
      .filter(({ rule, oncePerFile }) => !oncePerFile || (!seen.has(rule) && seen.add(rule)))
      .map((finding) => ({ finding, base })),
  );
}
