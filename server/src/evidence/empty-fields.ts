import { type ApiType, requiredApiFields } from '../catalog/index.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { type Cursor, isIncomplete } from '../yaml/cursor.ts';
import type { YamlNode } from '../yaml/node.ts';

/** Whether a field is not there. A key without a value is null, which is the same; written as a word, null can be the deletion of a patch. */
export function isMissing(at: Cursor | undefined): boolean {
  return at === undefined || (isUnwritten(at.node) && !at.shared);
}

/** Whether an item is a dash without a value, where the API server needs a field. */
export function isEmptyItem({ node }: Cursor, type: ApiType, list: Cursor): boolean {
  if (type.form !== 'object' || !isUnwritten(node) || isIncomplete(list)) return false;
  return neverEmpty.has(type.name) || requiredApiFields(type.name).length > 0;
}

/** Whether a comment follows an empty value on its line: mostly it says who fills it in. */
export function isLeftOpen(at: Cursor, text: string): boolean {
  const { start } = at.entry?.keySpan ?? at.node.span;
  const line = text.lastIndexOf('\n', start - 1) + 1;
  return isUnwritten(at.node) && /^[^#\n]*[ \t]#/.test(text.slice(line, start + 300));
}

/** Types of items that have no required field, but cannot be empty. */
const neverEmpty = wordSet('EnvFromSource Toleration');

function isUnwritten(node: YamlNode): boolean {
  return node.kind === 'scalar' && node.value === null && node.source === '' && !node.templated;
}
