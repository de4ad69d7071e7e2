import type { Word } from '../command/shell.ts';
import { type Located, spanOf } from '../yaml/cursor.ts';
import type { YamlDocument } from '../yaml/node.ts';
import type { Span } from '../yaml/span.ts';

/**
 * Where words of a command line stand in the document, from the first to the last. In list items of their own that is from item to
 * item, in a script the place within its text; the line of the first word where a block's indentation hides the exact place.
 */
export function spanOfWords(
  document: YamlDocument,
  lines: readonly Located<string>[],
  [first, last]: readonly [Word, Word],
): Span | undefined {
  const from = lines[first.item];
  const to = lines[last.item];
  if (from === undefined || to === undefined) return undefined;
  const start = spanInItem(document, from, first);
  const end = spanInItem(document, to, last);
  return { start: start.start, end: Math.max(end.end, start.end) };
}

/** Where a part of a scalar's text stands, given by offsets of its decoded value; of several lines, the first. */
export function spanInScalar(document: YamlDocument, scalar: Located<string>, part: Span): Span {
  return spanInItem(document, scalar, part);
}

function spanInItem({ text }: YamlDocument, { value, at }: Located<string>, { start, end }: Span): Span {
  const whole = spanOf(at);
  if (start === 0 && end === value.length) return whole;
  const written = text.slice(whole.start, whole.end);
  const shift = written.indexOf(value);
  if (shift >= 0) return { start: whole.start + shift + start, end: whole.start + shift + end };
  return inBlock(text, whole, value, start, end);
}

/** The same line of a literal block: its first line holds the indicator, and each line is indented. */
function inBlock(text: string, whole: Span, value: string, start: number, end: number): Span {
  const lineIndex = value.slice(0, start).split('\n').length;
  const lineText = value.split('\n')[lineIndex - 1] ?? '';
  const lines = text.slice(whole.start, whole.end).split('\n');
  let offset = whole.start;
  for (let index = 0; index < lineIndex && index < lines.length; index++) offset += (lines[index]?.length ?? 0) + 1;
  const indent = (lines[lineIndex] ?? '').indexOf(lineText);
  if (lineText === '' || indent < 0)
    return { start: whole.start, end: whole.start + (lines[0]?.trimEnd().length ?? 0) };
  const lineStart = value.lastIndexOf('\n', start - 1) + 1;
  return {
    start: offset + indent + start - lineStart,
    end: offset + indent + Math.min(end - lineStart, lineText.length),
  };
}
