import { createHash } from 'node:crypto';
import type { ReportFinding } from './report-schema.ts';

/**
 * An id for each finding of a file that stays the same when lines move: a hash of its rule, its workload, the file's path, the text of its
 * line with normalized white space, and its index among equal findings.
 */
export function fingerprintsOf(
  source: string,
  lineText: (line: number) => string,
  findings: readonly Pick<ReportFinding, 'rule' | 'workload' | 'range'>[],
): readonly string[] {
  const counts = new Map<string, number>();
  const lines = new Map<number, string>();
  const lineOf = (number: number): string => {
    const known = lines.get(number);
    if (known !== undefined) return known;
    const line = lineText(number).trim().replace(/\s+/g, ' ');
    // The one line of a minified file may have thousands of findings.
    const shown = line.length > 2000 ? hash(line) : line;
    lines.set(number, shown);
    return shown;
  };
  return findings.map(({ rule, workload, range }) => {
    const parts = JSON.stringify([rule, workload, source, lineOf(range.start.line)]);
    const before = counts.get(parts) ?? 0;
    counts.set(parts, before + 1);
    return hash(`${parts}${before}`).slice(0, 32);
  });
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
