import { type Cursor, entries, items } from './cursor.ts';
import type { YamlDocument, YamlEntry, YamlNode } from './node.ts';
import type { WritingStyle } from './render.ts';
import type { Span } from './span.ts';
import { findActions, isControl, outputIndent } from './template-action.ts';

// What an edit asks of the text around it: lines, columns, comments, and how people write in it.

export function lineStart(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1;
}

/** Where the line's text ends: before its line end. */
export function lineEnd(text: string, offset: number): number {
  const newline = text.indexOf('\n', offset);
  if (newline === -1) return text.length;
  return newline > offset && text.charAt(newline - 1) === '\r' ? newline - 1 : newline;
}

/** Where the next line starts, or the end of the text. */
export function nextLine(text: string, offset: number): number {
  const newline = text.indexOf('\n', offset);
  return newline === -1 ? text.length : newline + 1;
}

/** The column of an offset; a byte order mark takes none. */
export function columnOf(text: string, offset: number): number {
  const start = lineStart(text, offset);
  return offset - start - (start === 0 && text.charCodeAt(0) === 0xfeff ? 1 : 0);
}

/** Nothing but white space stands before the offset on its line. */
export function isFirstOnLine(text: string, offset: number): boolean {
  return /^\uFEFF?\s*$/.test(text.slice(lineStart(text, offset), offset));
}

/** Moves past white space and comments. */
export function skipForward(doc: YamlDocument, from: number, limit = doc.text.length): number {
  let at = from;
  for (;;) {
    while (at < limit && /\s/.test(doc.text.charAt(at))) at++;
    const comment = doc.text.charAt(at) === '#' ? doc.comments.find(({ span }) => span.start === at) : undefined;
    if (comment === undefined || at >= limit) return Math.min(at, limit);
    at = comment.span.end;
  }
}

/** Moves back over white space and comments; the character before the result is neither. */
export function skipBack(doc: YamlDocument, from: number): number {
  let at = from;
  for (;;) {
    while (at > 0 && /\s/.test(doc.text.charAt(at - 1))) at--;
    const comment = doc.comments.find(({ span }) => span.start < at && at <= span.end);
    if (comment === undefined) return at;
    at = comment.span.start;
  }
}

export function commentsIn(doc: YamlDocument, span: Span): string[] {
  return doc.comments.filter((one) => span.start <= one.span.start && one.span.end <= span.end).map((one) => one.text);
}

/** The rest of the line says nothing, or only a comment. */
export function restIsBlank(doc: YamlDocument, offset: number): boolean {
  const end = lineEnd(doc.text, offset);
  return skipForward(doc, offset, end) >= end;
}

/** Where an entry's text ends: its value, its alias, or behind the colon (and the tag or anchor) of an empty value. */
export function entryEnd(doc: YamlDocument, entry: YamlEntry): number | undefined {
  const { value, keySpan, shared } = entry;
  if (!shared && value.span.end > value.span.start) return value.span.end;
  const colon = /^\s*:/.exec(doc.text.slice(keySpan.end, keySpan.end + 200));
  if (colon === null) return shared ? undefined : keySpan.end;
  const behind = keySpan.end + colon[0].length;
  const rest = doc.text.slice(behind, lineEnd(doc.text, behind));
  if (shared) {
    const alias = /^[ \t]*\*[^\s,[\]{}]+/.exec(rest);
    return alias ? behind + alias[0].length : undefined;
  }
  return behind + (/^(?:[ \t]*[&!][^\s,[\]{}]*)*/.exec(rest)?.[0].length ?? 0);
}

/** The entry's own text stands in the mapping: no merge key brought it. */
export function isWrittenIn(map: YamlNode, entry: YamlEntry): boolean {
  return map.span.start <= entry.keySpan.start && entry.keySpan.end <= map.span.end;
}

/** An edit at the place would also change what aliases elsewhere stand for. */
export function isAnchored(doc: YamlDocument, cursor: Cursor): boolean {
  if (!/(?:^|[\s[{,:-])\*\w/.test(doc.text)) return false;
  for (let here: Cursor | undefined = cursor; here; here = here.parent) {
    const start = here.node.span.start;
    const before = doc.text.slice(Math.max(here.entry?.keySpan.end ?? 0, start - 300), start);
    const anchor = /(?:^|[\s[{,:-])&([^\s,[\]{}]+)(?:\s+(?:![^\s]*|#[^\n]*))*\s*$/.exec(before);
    if (anchor?.[1] !== undefined && isAliased(doc, anchor[1])) return true;
  }
  return false;
}

/** Whether a text to be removed holds an anchor that aliases outside of it need. */
export function holdsAnchor(doc: YamlDocument, span: Span): boolean {
  const names = doc.text.slice(span.start, span.end).matchAll(/(?:^|[\s[{,:-])&([^\s,[\]{}]+)/g);
  return [...names].some((match) => match[1] !== undefined && isAliased(doc, match[1]));
}

function isAliased(doc: YamlDocument, name: string): boolean {
  for (let at = doc.text.indexOf(`*${name}`); at !== -1; at = doc.text.indexOf(`*${name}`, at + 1)) {
    if (/^$|[\s,[\]{}]/.test(doc.text.charAt(at + name.length + 1))) return true;
  }
  return false;
}

/** A template's if, range or with that begins or ends in the span without the other half: what stands there is conditional. */
export function crossesControl(doc: YamlDocument, span: Span): boolean {
  if (!doc.template) return false;
  let depth = 0;
  for (const { span: place, text } of findActions(doc.text)) {
    if (place.end <= span.start) continue;
    if (place.start >= span.end) break;
    if (place.start < span.start || place.end > span.end) return true;
    if (/^\{[{%][-~+]?\s*(?:end\w*|\/)/.test(text)) depth--;
    else if (/^\{[{%][-~+]?\s*(?:if|range|with|define|block|for|#if|#each|macro)\b/.test(text)) depth++;
    else if (/^\{[{%][-~+]?\s*(?:else|elif)\b/.test(text) && depth === 0) return true;
    if (depth < 0) return true;
  }
  return depth !== 0;
}

/** Without the entry its key would still have a value: a merge key may bring one, or the key is written twice (a template's branches). */
export function hidesAnother(doc: YamlDocument, map: Cursor, key: string): boolean {
  const { node } = map;
  const { span } = node;
  if (node.kind === 'map' && node.entries.filter((entry) => entry.key === key).length > 1) return true;
  return /(?:^|[\s{,])<<[ \t]*:/.test(doc.text.slice(span.start, span.end));
}

/**
 * In a template, lines that cannot be seen may stand right behind a place and belong to the element above it: an expression on
 * a line of its own that puts text deeper than the column.
 */
export function isContinued(doc: YamlDocument, offset: number, column: number): boolean {
  if (!doc.template) return false;
  const next = findActions(doc.text).find(({ span }) => span.end > offset);
  if (next === undefined) return false;
  if (next.span.start < offset) return true;
  if (doc.text.slice(offset, next.span.start).trim() !== '' || isControl(next)) return false;
  return (outputIndent(next) ?? columnOf(doc.text, next.span.start)) > column;
}

/** How the text is written near a place; what it does not show is looked up in the whole document. */
export function styleAt(doc: YamlDocument, cursor: Cursor): WritingStyle {
  const found: { step?: number; dash?: number } = {};
  // The place itself and what stands around it come first, then everything.
  let top = cursor;
  for (let here: Cursor | undefined = cursor; here; here = here.parent) {
    measure(doc, here, found);
    top = here;
  }
  const queue: Cursor[] = [top];
  for (let steps = 0; steps < 2000 && queue.length > 0; steps++) {
    if (found.step !== undefined && found.dash !== undefined) break;
    const here = queue.shift();
    if (here === undefined || here.shared) continue;
    measure(doc, here, found);
    queue.push(...entries(here), ...items(here));
  }
  const step = found.step ?? 2;
  const eol = doc.text.charAt(doc.text.indexOf('\n') - 1) === '\r' ? '\r\n' : '\n';
  return { eol, step, dash: found.dash ?? step, quote: quoteOf(doc.text), literal: false };
}

/** The indentation of a mapping or sequence under its key, where both are in block style. */
function measure(doc: YamlDocument, cursor: Cursor, found: { step?: number; dash?: number }): void {
  const { node, entry, shared } = cursor;
  if (node.kind === 'scalar' || node.flow || entry === undefined || shared) return;
  const column = columnOf(doc.text, node.span.start);
  const key = columnOf(doc.text, entry.keySpan.start);
  if (lineStart(doc.text, node.span.start) === lineStart(doc.text, entry.keySpan.start)) return;
  if (node.kind === 'map') found.step ??= Math.max(1, column - key);
  else found.dash ??= Math.max(0, column - key);
}

function quoteOf(text: string): '"' | "'" {
  const single = /[:-] +'/.exec(text);
  return single !== null && !/[:-] +"/.test(text) ? "'" : '"';
}
