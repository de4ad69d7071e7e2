import type { Cursor } from './cursor.ts';
import { isAnchored } from './layout.ts';
import type { YamlDocument } from './node.ts';
import type { Span, TextEdit } from './span.ts';

/**
 * Replaces a part of a scalar, such as one word of a script. Undefined if the span does not contain `expected` (quotes, escapes and folding
 * move the characters of a scalar), or if the new text could have a meaning in YAML or a shell.
 */
export function replacePart(
  doc: YamlDocument,
  target: Cursor,
  span: Span,
  expected: string,
  newText: string,
): readonly TextEdit[] | undefined {
  const { node } = target;
  if (node.kind !== 'scalar' || target.shared || isAnchored(doc, target)) return undefined;
  if (node.templated && doc.template) return undefined;
  if (span.start < node.span.start || span.end > node.span.end) return undefined;
  // A shell expands a tilde only at the start of a word; in a JSON pointer it escapes a slash.
  if (newText !== '' && !/^[\w./=:-]*[\w/=]$/.test(newText.replace(/(?<=\w)~1/, ''))) return undefined;
  return doc.text.slice(span.start, span.end) === expected ? [{ span, newText }] : undefined;
}
