import type { YamlDocument, YamlNode, YamlScalar } from './node.ts';
import { parseDocument } from './parse.ts';
import { shiftSpan } from './span.ts';

/** Longer blocks are data. */
const maxLength = 200_000;

/**
 * The YAML documents in a literal block (`|`), with spans in the document around it, so findings and edits apply to the outer text. All lines
 * of such a block have the same indentation, with which YAML may also start a document. Blocks with unreadable text have no documents.
 */
export function documentsInBlock(document: YamlDocument, scalar: YamlScalar): readonly YamlNode[] {
  if (scalar.style !== 'literal' || scalar.span.end - scalar.span.start > maxLength) return [];
  const header = document.text.indexOf('\n', scalar.span.start);
  // An explicit indentation indicator means that the first line is indented deeper than the others.
  if (header === -1 || /\d/.test(document.text.slice(scalar.span.start, header).replace(/#.*/, ''))) return [];
  return documentsInLines(document, header + 1, scalar.span.end, false);
}

/** The YAML documents in the here-documents (`<<EOF`) of a script in a literal block. The shell replaces variables in them. */
export function documentsInScript(document: YamlDocument, scalar: YamlScalar): readonly YamlNode[] {
  const { text } = document;
  const { start, end } = scalar.span;
  if (scalar.style !== 'literal' || end - start > maxLength) return [];
  const found: YamlNode[] = [];
  let closed = start;
  for (const match of text.slice(start, end).matchAll(/<<-?[ \t]*(["']?)(\w{1,40})\1[^\n]*\n/g)) {
    const [opening, quote, word = ''] = match;
    const from = start + match.index + opening.length;
    if (from < closed) continue;
    const to = lineOf(word, text, from, end);
    if (to === undefined) continue;
    closed = to;
    found.push(...documentsInLines(document, from, to, quote === ''));
  }
  return found;
}

/** The start of the line that consists of a word. */
function lineOf(word: string, text: string, from: number, end: number): number | undefined {
  for (let at = from; at < end; ) {
    const newline = text.indexOf('\n', at);
    const next = newline === -1 || newline >= end ? end : newline + 1;
    if (text.slice(at, next).trim() === word) return at;
    at = next;
  }
  return undefined;
}

/** @param expands whether a shell replaces `$VARIABLE` and `$(command)` first */
function documentsInLines({ text }: YamlDocument, from: number, to: number, expands: boolean): readonly YamlNode[] {
  const indent = /^(?:[ \t]*\r?\n)*( *)/.exec(text.slice(from, to))?.[1]?.length ?? 0;
  return splitAt(text.slice(from, to), indent).flatMap(({ start, end }) => {
    const { root, problems } = parseDocument(text.slice(from + start, from + end), 0);
    return root === null || problems.length > 0 ? [] : [shifted(root, from + start, expands)];
  });
}

/** The parts between `---` lines, which count as markers only at the indentation of the block. */
function splitAt(lines: string, indent: number): readonly { readonly start: number; readonly end: number }[] {
  const parts: { start: number; end: number }[] = [];
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
