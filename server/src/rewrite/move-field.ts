import { asNumber, type Cursor, entries, getIn, isIncomplete, items, keyOf, spanOf } from '../yaml/cursor.ts';
import { appendItem, insertKey, type PlainValue, removeKey } from '../yaml/edit.ts';
import type { YamlDocument } from '../yaml/node.ts';
import type { TextEdit } from '../yaml/span.ts';
import { tableOf } from '../yaml/table.ts';
import { type Edits, type Fix, fix, joinEdits } from './fix.ts';

/**
 * Moves a field from one mapping to another and adds missing mappings on the path. Undefined if the target has the field already, if the
 * value contains comments or templates, or if either text cannot be edited without damage.
 * @param emptied what is removed: the field, or the mapping that contains nothing else
 */
export function moveField(
  document: YamlDocument,
  field: Cursor,
  owner: Cursor,
  path: readonly string[],
  title: string,
  emptied: readonly Cursor[] = [field],
): Fix | undefined {
  const value = plainOf(field);
  const { start, end } = spanOf(field);
  const hasComment = document.comments.some(({ span }) => span.start > start && span.start < end);
  if (value === undefined || hasComment) return undefined;
  const written = writeInto(document, owner, path, value);
  const removed = joinEdits(...emptied.map((one) => removeKey(document, one)));
  return touch(written, removed) ? undefined : fix(title, 'unsafe', removed, written);
}

function writeInto(document: YamlDocument, owner: Cursor, path: readonly string[], value: PlainValue): Edits {
  const [key, ...rest] = path;
  if (key === undefined) return undefined;
  const existing = getIn(owner, key);
  if (existing === undefined) {
    const whole = rest.reduceRight<PlainValue>((inner, step) => ({ [step]: inner }), value);
    return insertKey(document, owner, key, whole);
  }
  if (rest.length > 0) return writeInto(document, existing, rest, value);
  // An existing list accepts one more item, such as a toleration.
  const [only, ...others] = Array.isArray(value) ? (value as readonly PlainValue[]) : [];
  return existing.node.kind === 'seq' && only !== undefined && others.length === 0
    ? appendItem(document, existing, only)
    : undefined;
}

/** The value as plain data; undefined if a part is unknown or belongs to an alias. */
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

/** Whether an insertion touches a removal: the result would depend on the order of the edits. */
function touch(written: readonly TextEdit[] = [], removed: readonly TextEdit[] = []): boolean {
  return written.some(({ span }) =>
    removed.some((other) => span.start <= other.span.end && other.span.start <= span.end),
  );
}
