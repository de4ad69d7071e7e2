import { type Cursor, getIn } from './cursor.ts';
import { insertKey } from './edit-insert.ts';
import { placeOf, replaceScalar } from './edit-scalar.ts';
import { hidesAnother, isAnchored, isWrittenIn, lineStart } from './layout.ts';
import type { YamlDocument } from './node.ts';
import { type PlainValue, renderEntry, renderQuoted, renderScalar, type WritingStyle } from './render.ts';
import type { Span, TextEdit } from './span.ts';

// All edits are made here. Each is a minimal splice of the document's text that follows the indentation, flow or block style, quotes and
// line ends of its neighbors and keeps comments. Nothing is reprinted. A function returns undefined if the edit cannot be made without
// damage: the target is missing, it is reached through an alias or a merge key, an alias elsewhere repeats it, or a template controls it.
// Callers need no guards: undefined means no fix.

export { appendItem, insertKey } from './edit-insert.ts';
export { replacePart } from './edit-part.ts';
export { removeItem, removeKey } from './edit-remove.ts';
export { replaceScalar, unquoteScalar } from './edit-scalar.ts';
export type { PlainValue } from './render.ts';

/** Replaces the value of a key, or inserts the key as `insertKey` does. */
export function setKey(
  doc: YamlDocument,
  map: Cursor | undefined,
  key: string,
  value: string | number | boolean,
  options: { readonly after?: string } = {},
): readonly TextEdit[] | undefined {
  const written = getIn(map, key);
  return written === undefined ? insertKey(doc, map, key, value, options) : replaceScalar(doc, written, value);
}

/** Renames an entry's key and keeps its quotes. Undefined if the mapping already has the new key. */
export function renameKey(doc: YamlDocument, entry: Cursor | undefined, key: string): readonly TextEdit[] | undefined {
  const holder = entry?.parent;
  const own = entry?.entry;
  if (own === undefined || holder === undefined || holder.node.kind !== 'map') return undefined;
  // The key belongs to this mapping even if its value is an alias.
  if (holder.shared || !isWrittenIn(holder.node, own) || isAnchored(doc, holder)) return undefined;
  if (holder.node.entries.some((other) => other.key === key)) return undefined;
  const written = doc.text.slice(own.keySpan.start, own.keySpan.end);
  if (hidesAnother(doc, holder, own.key)) return undefined;
  if (/^[*[{|>]|\{\{|\{%|\n/.test(written)) return undefined;
  const quote = written.charAt(0);
  const newText = quote === '"' || quote === "'" ? renderQuoted(key, quote) : renderScalar(key, placeOf(doc, holder));
  return [{ span: own.keySpan, newText }];
}

/** Appends entries to a file that is empty except for comments. The spans are offsets in the file. */
export function appendEntries(
  fileText: string,
  entries: readonly (readonly [key: string, value: PlainValue])[],
): readonly TextEdit[] {
  const style = styleOfNew(fileText);
  const lines = entries.flatMap(([key, value]) => renderEntry(key, value, 0, style));
  const gap = fileText === '' || /[\r\n]$/.test(fileText) ? '' : style.eol;
  const at = fileText.length;
  return [{ span: { start: at, end: at }, newText: gap + lines.map((line) => line + style.eol).join('') }];
}

/** Inserts a comment line above the line of an offset. `span` is the comment's text after the edit. */
export function insertComment(
  text: string,
  offset: number,
  comment: string,
  eol: string,
): { readonly edits: readonly TextEdit[]; readonly span: Span } {
  const start = lineStart(text, offset);
  const line = `${/^[ \t]*/.exec(text.slice(start))?.[0] ?? ''}# ${comment}`;
  const end = start + line.length;
  return {
    edits: [{ span: { start, end: start }, newText: line + eol }],
    span: { start: end - comment.length, end },
  };
}

/** The style for a file that has no content to follow. */
function styleOfNew(fileText: string): WritingStyle {
  return { eol: fileText.includes('\r\n') ? '\r\n' : '\n', step: 2, dash: 2, quote: '"', literal: true };
}
