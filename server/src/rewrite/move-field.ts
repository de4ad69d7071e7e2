import { asNumber, type Cursor, entries, getIn, isIncomplete, items, keyOf, spanOf } from '../yaml/cursor.ts';
import { appendItem, insertKey, type PlainValue, removeKey } from '../yaml/edit.ts';
import type { YamlDocument } from '../yaml/node.ts';
import type { TextEdit } from '../yaml/span.ts';
import { tableOf } from '../yaml/table.ts';
import { type Edits, type Fix, fix } from './fix.ts';

/**
 * Takes a field out of one mapping and writes it into another, below mappings that may not be there yet. Undefined where the other has
 * it already, where comments or templates stand in it, and where either text cannot be edited without damage.
 */
export function moveField(
  document: YamlDocument,
  field: Cursor,
  owner: Cursor,
  path: readonly string[],
  title: string,
): Fix | undefined {
  const value = plainOf(field);
  const { start, end } = spanOf(field);
  const hasComment = document.comments.some(({ span }) => span.start > start && span.start < end);
  if (value === undefined || hasComment) return undefined;
  const written = writeInto(document, owner, path, value);
  const removed = removeKey(document, field);
  return meet(written, removed) ? undefined : fix(title, 'unsafe', removed, written);
}

function writeInto(document: YamlDocument, owner: Cursor, path: readonly string[], value: PlainValue): Edits {
  const [key, ...rest] = path;
  if (key === undefined) return undefined;
  const there = getIn(owner, key);
  if (there === undefined) {
    const whole = rest.reduceRight<PlainValue>((inner, step) => ({ [step]: inner }), value);
    return insertKey(document, owner, key, whole);
  }
  if (rest.length > 0) return writeInto(document, there, rest, value);
  // One more toleration may stand beside others.
  const [only, ...others] = Array.isArray(value) ? (value as readonly PlainValue[]) : [];
  return there.node.kind === 'seq' && only !== undefined && others.length === 0
    ? appendItem(document, there, only)
    : undefined;
}

/** What is written as JSON has it; undefined where a part is not known, or is another place's text. */
function plainOf(cursor: Cursor): PlainValue | undefined {
  const { node } = cursor;
  if (node.kind === 'scalar') {
    const inexact = typeof node.value === 'number' && asNumber(cursor) === undefined;
    return node.templated || inexact ? undefined : node.value;
  }
  if (isIncomplete(cursor)) return undefined;
  if (node.kind === 'seq') {
    const values = items(cursor).map((item) => (item.shared ? undefined : plainOf(item)));
    return values.every((value) => value !== undefined) ? values : undefined;
  }
  const pairs = entries(cursor).map((entry) => [keyOf(entry), entry.shared ? undefined : plainOf(entry)] as const);
  const known = pairs.flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const]));
  return known.length === pairs.length ? tableOf(known) : undefined;
}

/** An insertion at the border of what is taken away would depend on the order of edits. */
function meet(written: readonly TextEdit[] = [], removed: readonly TextEdit[] = []): boolean {
  return written.some(({ span }) =>
    removed.some((other) => span.start <= other.span.end && other.span.start <= span.end),
  );
}
