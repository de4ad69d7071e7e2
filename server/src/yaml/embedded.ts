import { type Cursor, entries, items, keyOf, rootCursor } from './cursor.ts';
import { countWhere, lineStartsIn } from './document-marks.ts';
import type { YamlComment, YamlDocument, YamlNode, YamlProblem, YamlScalar } from './node.ts';
import { parseDocument } from './parse.ts';
import { type Span, shiftSpan } from './span.ts';

/** A YAML document in the text of another one, with spans in the outer text: findings and edits apply to that. */
interface EmbeddedDocument {
  readonly root: YamlNode;
  readonly comments: readonly YamlComment[];
  /** What is wrong in spite of which the document is read: repeated keys. */
  readonly problems: readonly YamlProblem[];
}

/** A literal block (`|`) and its place. */
export interface LiteralBlock {
  readonly at: Cursor;
  readonly scalar: YamlScalar;
}

/** The literal blocks below a place. Metadata only repeats or describes objects. */
export function literalBlocks(cursor: Cursor): readonly LiteralBlock[] {
  const { node } = cursor;
  if (node.kind === 'scalar') return node.style === 'literal' && !cursor.shared ? [{ at: cursor, scalar: node }] : [];
  return [...entries(cursor), ...items(cursor)].flatMap((child) =>
    keyOf(child) === 'metadata' || keyOf(child) === 'description' ? [] : literalBlocks(child),
  );
}

/**
 * The YAML documents in a literal block. All its lines have the same indentation, with which YAML may also start a document. Blocks with
 * unreadable text have no documents.
 */
export function documentsInBlock(document: YamlDocument, scalar: YamlScalar): readonly YamlNode[] {
  return readBlock(document, scalar).map(({ root }) => root);
}

/** The YAML documents in the here-documents (`<<EOF`) of a script in a literal block. The shell replaces variables in them. */
export function documentsInScript(document: YamlDocument, scalar: YamlScalar): readonly YamlNode[] {
  return readScript(document, scalar).map(({ root }) => root);
}

/** The document with the comments of its embedded documents, which edits and suppressions need. */
export function withEmbeddedComments(document: YamlDocument): YamlDocument {
  if (document.root === null || !mayEmbed.test(document.text)) return document;
  const found = literalBlocks(rootCursor(document.root)).flatMap(({ scalar }) => {
    if (!/(?:^|\s)#/.test(scalar.source)) return [];
    const whole = readBlock(document, scalar).filter(({ root }) => root.kind === 'map');
    return (whole.length > 0 ? whole : readScript(document, scalar)).flatMap(({ comments }) => comments);
  });
  if (found.length === 0) return document;
  const comments = [...document.comments, ...found].sort((a, b) => a.span.start - b.span.start);
  return { ...document, comments };
}

/** Signs of manifests and of charts' values in blocks. */
const mayEmbed = /^[ \t]+apiVersion:|\bvalues[\w.-]{0,100}:[ \t]*[|]/m;

/** Longer blocks are data. */
const maxLength = 200_000;

/** The same with comments and problems. */
export function readBlock(document: YamlDocument, scalar: YamlScalar): readonly EmbeddedDocument[] {
  if (scalar.style !== 'literal' || scalar.span.end - scalar.span.start > maxLength) return [];
  const header = document.text.indexOf('\n', scalar.span.start);
  // An explicit indentation indicator means that the first line is indented deeper than the others.
  if (header === -1 || /\d/.test(document.text.slice(scalar.span.start, header).replace(/#.*/, ''))) return [];
  return readLines(document, header + 1, scalar.span.end, false);
}

/** What makes the text of a literal block unreadable, at its place in the outer text. */
export function blockProblem(document: YamlDocument, scalar: YamlScalar): YamlProblem | undefined {
  const { text } = document;
  const header = text.indexOf('\n', scalar.span.start);
  if (scalar.style !== 'literal' || header === -1 || scalar.span.end - header > maxLength) return undefined;
  if (/\d/.test(text.slice(scalar.span.start, header).replace(/#.*/, ''))) return undefined;
  for (const { start, end } of splitLines(text, header + 1, scalar.span.end)) {
    const { problems, template } = parseDocument(text.slice(start, end), 0);
    const problem = template ? undefined : problems.find(({ readable }) => readable !== true);
    if (problem !== undefined) return { ...problem, span: shiftSpan(problem.span, start) };
  }
  return undefined;
}

function readScript(document: YamlDocument, scalar: YamlScalar): readonly EmbeddedDocument[] {
  const { start, end } = scalar.span;
  const text = document.text.slice(start, end);
  if (scalar.style !== 'literal' || text.length > maxLength || !text.includes('<<')) return [];
  const places = linesByText(text);
  const found: EmbeddedDocument[] = [];
  let closed = 0;
  let lineEnd = 0;
  for (const { 1: quote, 2: word = '', index } of text.matchAll(/<<-?[ \t]*(["']?)(\w{1,40})\1/g)) {
    if (index < lineEnd) continue;
    lineEnd = text.indexOf('\n', index);
    if (lineEnd < 0) break;
    const from = lineEnd + 1;
    const closing = places.get(word) ?? [];
    const to = closing[countWhere(closing, (at) => at < from)];
    if (from < closed || to === undefined) continue;
    closed = to;
    found.push(...readLines(document, start + from, start + to, quote === ''));
  }
  return found;
}

/** The offsets of lines by their text without indentation. */
function linesByText(text: string): ReadonlyMap<string, readonly number[]> {
  const places = new Map<string, number[]>();
  for (const start of lineStartsIn(text)) {
    const newline = text.indexOf('\n', start);
    const line = text.slice(start, newline === -1 ? text.length : newline).trim();
    const known = places.get(line);
    if (known === undefined) places.set(line, [start]);
    else known.push(start);
  }
  return places;
}

/** @param expands whether a shell replaces `$VARIABLE` and `$(command)` first */
function readLines({ text }: YamlDocument, from: number, to: number, expands: boolean): readonly EmbeddedDocument[] {
  return splitLines(text, from, to).flatMap(({ start, end }) => {
    const { root, problems, comments } = parseDocument(text.slice(start, end), 0);
    if (root === null || problems.some(({ readable }) => readable !== true)) return [];
    return [
      {
        root: shifted(root, start, expands),
        comments: comments.map((comment) => ({ ...comment, span: shiftSpan(comment.span, start) })),
        problems: problems.map((problem) => ({ ...problem, span: shiftSpan(problem.span, start) })),
      },
    ];
  });
}

/** The parts of a block of a text, with offsets in the text. */
function splitLines(text: string, from: number, to: number): readonly Span[] {
  const indent = /^(?:[ \t]*\r?\n)*( *)/.exec(text.slice(from, to))?.[1]?.length ?? 0;
  return splitAt(text.slice(from, to), indent).map(({ start, end }) => ({ start: from + start, end: from + end }));
}

/** The parts between `---` lines, which count as markers only at the indentation of the block. */
function splitAt(lines: string, indent: number): readonly Span[] {
  const parts: Span[] = [];
  let start = 0;
  for (let at = 0; at < lines.length; ) {
    const newline = lines.indexOf('\n', at);
    const next = newline === -1 ? lines.length : newline + 1;
    if (lines.startsWith('---', at + indent) && /^ *---\s*(?:#.*)?$/.test(lines.slice(at, next).trimEnd())) {
      parts.push({ start, end: at });
      start = next;
    }
    at = next;
  }
  return [...parts, { start, end: lines.length }].filter((part) => lines.slice(part.start, part.end).trim() !== '');
}

function shifted(node: YamlNode, by: number, expands: boolean): YamlNode {
  const span = shiftSpan(node.span, by);
  if (node.kind === 'scalar')
    return { ...node, span, templated: node.templated || (expands && /[$`]/.test(node.source)) };
  if (node.kind === 'seq')
    return { ...node, span, items: node.items.map((item) => ({ ...item, value: shifted(item.value, by, expands) })) };
  const entries = node.entries.map((entry) => ({
    ...entry,
    keySpan: shiftSpan(entry.keySpan, by),
    value: shifted(entry.value, by, expands),
  }));
  return { ...node, span, entries };
}
