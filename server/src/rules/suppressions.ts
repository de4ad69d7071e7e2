import type { Manifest } from '../model/workload.ts';
import { keyOf } from '../yaml/cursor.ts';
import type { YamlDocument } from '../yaml/node.ts';
import type { Span } from '../yaml/span.ts';
import type { Finding } from './rule.ts';

/** The annotation that silences rules for one object. Its value is a list of ids, or `all`. */
export const disableAnnotation = 'gpulint.dev/disable';

/** A place where a person says that a rule is to be silent. */
export interface Suppression {
  /** `line` and `next-line`: findings that start there. `document`: from the comment on. `object`: in the annotated object. */
  readonly scope: 'line' | 'next-line' | 'document' | 'object';
  /** Empty: every rule. */
  readonly rules: readonly string[];
  readonly span: Span;
  /** Where findings must start to be silenced. */
  readonly range: Span;
}

export interface SuppressionUse {
  readonly suppression: Suppression;
  /** It silenced at least one finding. */
  readonly used: boolean;
}

/** Takes out the findings that comments and annotations silence. */
export function applySuppressions(
  document: YamlDocument,
  manifests: readonly Manifest[],
  found: readonly Finding[],
): { readonly kept: readonly Finding[]; readonly uses: readonly SuppressionUse[] } {
  const suppressions = [...inComments(document), ...manifests.flatMap(inAnnotations)];
  const used = new Set<Suppression>();
  const kept = found.filter((finding) => {
    const silencing = suppressions.filter((suppression) => silences(suppression, finding));
    for (const suppression of silencing) used.add(suppression);
    return silencing.length === 0;
  });
  return { kept, uses: suppressions.map((suppression) => ({ suppression, used: used.has(suppression) })) };
}

function silences({ rules, range }: Suppression, { rule, span }: Finding): boolean {
  return span.start >= range.start && span.start <= range.end && (rules.length === 0 || rules.includes(rule));
}

/** `# gpulint-disable-line id, id -- reason`: the reason is for people. */
const directive = /^#+\s*gpulint-disable(-line|-next-line)?(?=\s|$)(.*)$/;

function inComments(document: YamlDocument): readonly Suppression[] {
  return document.comments.flatMap((comment): Suppression[] => {
    const match = directive.exec(comment.text);
    if (match === null) return [];
    const scope = match[1] === '-line' ? 'line' : match[1] === '-next-line' ? 'next-line' : 'document';
    const rules = readIds((match[2] ?? '').split('--')[0] ?? '');
    return [{ scope, rules, span: comment.span, range: rangeOf(document.text, comment.span, scope) }];
  });
}

function rangeOf(text: string, comment: Span, scope: 'line' | 'next-line' | 'document'): Span {
  if (scope === 'document') return { start: comment.start, end: text.length };
  if (scope === 'line') return lineAt(text, comment.start);
  // Comments may be stacked: the next line is the next one that holds something.
  let line = lineAt(text, comment.start);
  do {
    if (line.end >= text.length) return line;
    line = lineAt(text, line.end + 1);
  } while (/^\s*(#|$)/.test(text.slice(line.start, line.end)));
  return line;
}

/** The line's text around an offset, without its line end. */
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

/** Ids between commas or blanks; `all`, or none at all, means every rule. */
function readIds(text: string): readonly string[] {
  const ids = text.split(/[\s,]+/).filter((id) => id !== '');
  return ids.includes('all') ? [] : ids;
}
