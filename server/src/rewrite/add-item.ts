import { type Cursor, getIn } from '../yaml/cursor.ts';
import { appendItem, insertKey, type PlainValue } from '../yaml/edit.ts';
import type { YamlDocument } from '../yaml/node.ts';
import type { Edits } from './fix.ts';

/**
 * Appends to a list of a mapping. A missing list is inserted after the key named `after`. Undefined if the value is not a list.
 */
export function addItem(
  document: YamlDocument,
  owner: Cursor,
  key: string,
  item: PlainValue,
  options: { readonly after?: string } = {},
): Edits {
  const list = getIn(owner, key);
  if (list === undefined) return insertKey(document, owner, key, [item], options);
  return list.node.kind === 'seq' ? appendItem(document, list, item) : undefined;
}
