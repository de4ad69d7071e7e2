import { createHash } from 'node:crypto';
import type { ReportFinding } from './report-schema.ts';

/**
 * A name for each finding of a file that stays when lines move: made of its rule, its workload, the file's path, the text of its line
 * without regard to blanks, and which of several such findings it is.
 */
export function fingerprintsOf(
  source: string,
  lineText: (line: number) => string,
  findings: readonly Pick<ReportFinding, 'rule' | 'workload' | 'range'>[],
): readonly string[] {
  const seen = new Map<string, number>();
  return findings.map(({ rule, workload, range }) => {
    const line = lineText(range.start.line).trim().replace(/\s+/g, ' ');
    const parts = JSON.stringify([rule, workload, source, line]);
    const before = seen.get(parts) ?? 0;
    seen.set(parts, before + 1);
    return createHash('sha256').update(`${parts}${before}`).digest('hex').slice(0, 32);
  });
}
