import { countWhere } from './document-marks.ts';
import type { YamlProblem } from './node.ts';
import type { Span } from './span.ts';
import { jsonObjects } from './split-json.ts';

/** A document's part of a file: its offset and its text, up to the next document. */
export interface DocumentText {
  readonly base: number;
  readonly text: string;
  /** An item of a long `kind: List`, split off with its dash: a document only to us. */
  readonly item?: true;
  /** The template actions of earlier documents that apply in this one: blocks that they leave open, and variables. */
  readonly opened?: string;
  /** An action of the template that begins or ends no block, with its place in this document. */
  readonly unbalanced?: YamlProblem;
}

/**
 * Splits a file into its YAML documents without reading them, so that an error in one cannot affect the next.
 *
 * A line that starts with `---` begins a document anywhere, even inside a block scalar: that is YAML's own rule. A document's text starts
 * at that line (the first one's at 0); a line `...` ends a document, unless text follows it without a `---`: Kubernetes' parser stops at the dots, so
 * that text is not a document. Empty parts are left out.
 */
export function splitDocuments(text: string): DocumentText[] {
  const documents: DocumentText[] = [];
  const comments = templateComments(text);
  let start = 0;
  const cut = (end: number): void => {
    const part = text.slice(start, end);
    let from = 0;
    for (const to of [...jsonObjects(part), part.length]) {
      if (!isEmpty(part.slice(from, to))) documents.push({ base: start + from, text: part.slice(from, to) });
      from = to;
    }
    start = end;
  };
  MARKER.lastIndex = 0;
  for (let match = MARKER.exec(text); match !== null; match = MARKER.exec(text)) {
    // A byte order mark may precede the first marker.
    const at = match.index;
    const comment = comments[countWhere(comments, ({ start: from }) => from < at) - 1];
    if (comment !== undefined && at < comment.end) continue;
    if (match[0].startsWith('...')) {
      if (!hasContent(text, lineEnd(text, at))) cut(lineEnd(text, at));
    } else if (at > start && !isPrologue(text.slice(start, at))) {
      cut(at);
    }
  }
  cut(text.length);
  return documents;
}

const MARKER = /^(?:---|\.\.\.)(?=[ \t\r\n]|$)/gm;

/** The `...` line of a document after which another object begins without a `---`. Nothing reads that object. */
export function endBeforeObject(text: string): Span | undefined {
  const dots = dotsBeforeText(text);
  const header = dots.length === 0 ? -1 : lastHeader(text);
  return dots.find(({ start }) => start < header);
}

/** The `...` lines in the middle of an object: documentation leaves out lines there. */
export function omittedLines(text: string): readonly Span[] {
  const dots = dotsBeforeText(text);
  const header = dots.length === 0 ? -1 : lastHeader(text);
  return dots.filter(({ start }) => start > header);
}

function dotsBeforeText(text: string): readonly Span[] {
  if (!text.includes('...')) return [];
  const comments = templateComments(text);
  return [...text.matchAll(MARKER)].flatMap(({ index, 0: mark }) => {
    const inComment = comments.some(({ start, end }) => start < index && index < end);
    const isBefore = mark === '...' && !inComment && hasContent(text, lineEnd(text, index));
    return isBefore ? [{ start: index, end: index + 3 }] : [];
  });
}

/** The offset of the last key that begins an object; -1 without one. */
function lastHeader(text: string): number {
  return [...text.matchAll(/^["']?(?:apiVersion|kind)["']?[ \t]*:/gm)].at(-1)?.index ?? -1;
}

/** Whether the next line that is not blank, a comment or a directive has text, other than a marker or a template action. */
function hasContent(text: string, from: number): boolean {
  for (let at = from; at < text.length; at = lineEnd(text, at)) {
    const line = text.slice(at, Math.min(lineEnd(text, at), at + LONGEST_BLANK));
    if (!/^\uFEFF?[ \t]*(?:[#%]|\r?\n?$)/.test(line))
      return !/^(?:---|\.\.\.)(?=[ \t\r\n]|$)|^[ \t]*\{[{%#]/.test(line);
  }
  return false;
}

/** More blanks at the start of a line count as text. */
const LONGEST_BLANK = 1000;

/** It contains nothing but its own marker. */
function isEmpty(part: string): boolean {
  return part.length < 4096 && /^\uFEFF?(?:---)?\s*(?:\.\.\.\s*)?$/.test(part);
}

/** Comments and directives before the first `---`, or directives after a `...`, belong to the document that follows. */
function isPrologue(part: string): boolean {
  if (part.startsWith('---')) return false;
  return part.split('\n').every((line) => /^\uFEFF?\s*(?:[#%].*)?$/.test(line.replace(/\r$/, '')));
}

/** A Go template comment may contain a `---` line, which separates nothing. */
function templateComments(text: string): { start: number; end: number }[] {
  const found: { start: number; end: number }[] = [];
  for (let at = text.indexOf('{{'); at !== -1; at = text.indexOf('{{', at + 2)) {
    if (!/^\{\{-?\s*\/\*/.test(text.slice(at, at + 12))) continue;
    const end = text.indexOf('*/', at + 4);
    if (end === -1) break;
    found.push({ start: at, end });
    at = end;
  }
  return found;
}

function lineEnd(text: string, from: number): number {
  const newline = text.indexOf('\n', from);
  return newline === -1 ? text.length : newline + 1;
}
