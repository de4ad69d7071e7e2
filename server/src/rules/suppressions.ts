import type { Manifest } from '../model/workload.ts';
import { keyOf } from '../yaml/cursor.ts';
import { countWhere } from '../yaml/document-marks.ts';
import type { YamlDocument } from '../yaml/node.ts';
import type { Span } from '../yaml/span.ts';
import type { Finding } from './rule.ts';

/** The annotation that suppresses rules for one object. Its value is a list of rule ids, or `all`. */
export const disableAnnotation = 'gpulint.dev/disable';

/** A comment or an annotation that suppresses rules. */
export interface Suppression {
  /** `line`, `next-line`: that line. `document`: from the comment to the end. `object`: the annotated object. */
  readonly scope: 'line' | 'next-line' | 'document' | 'object';
  /** Rule ids; empty: every rule. */
  readonly rules: readonly string[];
  readonly span: Span;
  /** Findings that start here are suppressed. */
  readonly range: Span;
}

export interface SuppressionUse {
  readonly suppression: Suppression;
  /** Whether it suppressed at least one finding. */
  readonly used: boolean;
}

/** Removes the findings that comments and annotations suppress, and reports which of these were used. */
export function applySuppressions(
  document: YamlDocument,
  manifests: readonly Manifest[],
  found: readonly Finding[],
): { readonly kept: readonly Finding[]; readonly uses: readonly SuppressionUse[] } {
  const suppressions = [...inComments(document), ...manifests.flatMap(inAnnotations)];
  if (suppressions.length === 0) return { kept: found, uses: [] };
  const ranges = suppressedRanges(suppressions);
  const starts = startsOf(found);
  const isUsed = ({ rules, range }: Suppression) => idsOf(rules).some((id) => startsIn(starts.get(id) ?? [], range));
  return {
    kept: found.filter(
      ({ rule, span: { start } }) => ![rule, EVERY].some((id) => isSuppressed(ranges.get(id) ?? [], start)),
    ),
    uses: suppressions.map((suppression) => ({ suppression, used: isUsed(suppression) })),
  };
}

// A file may have tens of thousands of findings and suppressions: they are matched in sorted lists, never pair by pair.

/** The key for all rules. */
const EVERY = '';

function idsOf(rules: readonly string[]): readonly string[] {
  return rules.length === 0 ? [EVERY] : rules;
}

/** The suppressed ranges of each rule, sorted by start; each end is the furthest so far. */
function suppressedRanges(suppressions: readonly Suppression[]): ReadonlyMap<string, readonly Span[]> {
  const byRule = new Map<string, Span[]>();
  for (const { rules, range } of [...suppressions].sort((a, b) => a.range.start - b.range.start)) {
    for (const id of idsOf(rules)) {
      const ranges = byRule.get(id) ?? [];
      ranges.push({ start: range.start, end: Math.max(range.end, ranges.at(-1)?.end ?? 0) });
      byRule.set(id, ranges);
    }
  }
  return byRule;
}

function isSuppressed(ranges: readonly Span[], start: number): boolean {
  const last = ranges[countWhere(ranges, (range) => range.start <= start) - 1];
  return last !== undefined && start <= last.end;
}

/** The sorted start offsets of each rule's findings. */
function startsOf(found: readonly Finding[]): ReadonlyMap<string, readonly number[]> {
  const byRule = new Map<string, number[]>([[EVERY, []]]);
  for (const { rule, span } of [...found].sort((a, b) => a.span.start - b.span.start)) {
    const starts = byRule.get(rule) ?? [];
    starts.push(span.start);
    byRule.set(rule, starts);
    byRule.get(EVERY)?.push(span.start);
  }
  return byRule;
}

function startsIn(starts: readonly number[], range: Span): boolean {
  const first = starts[countWhere(starts, (start) => start < range.start)];
  return first !== undefined && first <= range.end;
}

/** `# gpulint-disable-line id, id -- reason`: the reason is for readers. */
const directive = /^#+\s*gpulint-disable(-line|-next-line)?(?=\s|$)(.*)$/;

function inComments(document: YamlDocument): readonly Suppression[] {
  // Most documents have none, and their comments need not be read.
  if (!document.text.includes('gpulint-disable')) return [];
  const nextLine = nextLines(document.text);
  return document.comments.flatMap((comment): Suppression[] => {
    const match = directive.exec(comment.text);
    if (match === null) return [];
    const scope = match[1] === '-line' ? 'line' : match[1] === '-next-line' ? 'next-line' : 'document';
    const rules = readIds((match[2] ?? '').split('--')[0] ?? '');
    return [{ scope, rules, span: comment.span, range: rangeOf(document.text, comment.span, scope, nextLine) }];
  });
}

function rangeOf(
  text: string,
  { start }: Span,
  scope: 'line' | 'next-line' | 'document',
  nextLine: (from: number) => Span,
): Span {
  if (scope === 'document') return { start, end: text.length };
  return scope === 'line' ? lineAt(text, start) : nextLine(start);
}

/**
 * Finds the next line with content, because comments may be stacked. Called in text order, it reads each line of a stack once.
 */
function nextLines(text: string): (from: number) => Span {
  let found: Span = { start: 0, end: 0 };
  return (from) => {
    // Only comments lie between the previous offset and its line.
    if (from < found.start) return found;
    found = lineAt(text, from);
    do {
      if (found.end >= text.length) return found;
      found = lineAt(text, found.end + 1);
    } while (/^\s*(#|$)/.test(text.slice(found.start, found.end)));
    return found;
  };
}

/** The line around an offset, without its line end. */
function lineAt(text: string, offset: number): Span {
  const start = offset === 0 ? 0 : text.lastIndexOf('\n', offset - 1) + 1;
  const end = text.indexOf('\n', offset);
  return { start, end: end < 0 ? text.length : end };
}

function inAnnotations(manifest: Manifest): readonly Suppression[] {
  return manifest.annotations
    .filter((annotation) => keyOf(annotation.at) === disableAnnotation)
    .map((annotation) => ({
      scope: 'object',
      rules: readIds(annotation.value),
      span: annotation.at.node.span,
      range: manifest.root.node.span,
    }));
}

/** Ids separated by commas or blanks. `all`, or no id, means every rule. */
function readIds(text: string): readonly string[] {
  const ids = text.split(/[\s,]+/).filter((id) => id !== '');
  return ids.includes('all') ? [] : ids;
}
