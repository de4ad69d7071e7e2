import type { Analysis, FileAnalysis } from '../analysis.ts';
import { keepsFile, largestGood } from '../features/actions/proof.ts';
import { type FileFix, safeFixes } from '../features/actions/safe-fixes.ts';
import { applyEdits } from '../yaml/span.ts';

/** A fix that was applied. */
export interface AppliedFix {
  readonly rule: string;
  readonly title: string;
}

/**
 * The file after all of its safe fixes, held by the analysis under the same uri. One fix may make room for another (two that touch the
 * same text), so it goes on until none is left. Each fix was proven in its document; here the file as a whole is read again, because
 * documents name each other. A file whose fixes find no end is left as it was: a second run would change it again.
 */
export function applySafeFixes(
  analysis: Analysis,
  file: FileAnalysis,
): { file: FileAnalysis; applied: readonly AppliedFix[] } {
  const applied: AppliedFix[] = [];
  const refused = new Set<string>();
  let current = file;
  for (let round = 0; round < maxRounds; round += 1) {
    const fixes = safeFixes(current, proofCharacters).filter((fix) => !refused.has(nameOf(fix)));
    if (fixes.length === 0) return { file: current, applied };
    const before = current;
    // What is not worked out yet must be so before the file is another.
    for (const document of before.documents) void document.findings;
    let tries = maxTries;
    const taken = largestGood(fixes, (some) => tries-- > 0 && keepsFile(before, write(analysis, before, some)));
    const kept = new Set(taken);
    for (const fix of fixes) if (!kept.has(fix)) refused.add(nameOf(fix));
    applied.push(...taken.map(({ rule, title }) => ({ rule, title })));
    current = write(analysis, before, taken);
  }
  return { file: analysis.setFile(file.uri, file.text, current.version + 1), applied: [] };
}

/** More rounds than any real file needs; a bound, should two rules ever undo each other. */
const maxRounds = 50;
/** How often a file is read again to find the fixes that do not go together. */
const maxTries = 64;
/** What may be read again to prove the fixes of a document: nobody waits at a keyboard for it. */
const proofCharacters = 16_000_000;

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
