import type { Cursor } from '../yaml/cursor.ts';
import { appendItem, insertKey, type PlainValue } from '../yaml/edit.ts';
import type { YamlDocument } from '../yaml/node.ts';
import type { TextEdit } from '../yaml/span.ts';

/** Appends to a list of a mapping, which may not be there yet. Undefined where something else stands there. */
export function addItem(
  document: YamlDocument,
  owner: Cursor,
  list: Cursor | undefined,
  key: string,
  item: PlainValue,
): readonly TextEdit[] | undefined {
  if (owner.shared || list?.shared === true) return undefined;
  if (list === undefined) return insertKey(document, owner, key, [item]);
  return list.node.kind === 'seq' ? appendItem(document, list, item) : undefined;
}
