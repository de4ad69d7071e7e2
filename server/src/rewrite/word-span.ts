import type { Word } from '../command/shell.ts';
import { type Located, spanOf } from '../yaml/cursor.ts';
import { countWhere, lineStartsIn } from '../yaml/document-marks.ts';
import type { YamlDocument, YamlNode } from '../yaml/node.ts';
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
  const writing = writings.get(at.node) ?? writingOf(text.slice(whole.start, whole.end), value);
  writings.set(at.node, writing);
  const { shift } = writing;
  if (shift >= 0) return { start: whole.start + shift + start, end: whole.start + shift + end };
  return inBlock(writing, whole.start, value, start, end);
}

/** How a scalar is written. A script of thousands of lines has a word to be found in each. */
interface Writing {
  readonly written: string;
  /** Where the value stands in it as it is, or -1. */
  readonly shift: number;
  /** Where the lines of the value and those of the text start. */
  readonly values: readonly number[];
  readonly texts: readonly number[];
  /** By line, how far it is indented. */
  readonly indents: Map<number, number>;
}

const writings = new WeakMap<YamlNode, Writing>();

function writingOf(written: string, value: string): Writing {
  const shift = written.indexOf(value);
  const [values, texts] = shift >= 0 ? [[], []] : [lineStartsIn(value), lineStartsIn(written)];
  return { written, shift, values, texts, indents: new Map() };
}

/** The same line of a literal block: its first line holds the indicator, and each line is indented. */
function inBlock({ written, values, texts, indents }: Writing, at: number, value: string, start: number, end: number) {
  const line = countWhere(values, (from) => from <= start);
  const lineStart = values[line - 1] ?? 0;
  const lineText = lineOf(value, values, line - 1);
  const indent = indents.get(line) ?? lineOf(written, texts, line).indexOf(lineText);
  indents.set(line, indent);
  if (lineText === '' || indent < 0) return { start: at, end: at + lineOf(written, texts, 0).trimEnd().length };
  const offset = at + (texts[line] ?? 0) + indent;
  return { start: offset + start - lineStart, end: offset + Math.min(end - lineStart, lineText.length) };
}

function lineOf(text: string, starts: readonly number[], line: number): string {
  const next = starts[line + 1];
  return text.slice(starts[line] ?? text.length, next === undefined ? text.length : next - 1);
}
