import type { YamlDocument, YamlEntry, YamlNode, YamlScalar } from './node.ts';
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
  return documentsInLines(document, header + 1, scalar.span.end);
}

/** The same for whole lines of a document: of a block, or of a here-document in a script. */
export function documentsInLines({ text }: YamlDocument, from: number, to: number): readonly YamlNode[] {
  const indent = /^(?:[ \t]*\r?\n)*( *)/.exec(text.slice(from, to))?.[1]?.length ?? 0;
  return splitAt(text.slice(from, to), indent).flatMap(({ start, end }) => {
    const { root, problems } = parseDocument(text.slice(from + start, from + end), 0);
    return root === null || problems.length > 0 ? [] : [shifted(root, from + start)];
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

function shifted(node: YamlNode, by: number): YamlNode {
  const span = shiftSpan(node.span, by);
  if (node.kind === 'scalar') return { ...node, span };
  if (node.kind === 'seq')
    return { ...node, span, items: node.items.map((item) => ({ ...item, value: shifted(item.value, by) })) };
  return { ...node, span, entries: node.entries.map((entry) => shiftedEntry(entry, by)) };
}

function shiftedEntry(entry: YamlEntry, by: number): YamlEntry {
  return { ...entry, keySpan: shiftSpan(entry.keySpan, by), value: shifted(entry.value, by) };
}
