import type { FileAnalysis } from '../../server/src/analysis.ts';
import type { ProjectConfig } from '../../server/src/config.ts';
import type { Fix } from '../../server/src/rewrite/fix.ts';
import type { Severity } from '../../server/src/rules/rule.ts';
import { applyEdits } from '../../server/src/yaml/span.ts';
import { analyse, type FileFinding, findingsOf } from './analyse.ts';

/**
 * The broken promises of a fix; empty if it keeps what every fix promises: the result parses, the finding is gone, no finding of equal or
 * higher severity (of any rule) is new, every comment remains, nothing outside the edits changes, edits do not overlap, line endings stay
 * the same, and the fix is not offered again.
 */
export function fixProblems(text: string, finding: FileFinding, fix: Fix, config: ProjectConfig): readonly string[] {
  let fixed: string;
  try {
    fixed = applyEdits(text, fix.edits);
  } catch (error) {
    return [String(error)];
  }
  const before = analyse(text, config);
  const after = analyse(fixed, config);
  return [
    ...(fix.edits.length === 0 ? ['it edits nothing'] : []),
    ...fix.edits
      .filter(({ span }) => span.start < 0 || span.end > text.length || span.end < span.start)
      .map(() => 'an edit is out of bounds'),
    ...parseProblems(before, after, text, fixed),
    ...findingProblems(before, after, finding, fix),
    ...commentProblems(before, after),
    ...lineEndProblems(text, fixed),
    ...outsideProblems(text, fixed, fix),
  ];
}

function parseProblems(before: FileAnalysis, after: FileAnalysis, text: string, fixed: string): readonly string[] {
  const count = (file: FileAnalysis) => file.documents.reduce((sum, { document }) => sum + document.problems.length, 0);
  const problems = [];
  if (count(after) > count(before)) problems.push('the result does not parse');
  if (after.parse !== before.parse) problems.push(`it parses as ${after.parse}, not as ${before.parse}`);
  if (after.documents.length !== before.documents.length) problems.push('the number of documents changed');
  if (isJson(text) && !isJson(fixed)) problems.push('it is no longer JSON');
  return problems;
}

const rank: Readonly<Record<Severity, number>> = { hint: 0, info: 1, warning: 2, error: 3 };

function findingProblems(before: FileAnalysis, after: FileAnalysis, finding: FileFinding, fix: Fix): readonly string[] {
  const left = countBy(findingsOf(after), keyOf);
  const had = countBy(findingsOf(before), keyOf);
  const own = keyOf(finding);
  const problems = [];
  if ((left.get(own) ?? 0) >= (had.get(own) ?? 0)) problems.push(`it does not clear its finding: ${own}`);
  for (const other of findingsOf(after)) {
    const key = keyOf(other);
    if (rank[other.severity] < rank[finding.severity] || (left.get(key) ?? 0) <= (had.get(key) ?? 0)) continue;
    problems.push(`it adds a new finding: ${key}: ${other.message}`);
  }
  const again = findingsOf(after).filter((other) => keyOf(other) === own && other.message === finding.message);
  const twice =
    findingsOf(before).filter((other) => keyOf(other) === own && other.message === finding.message).length > 1;
  if (!twice && again.some((other) => other.fixes.some(({ title }) => title === fix.title)))
    problems.push('it is offered again');
  return problems;
}

/** A finding without what an edit may change: positions, and the values in its message. */
function keyOf({ rule, document, workload, container }: FileFinding): string {
  return `${rule} in document ${document}, ${workload?.kind ?? 'no workload'}/${workload?.name ?? ''}, ${container ?? 'no container'}`;
}

function commentProblems(before: FileAnalysis, after: FileAnalysis): readonly string[] {
  const comments = (file: FileAnalysis) =>
    file.documents.flatMap(({ document }) => document.comments.map(({ text }) => text.trimEnd()));
  const left = countBy(comments(after), (text) => text);
  return [...countBy(comments(before), (text) => text)]
    .filter(([text, count]) => (left.get(text) ?? 0) < count)
    .map(([text]) => `it loses the comment "${text}"`);
}

function lineEndProblems(text: string, fixed: string): readonly string[] {
  const lone = (where: string) => (where.match(/(?<!\r)\n/g) ?? []).length;
  const carriage = (where: string) => (where.match(/\r\n/g) ?? []).length;
  if (carriage(text) > 0 && lone(text) === 0 && lone(fixed) > 0) return ['a CRLF file gets a line that ends in LF'];
  if (carriage(text) === 0 && carriage(fixed) > 0) return ['an LF file gets a line that ends in CRLF'];
  return [];
}

/** The text between the edits must be in the result, in the same order. */
function outsideProblems(text: string, fixed: string, { edits }: Fix): readonly string[] {
  let at = 0;
  let from = 0;
  for (const { span, newText } of [...edits].sort((a, b) => a.span.start - b.span.start)) {
    const kept = text.slice(from, span.start);
    if (fixed.slice(at, at + kept.length) !== kept) return ['text outside the edits changed'];
    at += kept.length + newText.length;
    from = span.end;
  }
  return fixed.slice(at) === text.slice(from) ? [] : ['text after the edits changed'];
}

function countBy<T>(values: readonly T[], key: (value: T) => string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(key(value), (counts.get(key(value)) ?? 0) + 1);
  return counts;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    // The text is not JSON.
    return false;
  }
}
