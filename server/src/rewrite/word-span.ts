import type { Word } from '../command/shell.ts';
import { asText, type Cursor, items, type Located, spanOf } from '../yaml/cursor.ts';
import { countWhere, lineStartsIn } from '../yaml/document-marks.ts';
import type { YamlDocument, YamlNode } from '../yaml/node.ts';
import type { Span } from '../yaml/span.ts';

/**
 * The span from the first to the last of some words of a command line. Words that are list items span whole items, words of a script
 * the characters in its text. If folding hides these characters, the span is the first line of the block.
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

/** The span of a part of a scalar, from offsets in its decoded value; only the first line of a part with several. */
export function spanInScalar(document: YamlDocument, scalar: Located<string>, part: Span): Span {
  return spanInItem(document, scalar, part);
}

function spanInItem(document: YamlDocument, { value, at }: Located<string>, { start, end }: Span): Span {
  if (at.node.kind === 'seq') return spanInLines(document, at, { start, end });
  const { text } = document;
  const whole = spanOf(at);
  if (start === 0 && end === value.length) return whole;
  const writing = writings.get(at.node) ?? writingOf(text.slice(whole.start, whole.end), value);
  writings.set(at.node, writing);
  const { shift } = writing;
  if (shift >= 0) return { start: whole.start + shift + start, end: whole.start + shift + end };
  return inBlock(writing, whole.start, value, start, end);
}

/** The span of a part of a list's items, which make one script, a line for each. */
function spanInLines(document: YamlDocument, list: Cursor, { start, end }: Span): Span {
  let from = 0;
  for (const at of items(list)) {
    const value = asText(at);
    if (value === undefined) continue;
    const to = from + value.length;
    if (start <= to) return spanInItem(document, { value, at }, { start: start - from, end: Math.min(end, to) - from });
    from = to + 1;
  }
  return spanOf(list);
}

/** The source of a scalar, with line offsets: a script of thousands of lines may have a word to find in each. */
interface Writing {
  readonly written: string;
  /** Offset of the verbatim value in it, or -1. */
  readonly shift: number;
  /** Start offsets of the lines of the value and of the source. */
  readonly values: readonly number[];
  readonly texts: readonly number[];
  /** Indentation by line. */
  readonly indents: Map<number, number>;
}

const writings = new WeakMap<YamlNode, Writing>();

function writingOf(written: string, value: string): Writing {
  const shift = written.indexOf(value);
  const [values, texts] = shift >= 0 ? [[], []] : [lineStartsIn(value), lineStartsIn(written)];
  return { written, shift, values, texts, indents: new Map() };
}

/** Finds the line in a literal block, whose first line is the indicator and whose other lines are indented. */
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
