import fs from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import type { Analysis, FileAnalysis } from '../analysis.ts';
import { applyEdits, shiftSpan, spansOverlap, type TextEdit } from '../yaml/span.ts';

/** A fix that was applied. */
export interface AppliedFix {
  readonly rule: string;
  readonly title: string;
}

/**
 * The file after all of its safe fixes, held by the analysis under the same uri. One fix may make room for another (two that
 * touch the same text), so it goes on until none is left. A fix that would leave the file harder to read is not applied.
 */
export function applySafeFixes(
  analysis: Analysis,
  file: FileAnalysis,
): { file: FileAnalysis; applied: readonly AppliedFix[] } {
  const applied: AppliedFix[] = [];
  let current = file;
  for (let round = 0; round < maxRounds; round += 1) {
    const { edits, fixes } = collect(current);
    if (fixes.length === 0) break;
    const next = analysis.setFile(current.uri, applyEdits(current.text, edits), current.version + 1);
    if (next.parse !== current.parse) {
      return { file: analysis.setFile(current.uri, current.text, next.version + 1), applied };
    }
    applied.push(...fixes);
    current = next;
  }
  return { file: current, applied };
}

/** Replaces a file's content so that a reader sees the old or the new one and never a part. Keeps its permissions; goes through symbolic links. */
export function writeAtomically(file: string, text: string): void {
  const target = fs.realpathSync(file);
  const { mode } = fs.statSync(target);
  // Renaming over a file needs no right to write to it, so a file that is protected would be changed all the same.
  fs.accessSync(target, fs.constants.W_OK);
  const draft = path.join(path.dirname(target), `.${path.basename(target)}.${process.pid}.tmp`);
  try {
    fs.writeFileSync(draft, text, { mode, flag: 'wx' });
    fs.chmodSync(draft, mode);
    fs.renameSync(draft, target);
  } catch (error) {
    fs.rmSync(draft, { force: true });
    throw error;
  }
}

/** More rounds than any real file needs; a bound, should two rules ever undo each other. */
const maxRounds = 10;

/** One safe fix for each finding that has one, less those that touch text which an earlier one changes. */
function collect(file: FileAnalysis): { readonly edits: readonly TextEdit[]; readonly fixes: readonly AppliedFix[] } {
  const edits: TextEdit[] = [];
  const fixes: AppliedFix[] = [];
  for (const { base, findings } of file.documents) {
    for (const finding of findings) {
      const fix = finding.fixes.find(({ safe }) => safe);
      if (fix === undefined) continue;
      const own = fix.edits.map(({ span, newText }) => ({ span: shiftSpan(span, base), newText }));
      if (own.length === 0 || own.some((edit) => edits.some((other) => touches(edit, other)))) continue;
      edits.push(...own);
      fixes.push({ rule: finding.rule, title: fix.title });
    }
  }
  return { edits, fixes };
}

/** Two insertions at one place do not overlap, but which comes first would be chance. */
function touches(a: TextEdit, b: TextEdit): boolean {
  return spansOverlap(a.span, b.span) || a.span.start === b.span.start;
}
