import { MAX_DEPTH } from './limits.ts';
import type { YamlComment, YamlProblem } from './node.ts';
import { mayHoldPlaceholders } from './placeholder.ts';
import type { Mask } from './template.ts';

/** The state of the quick reader. */
export interface Reader {
  /** The text with its templates masked. */
  readonly source: string;
  readonly text: string;
  readonly mask: Mask | undefined;
  /** Whether scalars may be placeholders. */
  readonly holdsPlaceholders: boolean;
  readonly comments: YamlComment[];
  readonly problems: YamlProblem[];
  at: number;
  lineStart: number;
  /** The number of open brackets. */
  brackets: number;
  /** The number of open collections. */
  depth: number;
  /** The column of the text at `at` on a new line; -1 at the end of the text. */
  column: number;
}

/** Thrown to leave a text to the library: the cheapest way out of a deep recursion. */
export const GIVE_UP: unique symbol = Symbol('left to the library');

/** Leaves the text to the library. */
export function giveUp(): never {
  throw GIVE_UP;
}

/** Thrown at the brace of a `${VAR}` in a flow collection: everything before it is readable, and the brace is certainly an error. */
export const VARIABLE_MET: unique symbol = Symbol('a variable in a flow collection');

export function meetVariable(): never {
  throw VARIABLE_MET;
}

/** Undefined for texts whose line ends or first character need a closer look. */
export function createReader(text: string, mask: Mask | undefined): Reader | undefined {
  const source = mask?.text ?? text;
  // Searching for one character is many times faster, and nearly all texts have none of these.
  if (source.includes('\uFEFF')) return undefined;
  if (source.includes('\r') && /\r(?!\n)/.test(source)) return undefined;
  if (source.includes('\t') && /\n *\t/.test(source)) return undefined;
  return {
    source,
    text,
    mask,
    holdsPlaceholders: mayHoldPlaceholders(text),
    comments: [],
    problems: [],
    at: 0,
    lineStart: 0,
    column: 0,
    brackets: 0,
    depth: 0,
  };
}

/** Enters a collection. The library reports one that is nested too deep. */
export function enter(reader: Reader): void {
  if (++reader.depth > MAX_DEPTH) giveUp();
}

/** Moves from the start of a line to the next text that is not a comment. @param first whether a `---` line is still allowed */
export function advance(reader: Reader, first = false): void {
  const { source } = reader;
  for (;;) {
    reader.lineStart = reader.at;
    skipSpaces(reader);
    const code = source.charCodeAt(reader.at);
    if (code === HASH) comment(reader, true);
    else if (Number.isNaN(code)) {
      reader.column = -1;
      return;
    } else if (code !== LINE_FEED && code !== CARRIAGE_RETURN) {
      if (code === TAB) giveUp();
      reader.column = reader.at - reader.lineStart;
      if (reader.column > 0 || !isMarker(source, reader.at)) return;
      if (!first || code !== DASH) giveUp();
      first = false;
      reader.at += 3;
      skipSpaces(reader);
      const rest = source.charCodeAt(reader.at);
      if (rest === HASH && source.charCodeAt(reader.at - 1) === SPACE) comment(reader, false);
      else if (!isBreak(rest)) giveUp();
    }
    nextLine(reader);
  }
}

/** Whether a line that begins here is `---` or `...`. */
function isMarker(source: string, at: number): boolean {
  const code = source.charCodeAt(at);
  return (code === DASH || code === DOT) && /^(?:---|\.\.\.)(?![^\s])/.test(source.slice(at, at + 4));
}

/** Moves from the end of a value to the next text; only a comment may follow the value on its line. */
export function endLine(reader: Reader): void {
  skipSpaces(reader);
  const code = reader.source.charCodeAt(reader.at);
  if (code === HASH) {
    if (reader.source.charCodeAt(reader.at - 1) !== SPACE) giveUp();
    comment(reader, false);
  } else if (!isBreak(code)) giveUp();
  nextLine(reader);
  advance(reader);
}

/** Moves to the start of the next line, or to the end of the text. */
export function nextLine(reader: Reader): void {
  const newline = reader.source.indexOf('\n', reader.at);
  reader.at = newline === -1 ? reader.source.length : newline + 1;
}

/** Moves past spaces, but not tabs. */
export function skipSpaces(reader: Reader): void {
  while (reader.source.charCodeAt(reader.at) === SPACE) reader.at++;
}

/** Reads a comment to the end of its line. @param ownLine whether nothing else is before it on the line */
export function comment(reader: Reader, ownLine: boolean): void {
  const start = reader.at;
  const end = lineEnd(reader.source, start);
  reader.comments.push({ text: reader.source.slice(start, end), span: { start, end }, ownLine });
  reader.at = end;
}

/** Whether the character code ends a line or, as NaN, the text. */
export function isBreak(code: number): boolean {
  return code === LINE_FEED || code === CARRIAGE_RETURN || Number.isNaN(code);
}

/** Whether a `- ` begins here. */
export function isDash({ source, at }: Reader): boolean {
  return source.charCodeAt(at) === DASH && isGap(source.charCodeAt(at + 1));
}

/** Whether white space or the end of the text separates two words here. */
export function isGap(code: number): boolean {
  return code === SPACE || code === TAB || isBreak(code);
}

/** The offset after any spaces. */
export function afterSpaces(source: string, from: number): number {
  let at = from;
  while (source.charCodeAt(at) === SPACE) at++;
  return at;
}

function lineEnd(source: string, from: number): number {
  const newline = source.indexOf('\n', from);
  if (newline === -1) return source.endsWith('\r') ? source.length - 1 : source.length;
  return source.charCodeAt(newline - 1) === CARRIAGE_RETURN ? newline - 1 : newline;
}

const TAB = 0x09;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const HASH = 0x23;
const DASH = 0x2d;
const DOT = 0x2e;
