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
  return findings.map(({ rule, workload, range }) => {
    const line = lineText(range.start.line).trim().replace(/\s+/g, ' ');
    const parts = JSON.stringify([rule, workload, source, line]);
    const before = counts.get(parts) ?? 0;
    counts.set(parts, before + 1);
    return createHash('sha256').update(`${parts}${before}`).digest('hex').slice(0, 32);
  });
}
