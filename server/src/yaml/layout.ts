import type { Cursor } from './cursor.ts';
import { countWhere, lineStartsOf, marksOf, repeatedKeys, walkFirst } from './document-marks.ts';
import type { YamlDocument, YamlEntry, YamlNode } from './node.ts';
import type { WritingStyle } from './render.ts';
import type { Span } from './span.ts';
import { isControl, outputIndent, type TemplateAction } from './template-action.ts';

// The text around an edit: lines, columns, comments and the writing style of its authors.

/** The offset of the first character of the line with an offset. */
export function lineStart(text: string, offset: number): number {
  const starts = lineStartsOf(text);
  return starts[countWhere(starts, (start) => start <= offset) - 1] ?? 0;
}

/** The text before an offset on its line; at most 300 characters, because machine-written lines can be very long. */
export function lineBefore(text: string, offset: number): string {
  return text.slice(Math.max(lineStart(text, offset), offset - 300), offset);
}

/** The offset of the line end, before `\r\n` or `\n`. */
export function lineEnd(text: string, offset: number): number {
  const newline = text.indexOf('\n', offset);
  if (newline === -1) return text.length;
  return newline > offset && text.charAt(newline - 1) === '\r' ? newline - 1 : newline;
}

/** The start of the next line, or the end of the text. */
export function nextLine(text: string, offset: number): number {
  const newline = text.indexOf('\n', offset);
  return newline === -1 ? text.length : newline + 1;
}

/** The column of an offset; a byte order mark does not count. */
export function columnOf(text: string, offset: number): number {
  const start = lineStart(text, offset);
  return offset - start - (text.charCodeAt(start) === 0xfeff ? 1 : 0);
}

/** Only white space precedes the offset on its line. */
export function isFirstOnLine(text: string, offset: number): boolean {
  return /^\uFEFF?\s*$/.test(text.slice(lineStart(text, offset), offset));
}

/** Skips white space and comments. */
export function skipForward(doc: YamlDocument, from: number, limit = doc.text.length): number {
  let at = from;
  for (;;) {
    while (at < limit && /\s/.test(doc.text.charAt(at))) at++;
    const comment = doc.text.charAt(at) === '#' ? doc.comments[commentsBefore(doc, at)] : undefined;
    if (comment?.span.start !== at || at >= limit) return Math.min(at, limit);
    at = comment.span.end;
  }
}

/** Skips white space and comments backward; the character before the result is neither. */
export function skipBack(doc: YamlDocument, from: number): number {
  let at = from;
  for (;;) {
    while (at > 0 && /\s/.test(doc.text.charAt(at - 1))) at--;
    const comment = doc.comments[commentsBefore(doc, at) - 1];
    if (comment === undefined || comment.span.end < at) return at;
    at = comment.span.start;
  }
}

/** The texts of the comments that are completely in a span. */
export function commentsIn(doc: YamlDocument, span: Span): string[] {
  return doc.comments
    .slice(commentsBefore(doc, span.start), commentsBefore(doc, span.end))
    .filter((one) => one.span.end <= span.end)
    .map((one) => one.text);
}

/** How many comments start before an offset. */
function commentsBefore({ comments }: YamlDocument, offset: number): number {
  return countWhere(comments, ({ span }) => span.start < offset);
}

/** The rest of the line is blank or a comment. */
export function restIsBlank(doc: YamlDocument, offset: number): boolean {
  const end = lineEnd(doc.text, offset);
  return skipForward(doc, offset, end) >= end;
}

/** The end of an entry's text: its value, its alias, or the colon (with tag or anchor) of an empty value. */
export function entryEnd(doc: YamlDocument, entry: YamlEntry): number | undefined {
  const { value, keySpan, shared } = entry;
  if (!shared && value.span.end > value.span.start) return value.span.end;
  const colon = /^\s*:/.exec(doc.text.slice(keySpan.end, keySpan.end + 200));
  if (colon === null) return shared ? undefined : keySpan.end;
  const afterColon = keySpan.end + colon[0].length;
  const rest = doc.text.slice(afterColon, lineEnd(doc.text, afterColon));
  if (shared) {
    const alias = /^[ \t]*\*[^\s,[\]{}]+/.exec(rest);
    return alias ? afterColon + alias[0].length : undefined;
  }
  return afterColon + (/^(?:[ \t]*[&!][^\s,[\]{}]*)*/.exec(rest)?.[0].length ?? 0);
}

/** The entry is written in this mapping and does not come from a merge key. */
export function isWrittenIn(map: YamlNode, entry: YamlEntry): boolean {
  return map.span.start <= entry.keySpan.start && entry.keySpan.end <= map.span.end;
}

/** An edit here would also change what aliases elsewhere stand for. */
export function isAnchored(doc: YamlDocument, cursor: Cursor): boolean {
  if (marksOf(doc).aliases.size === 0) return false;
  for (let here: Cursor | undefined = cursor; here; here = here.parent) {
    const start = here.node.span.start;
    const before = doc.text.slice(Math.max(here.entry?.keySpan.end ?? 0, start - 300), start);
    // A comment always extends to the end of its line: any other reading would double the work.
    const anchor = /(?:^|[\s[{,:-])&([^\s,[\]{}]+)(?:\s+!\S*)?(?:\s*#[^\n]*(?:\n|$))*(?:\s+!\S*)?\s*$/.exec(before);
    if (anchor?.[1] !== undefined && isAliased(doc, anchor[1])) return true;
  }
  return false;
}

/** Whether a text to be removed contains an anchor that aliases outside it need. */
export function holdsAnchor(doc: YamlDocument, span: Span): boolean {
  const names = doc.text.slice(span.start, span.end).matchAll(/(?:^|[\s[{,:-])&([^\s,[\]{}]+)/g);
  return [...names].some((match) => match[1] !== undefined && isAliased(doc, match[1]));
}

function isAliased(doc: YamlDocument, name: string): boolean {
  return marksOf(doc).aliases.has(name.slice(name.lastIndexOf('*') + 1));
}

/** A template's if, range or with begins or ends in the span without its other half, so the text there is conditional. */
export function crossesControl(doc: YamlDocument, span: Span): boolean {
  if (!doc.template) return false;
  let depth = 0;
  const { actions } = marksOf(doc);
  for (let index = countWhere(actions, ({ span: { end } }) => end <= span.start); index < actions.length; index++) {
    const { span: place, text } = actions[index] as TemplateAction;
    if (place.start >= span.end) break;
    if (place.start < span.start || place.end > span.end) return true;
    if (/^(?:\{[{%]|%\{)[-~+]?\s*(?:end\w*|\/)/.test(text)) depth--;
    else if (/^(?:\{[{%]|%\{)[-~+]?\s*(?:if|range|with|define|block|for|#if|#each|macro)\b/.test(text)) depth++;
    else if (/^(?:\{[{%]|%\{)[-~+]?\s*(?:else|elif)\b/.test(text) && depth === 0) return true;
    if (depth < 0) return true;
  }
  return depth !== 0;
}

/** Without the entry its key would still have a value, from a merge key or from a duplicate (two branches of a template). */
export function hidesAnother(doc: YamlDocument, map: Cursor, key: string): boolean {
  const { node } = map;
  const { start, end } = node.span;
  if (repeatedKeys(node).has(key)) return true;
  const { merges } = marksOf(doc);
  const merge = merges[countWhere(merges, (at) => at < start)];
  return merge !== undefined && merge < end;
}

/**
 * Whether a template may insert lines right after a place that belong to the element above it: an expression on its own line whose output
 * is indented deeper than the column.
 */
export function isContinued(doc: YamlDocument, offset: number, column: number): boolean {
  if (!doc.template) return false;
  const { actions } = marksOf(doc);
  let from = offset;
  for (let index = countWhere(actions, ({ span }) => span.end <= offset); index < actions.length; index += 1) {
    const next = actions[index];
    if (next === undefined || doc.text.slice(from, next.span.start).trim() !== '') return false;
    if (next.span.start < offset) return true;
    from = next.span.end;
    const text = doc.text.slice(next.span.start, next.span.end);
    if (/^\{\{-?\s*\/\*/.test(text)) continue;
    if (!isControl(next)) return (outputIndent(next) ?? columnOf(doc.text, next.span.start)) > column;
    // The output of a block belongs to the element above if it is indented deeper, and so does everything in a block that is itself deeper.
    if (/^\{\{-?\s*(?:end|else)\b/.test(text)) return false;
    if (columnOf(doc.text, next.span.start) > column) return true;
  }
  return false;
}

/** The writing style near a place; whatever is not visible there comes from the whole document. */
export function styleAt(doc: YamlDocument, cursor: Cursor): WritingStyle {
  const found: FoundStyle = {};
  // The place itself and its ancestors take precedence over the whole document.
  let top = cursor;
  for (let here: Cursor | undefined = cursor; here; here = here.parent) {
    measure(doc, here, found);
    top = here;
  }
  if (found.step === undefined || found.dash === undefined) {
    const whole = styleOfAll(doc, top);
    found.step ??= whole.step;
    found.dash ??= whole.dash;
  }
  const step = found.step ?? 2;
  return {
    eol: eolAt(doc.text, cursor.node.span.start),
    step,
    dash: found.dash ?? step,
    quote: marksOf(doc).quote,
    literal: false,
  };
}

/** How the line of a place ends, or the one above the last line. */
function eolAt(text: string, at: number): WritingStyle['eol'] {
  const below = text.indexOf('\n', at);
  const end = below === -1 ? text.lastIndexOf('\n') : below;
  return text.charAt(end - 1) === '\r' ? '\r\n' : '\n';
}

interface FoundStyle {
  step?: number | undefined;
  dash?: number | undefined;
}

const stylesOfAll = new WeakMap<YamlNode, FoundStyle>();

function styleOfAll(doc: YamlDocument, top: Cursor): FoundStyle {
  let found = stylesOfAll.get(top.node);
  if (found === undefined) {
    const style: FoundStyle = {};
    walkFirst(top, (here) => {
      measure(doc, here, style);
      return style.step !== undefined && style.dash !== undefined;
    });
    stylesOfAll.set(top.node, style);
    found = style;
  }
  return found;
}

/** Records the indentation of a mapping or sequence under its key, if both are in block style. */
function measure(doc: YamlDocument, cursor: Cursor, found: FoundStyle): void {
  const { node, entry, shared } = cursor;
  if (node.kind === 'scalar' || node.flow || entry === undefined || shared) return;
  const column = columnOf(doc.text, node.span.start);
  const key = columnOf(doc.text, entry.keySpan.start);
  if (lineStart(doc.text, node.span.start) === lineStart(doc.text, entry.keySpan.start)) return;
  if (node.kind === 'map') found.step ??= Math.max(1, column - key);
  else found.dash ??= Math.max(0, column - key);
}
