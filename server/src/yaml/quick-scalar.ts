import { CST } from 'yaml';
import { scalarNode } from './convert.ts';
import { foreignIndent } from './foreign-lines.ts';
import { interned } from './interned.ts';
import type { YamlScalar } from './node.ts';
import { isPlaceholder } from './placeholder.ts';
import { advance, afterSpaces, endLine, giveUp, isBreak, isGap, nextLine, type Reader } from './quick-reader.ts';
import { touchesAction } from './template.ts';

/** The offset of the colon of the key that begins here; -1 if no key begins here. */
export function keyColon({ source, at }: Reader): number {
  const first = source.charCodeAt(at);
  if (first === DOUBLE || first === SINGLE) {
    const end = quoteEnd(source, at);
    if (end === -1 || source.charCodeAt(end) !== COLON) return -1;
    return isGap(source.charCodeAt(end + 1)) ? end : giveUp();
  }
  if (first === BRACE || first === BRACKET || first === BAR || first === GREATER) return -1;
  for (let here = at; ; here++) {
    const code = source.charCodeAt(here);
    // Letters and most of the rest.
    if (code > HASH ? code !== COLON : code === SPACE) continue;
    if (code === COLON) {
      if (isGap(source.charCodeAt(here + 1))) return here;
    } else if (isBreak(code) || (code === HASH && source.charCodeAt(here - 1) === SPACE)) return -1;
  }
}

/** Reads the key and leaves `at` on its colon. */
export function readKey(reader: Reader, colon: number): YamlScalar {
  const { source, at } = reader;
  // The library's own limit is 1,024 characters.
  if (colon === -1 || colon - at > 1000) giveUp();
  const first = source.charCodeAt(at);
  if (first === DOUBLE || first === SINGLE) return quoted(reader, colon);
  checkPlain(source, at, colon);
  let end = colon;
  while (end > at && source.charCodeAt(end - 1) === SPACE) end--;
  const word = interned(source.slice(at, end));
  if (word === '' || word === '<<' || (first > 0x7f && foreignIndent(word) !== undefined)) giveUp();
  reader.at = colon;
  if (reader.mask !== undefined) return plainNode(reader, word, at, end);
  const templated = reader.holdsPlaceholders && isPlaceholder(word);
  return { kind: 'scalar', value: word, source: word, style: 'plain', templated, span: { start: at, end } };
}

/** @param end the offset after the closing quote; -1 if the quote does not close on this line */
export function quoted(reader: Reader, end: number): YamlScalar {
  const { source, at } = reader;
  if (end === -1) giveUp();
  const double = source.charCodeAt(at) === DOUBLE;
  const raw = source.slice(at, end);
  const inner = raw.slice(1, -1);
  let value = inner;
  // Kubernetes accepts this escape only in JSON.
  if (double && inner.includes('\\/') && !/^\uFEFF?\s*\{\s*"/.test(source)) giveUp();
  if (raw.includes('\n') || (double && inner.includes('\\')))
    value = resolved({
      type: double ? 'double-quoted-scalar' : 'single-quoted-scalar',
      offset: 0,
      indent: 0,
      source: raw,
    });
  else if (!double) value = inner.replaceAll("''", "'");
  reader.at = end;
  return scalarNode(reader, { source: value, style: double ? 'double' : 'single', start: at, end, rawEnd: end });
}

/**
 * The offset after the closing quote, or -1 if the line ends first.
 * @param parent set if the text may continue on further lines, which must be indented deeper
 */
export function quoteEnd(source: string, at: number, parent?: number): number {
  const quote = source.charCodeAt(at);
  for (let here = at + 1; ; here++) {
    const code = source.charCodeAt(here);
    if (Number.isNaN(code)) return -1;
    if (code === LINE_FEED || code === CARRIAGE_RETURN) {
      if (parent === undefined) return -1;
      if (code === CARRIAGE_RETURN) continue;
      const next = afterSpaces(source, here + 1);
      if (next - here - 1 <= parent && !isBreak(source.charCodeAt(next))) giveUp();
    }
    if (code === BACKSLASH && quote === DOUBLE) {
      if (source.charCodeAt(here + 1) !== LINE_FEED) here++;
    } else if (code === quote) {
      if (quote === DOUBLE || source.charCodeAt(here + 1) !== SINGLE) return here + 1;
      here++;
    }
  }
}

/** The node of a plain scalar. @param end the offset after its last character */
export function plainNode(reader: Reader, source: string, start: number, end: number): YamlScalar {
  return scalarNode(reader, { source, style: 'plain', start, end, rawEnd: end });
}

/** Gives up on text with which a plain scalar cannot begin, and on tabs. */
export function checkPlain(source: string, start: number, end: number): void {
  const first = source.charAt(start);
  if (FORBIDDEN.includes(first)) giveUp();
  if ((first === '-' || first === '?' || first === ':') && isGap(source.charCodeAt(start + 1))) giveUp();
  for (let here = start; here < end; here++) if (source.charCodeAt(here) === TAB) giveUp();
}

/** Reads a plain scalar with its continuation lines, and moves to the text that follows. */
export function plainLines(reader: Reader, parent: number): YamlScalar {
  const { source, at: start } = reader;
  let end = plainEnd(source, start);
  checkPlain(source, start, end);
  let lines = 1;
  for (;;) {
    // A comment after the value ends it.
    if (!isBreak(source.charCodeAt(afterSpaces(source, end)))) break;
    const next = continuation(source, end, parent);
    if (next === -1) break;
    end = plainEnd(source, next);
    lines++;
  }
  const raw = source.slice(start, end);
  if (lines > 1 && raw.includes('\t')) giveUp();
  const value = lines === 1 ? raw : resolved({ type: 'scalar', offset: 0, indent: 0, source: raw });
  reader.at = end;
  if (lines > 1) reader.lineStart = source.lastIndexOf('\n', end - 1) + 1;
  endLine(reader);
  return plainNode(reader, value, start, end);
}

/** The end of a plain value's text on its line. */
function plainEnd(source: string, start: number): number {
  let end = start;
  for (let here = start; ; here++) {
    const code = source.charCodeAt(here);
    if (code === SPACE) continue;
    if (code > COLON) {
      end = here + 1;
      continue;
    }
    if (isBreak(code) || (code === HASH && here > start && source.charCodeAt(here - 1) === SPACE)) return end;
    if (code === COLON && isGap(source.charCodeAt(here + 1))) giveUp();
    end = here + 1;
  }
}

/** The start of the next line of a plain value; -1 if there is none. */
function continuation(source: string, end: number, parent: number): number {
  let at = source.indexOf('\n', end);
  while (at !== -1) {
    const line = at + 1;
    at = afterSpaces(source, line);
    const code = source.charCodeAt(at);
    if (code === TAB) giveUp();
    if (!isBreak(code)) return at - line > parent && code !== HASH ? at : -1;
    at = source.indexOf('\n', at);
  }
  return -1;
}

/** Reads a literal or folded scalar, and moves to the text that follows. */
export function blockScalar(reader: Reader, parent: number): YamlScalar {
  const { source, at: start } = reader;
  const header = /^[|>][+-]?(?=[ ]*\r?\n)/.exec(source.slice(start, start + 80))?.[0];
  if (header === undefined) return giveUp();
  nextLine(reader);
  const from = reader.at;
  const { end, indent } = blockLines(source, from, parent);
  let trimmed = end;
  while (trimmed > from && BLANK.includes(source.charAt(trimmed - 1))) trimmed--;
  // Template lines after the text were blanked; the full converter handles them.
  if (reader.mask && touchesAction(reader.mask, { start: trimmed, end })) giveUp();
  const written = source.slice(from, end);
  const value =
    literalText(header, written, indent) ??
    resolved({
      type: 'block-scalar',
      offset: 0,
      indent: Math.min(indent, parent + 1),
      props: [{ type: 'block-scalar-header', offset: 0, indent: 0, source: header }],
      source: written,
    });
  reader.at = end;
  advance(reader);
  const style = header.startsWith('|') ? 'literal' : 'folded';
  return scalarNode(reader, { source: value, style, start, end: trimmed, rawEnd: end });
}

/** The value of a literal scalar: most are scripts. Undefined for other scalars, and for tabs and line ends about which the library knows the rules. */
function literalText(header: string, written: string, indent: number): string | undefined {
  if (header === '|+' || header.startsWith('>') || written.includes('\r') || written.includes('\t')) return undefined;
  const lines = written.split('\n').map((line) => line.slice(indent));
  while (lines.at(-1) === '') lines.pop();
  return lines.join('\n') + (header === '|' ? '\n' : '');
}

/** The end of a block scalar, including trailing blank lines, and its indentation. */
function blockLines(source: string, from: number, parent: number): { end: number; indent: number } {
  let indent = -1;
  let widest = 0;
  let line = from;
  while (line < source.length) {
    const at = afterSpaces(source, line);
    const code = source.charCodeAt(at);
    const width = at - line;
    if (!isBreak(code)) {
      if (code === TAB && width < Math.max(indent, parent + 1)) giveUp();
      if (indent === -1) {
        // An empty block, or blank lines deeper than its first: rare, and the library knows the rules.
        if (width <= parent || width < widest) giveUp();
        indent = width;
      } else if (width < indent) break;
    } else if (indent === -1) widest = Math.max(widest, width);
    const newline = source.indexOf('\n', at);
    line = newline === -1 ? source.length : newline + 1;
  }
  return indent === -1 ? giveUp() : { end: line, indent };
}

function resolved(token: CST.FlowScalar | CST.BlockScalar): string {
  return CST.resolveAsScalar(token, true, giveUp)?.value ?? giveUp();
}

/** Characters with which no plain scalar begins. */
const FORBIDDEN = ',[]{}#&*!|>\'"%@`';
const BLANK = ' \t\r\n';
const TAB = 0x09;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const DOUBLE = 0x22;
const HASH = 0x23;
const SINGLE = 0x27;
const COLON = 0x3a;
const GREATER = 0x3e;
const BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const BRACE = 0x7b;
const BAR = 0x7c;
