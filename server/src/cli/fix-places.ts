import type { AppliedFix } from './apply-fixes.ts';
import { changedLines, lineAfter } from './line-diff.ts';
import type { ReportFinding } from './reports/report-schema.ts';

/** An applied fix and the line of its finding in the fixed text; null for a fix that only another fix made possible. */
export interface PlacedFix extends AppliedFix {
  readonly line: number | null;
}

interface Reading {
  readonly text: string;
  readonly findings: readonly ReportFinding[];
}

/** Locates applied fixes by line: each is matched with a finding that offered it and has disappeared. */
export function placeFixes(before: Reading, after: Reading, applied: readonly AppliedFix[]): readonly PlacedFix[] {
  const changes = changedLines(linesOf(before.text), linesOf(after.text));
  const left = new Set(
    after.findings.flatMap(({ rule, range, fixes }) => fixes.map(({ title }) => keyOf(rule, title, range.start.line))),
  );
  const lines = new Map<string, number[]>();
  for (const { rule, range, fixes } of before.findings) {
    const line = lineAfter(changes, range.start.line - 1) + 1;
    for (const { title } of fixes.filter(({ safe }) => safe)) {
      if (left.has(keyOf(rule, title, line))) continue;
      const key = JSON.stringify([rule, title]);
      const known = lines.get(key);
      if (known === undefined) lines.set(key, [line]);
      else known.push(line);
    }
  }
  const next = new Map<string, number>();
  const placed = applied.map(({ rule, title }) => {
    const key = JSON.stringify([rule, title]);
    const index = next.get(key) ?? 0;
    next.set(key, index + 1);
    return { rule, title, line: lines.get(key)?.[index] ?? null };
  });
  return placed.sort((a, b) => (a.line ?? Number.POSITIVE_INFINITY) - (b.line ?? Number.POSITIVE_INFINITY) || 0);
}

function keyOf(rule: string, title: string, line: number): string {
  return JSON.stringify([rule, title, line]);
}

/** Splits lines as the report counts them. */
function linesOf(text: string): readonly string[] {
  return text.split(/\r\n|\n|\r/);
}
