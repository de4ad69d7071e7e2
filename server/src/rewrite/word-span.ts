import type { Word } from '../command/shell.ts';
import { asText, type Cursor, items, type Located, spanOf } from '../yaml/cursor.ts';
import type { YamlDocument, YamlNode } from '../yaml/node.ts';
import type { Span } from '../yaml/span.ts';

/** The items of a command line, or the container that has them. */
type CommandLine =
  | readonly Located<string>[]
  | { readonly command: readonly Located<string>[]; readonly args: readonly Located<string>[] };

/**
 * The span from the first to the last of some words of a command line. Words that are list items span whole items, words of a script
 * the characters in its text.
 */
export function spanOfWords(
  document: YamlDocument,
  container: CommandLine,
  [first, last]: readonly [Word, Word],
): Span | undefined {
  const lines = 'command' in container ? [...container.command, ...container.args] : container;
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
  return inPlaces(writing, whole.start, start, end);
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

/** The source of a scalar: a script of thousands of lines may have a word to find in each. */
interface Writing {
  readonly written: string;
  /** Offset of the verbatim value in it, or -1. */
  readonly shift: number;
  /** Where the characters of a value that is not verbatim are; undefined if they are not found. */
  readonly places: readonly number[] | undefined;
}

const writings = new WeakMap<YamlNode, Writing>();

function writingOf(written: string, value: string): Writing {
  const shift = written.indexOf(value);
  return { written, shift, places: shift >= 0 ? undefined : placesOf(written, value) };
}

/** Offsets in the source of a scalar, by the offsets in its value: past indentation, folded lines and escapes. */
function placesOf(written: string, value: string): readonly number[] | undefined {
  const [quote = ''] = written;
  const isBlock = quote === '|' || quote === '>';
  const places: number[] = [];
  let at = isBlock ? written.indexOf('\n') + 1 : quote === '"' || quote === "'" ? 1 : 0;
  while (places.length < value.length) {
    const char = value.charAt(places.length);
    const isEscape = quote === '"' && written[at] === '\\';
    const isGap = space.has(written.charAt(at));
    if (isEscape && lineBreaks.has(written.charAt(at + 1))) at = afterSpace(written, at + 1);
    else if (isEscape) {
      const end = at + 2 + (escapedDigits.get(written.charAt(at + 1)) ?? 0);
      places.push(at);
      if (isHighSurrogate(char)) places.push(at);
      at = end;
    } else if (isGap && !space.has(char)) at = afterSpace(written, at);
    else if (isGap) {
      const end = afterSpace(written, at);
      const breaks = written.slice(at, end).split('\n').length - 1;
      // Only in double quotes can an escape stand for more of the value's space.
      const most = quote !== '"' ? value.length : breaks === 0 ? end - at : Math.max(1, breaks - 1);
      for (let count = 0; count < most && space.has(value.charAt(places.length)); count += 1)
        places.push(Math.min(at + count, end - 1));
      at = end;
    } else if (char === written[at]) {
      places.push(at);
      at += quote === "'" && char === "'" ? 2 : 1;
    } else return isBlock && space.has(char) && at >= written.length ? places : undefined;
  }
  // The end of the last character.
  return [...places, at];
}

const space: ReadonlySet<string> = new Set(' \t\r\n');
const lineBreaks: ReadonlySet<string> = new Set('\r\n');
/** Hexadecimal digits behind an escape. */
const escapedDigits: ReadonlyMap<string, number> = new Map([
  ['x', 2],
  ['u', 4],
  ['U', 8],
]);

function isHighSurrogate(char: string): boolean {
  return char >= '\ud800' && char <= '\udbff';
}

function afterSpace(text: string, from: number): number {
  let at = from;
  while (space.has(text.charAt(at)) && at < text.length) at += 1;
  return at;
}

/** The first line of a part, or that of the scalar if the part is not found. */
function inPlaces({ written, places }: Writing, at: number, start: number, end: number): Span {
  const [from, to] = [places?.[start], places?.[end]];
  const begin = from ?? 0;
  const lineEnd = written.indexOf('\n', begin);
  const line = written.slice(begin, lineEnd < 0 ? written.length : lineEnd).trimEnd();
  const length = from === undefined || to === undefined ? line.length : Math.min(to - from, line.length);
  return { start: at + begin, end: at + begin + length };
}
