import type { Cursor } from './cursor.ts';
import { entries, isIncomplete, isTemplated, items, keyOf } from './cursor.ts';
import { tableOf } from './table.ts';

/** The value at a place as plain data, as JSON would hold it; undefined if a template decides a part of it. */
export function plainOf(cursor: Cursor): unknown {
  if (isTemplated(cursor) || isIncomplete(cursor)) return undefined;
  const { node } = cursor;
  if (node.kind === 'scalar') return node.value;
  if (node.kind === 'seq') {
    const values = items(cursor).map(plainOf);
    return values.includes(undefined) ? undefined : values;
  }
  const pairs = entries(cursor).map((entry) => [keyOf(entry), plainOf(entry)] as const);
  return pairs.some(([, value]) => value === undefined) ? undefined : tableOf(pairs);
}
