import { type Analysis, type FileAnalysis, withFindings } from '../analysis.ts';
import { keepsFile, largestGood } from '../features/actions/proof.ts';
import { type FileFix, safeFixes } from '../features/actions/safe-fixes.ts';
import { applyEdits } from '../yaml/span.ts';

/** A fix that was applied. */
export interface AppliedFix {
  readonly rule: string;
  readonly title: string;
}

/**
 * The file after all of its safe fixes, kept by the analysis under the same URI. One fix can enable another (two that touch the same text),
 * so this repeats until none is left. Each fix was proven in its document; here the whole file is read again, because documents refer to
 * each other. A file whose fixes never settle keeps its old text: a second run would change it again.
 */
export function applySafeFixes(
  analysis: Analysis,
  file: FileAnalysis,
): { file: FileAnalysis; applied: readonly AppliedFix[] } {
  const applied: AppliedFix[] = [];
  const rejected = new Set<string>();
  let current = file;
  for (let round = 0; round < maxRounds; round += 1) {
    const fixes = safeFixes(current, proofCharacters).filter((fix) => !rejected.has(nameOf(fix)));
    if (fixes.length === 0) return { file: current, applied };
    const before = current;
    // Force lazy findings before the file changes.
    withFindings(before);
    let tries = maxTries;
    const applicable = largestGood(fixes, (some) => tries-- > 0 && keepsFile(before, write(analysis, before, some)));
    const kept = new Set(applicable);
    for (const fix of fixes) if (!kept.has(fix)) rejected.add(nameOf(fix));
    applied.push(...applicable.map(({ rule, title }) => ({ rule, title })));
    current = write(analysis, before, applicable);
  }
  return { file: analysis.setFile(file.uri, file.text, current.version + 1), applied: [] };
}

/** More rounds than any real file needs; a limit in case two rules undo each other. */
const maxRounds = 50;
/** How often a file is read again to find fixes that conflict. */
const maxTries = 64;
/** How many characters may be read again to prove the fixes of a document: nobody waits at a keyboard here. */
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
