import type { Cursor } from './cursor.ts';
import type { YamlDocument } from './node.ts';
import type { TextEdit } from './span.ts';

/** A value to be written: what JSON can say. */
export type PlainValue =
  | string
  | number
  | boolean
  | null
  | readonly PlainValue[]
  | { readonly [key: string]: PlainValue };

// This file is the only maker of edits. Every edit is a minimal splice with offsets of the document's text that takes indentation,
// flow or block style, quotes and line ends from the neighbours, and leaves comments alone. Nothing is ever re-printed.
// A function answers undefined when it cannot make the edit without damage (for instance a target behind an alias that
// has no text of its own here); the caller then offers no fix.

/** Replaces a scalar's text; keeps the quotes it had (a plain scalar stays plain where the new value allows). */
export declare function replaceScalar(
  doc: YamlDocument,
  target: Cursor,
  value: string | number | boolean | null,
): readonly TextEdit[] | undefined;
/** Puts `key: value` into a mapping, as its last entry or behind the entry named `after`. The map may be `{}` or an empty value. */
export declare function insertKey(
  doc: YamlDocument,
  map: Cursor,
  key: string,
  value: PlainValue,
  options?: { readonly after?: string },
): readonly TextEdit[] | undefined;
/** Removes an entry of a mapping with its own lines and its trailing comment's line only where the comment is on the entry's lines and kept otherwise. */
export declare function removeKey(doc: YamlDocument, entry: Cursor): readonly TextEdit[] | undefined;
export declare function renameKey(doc: YamlDocument, entry: Cursor, key: string): readonly TextEdit[] | undefined;
export declare function appendItem(doc: YamlDocument, seq: Cursor, value: PlainValue): readonly TextEdit[] | undefined;
export declare function removeItem(doc: YamlDocument, item: Cursor): readonly TextEdit[] | undefined;
/** Appends a new `---` document at the end of a file's text (spans are of the file). */
export declare function appendDocument(fileText: string, value: PlainValue): readonly TextEdit[];
