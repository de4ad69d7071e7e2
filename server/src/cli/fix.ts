import type { Analysis, FileAnalysis } from '../analysis.ts';
import { type FileFix, safeFixes } from '../features/safe-fixes.ts';
import { applyEdits } from '../yaml/span.ts';

/** A fix that was applied. */
export interface AppliedFix {
  readonly rule: string;
  readonly title: string;
}

/**
 * The file after all of its safe fixes, held by the analysis under the same uri. One fix may make room for another (two that
 * touch the same text), so it goes on until none is left. Fixes that together leave the file harder to read are tried one by one, and
 * one that does so alone is not applied.
 */
export function applySafeFixes(
  analysis: Analysis,
  file: FileAnalysis,
): { file: FileAnalysis; applied: readonly AppliedFix[] } {
  const applied: AppliedFix[] = [];
  const refused = new Set<string>();
  let current = file;
  for (let round = 0; round < maxRounds; round += 1) {
    const fixes = safeFixes(current).filter((fix) => !refused.has(nameOf(fix)));
    if (fixes.length === 0) break;
    const taken = [fixes, ...fixes.map((fix) => [fix])].find((some) => !harms(analysis, current, some));
    if (taken === undefined) for (const fix of fixes) refused.add(nameOf(fix));
    else applied.push(...taken.map(({ rule, title }) => ({ rule, title })));
    current = write(analysis, current, taken ?? []);
  }
  return { file: current, applied };
}

/** More rounds than any real file needs; a bound, should two rules ever undo each other. */
const maxRounds = 10;

/** Whether the text can be read less well than before. */
function harms(analysis: Analysis, file: FileAnalysis, fixes: readonly FileFix[]): boolean {
  const next = write(analysis, file, fixes);
  return next.parse !== file.parse || problemsOf(next) > problemsOf(file);
}

function problemsOf({ yaml }: FileAnalysis): number {
  return yaml.documents.reduce((sum, { problems }) => sum + problems.length, 0);
}

function write(analysis: Analysis, file: FileAnalysis, fixes: readonly FileFix[]): FileAnalysis {
  const text = applyEdits(
    file.text,
    fixes.flatMap(({ edits }) => edits),
  );
  return analysis.setFile(file.uri, text, file.version + 1);
}

function nameOf({ rule, title, edits }: FileFix): string {
  return `${rule} ${title} ${edits[0]?.span.start}`;
}
