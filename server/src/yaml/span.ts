/**
 * A half-open range of UTF-16 code units (JavaScript string offsets, which are also LSP's default columns).
 *
 * Spans of nodes are relative to the text of their YAML document, not to the file: an edit in one document of a file moves no span of
 * another. `YamlDocument.base` converts between the two.
 */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** One replacement in a text. Edits of one fix never overlap; an insertion has an empty span. */
export interface TextEdit {
  readonly span: Span;
  readonly newText: string;
}

/** Moves a span by `offset` code units, for instance by a document's base to get a span of the file. */
export function shiftSpan(span: Span, offset: number): Span {
  return { start: span.start + offset, end: span.end + offset };
}

/** The span of something that is not in any text at hand. It touches no offset. */
export const nowhere: Span = { start: -1, end: -1 };

/** Whether spans have a character in common. */
export function spansOverlap(a: Span, b: Span): boolean {
  return a.start < b.end && b.start < a.end;
}

/**
 * The text after all edits, which can be in any order.
 * @throws Error if two edits overlap: a bug in their creator, and applying them would damage the text
 */
export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  const ordered = [...edits].sort(byStart);
  let result = '';
  let at = 0;
  for (const { span, newText } of ordered) {
    if (span.start < at) throw new Error(`overlapping edits at offset ${span.start}`);
    result += text.slice(at, span.start) + newText;
    at = span.end;
  }
  return result + text.slice(at);
}

function byStart(a: TextEdit, b: TextEdit): number {
  return a.span.start - b.span.start || a.span.end - b.span.end;
}

/** Whether two spans overlap or meet. An empty span, a caret, touches what it stands next to. */
export function touches(a: Span, b: Span): boolean {
  return a.start <= b.end && b.start <= a.end;
}

/** Whether a caret at an offset stands in a span, or right after it: that is where it stands after a word. */
export function isAt(span: Span, offset: number): boolean {
  return span.start <= offset && offset <= span.end;
}
