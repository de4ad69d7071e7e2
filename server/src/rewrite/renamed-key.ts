import type { ApiType } from '../catalog/index.ts';
import { type Cursor, entries, getIn, isIncomplete, items, keyOf, spanOf } from '../yaml/cursor.ts';
import { insertKey, type PlainValue, removeKey, renameKey } from '../yaml/edit.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { tableOf } from '../yaml/table.ts';
import { type Edits, joinEdits } from './fix.ts';
import { plainValue } from './plain-value.ts';

/**
 * Renames a key of a chart's values. If the new key takes its value in another form, the value is written in that form: labels of nodes as terms,
 * and variables as a list or a mapping. Undefined if there is no such form.
 */
export function renameWithForm(document: YamlDocument, at: Cursor, key: string, type: ApiType | undefined): Edits {
  const { kind } = at.node;
  const isMap = type?.form === 'map' || type?.form === 'object';
  if (kind === 'scalar' || (type?.form === 'list' ? kind === 'seq' : !isMap || kind === 'map'))
    return renameKey(document, at, key);
  const { start, end } = spanOf(at);
  if (isIncomplete(at) || document.comments.some(({ span }) => span.start > start && span.start < end))
    return undefined;
  const written = inForm(at, type);
  return written === undefined ? undefined : replaceEntry(document, at, key, written);
}

function inForm(at: Cursor, type: ApiType | undefined): PlainValue | undefined {
  if (type?.form === 'map') return asMapping(at);
  const item = type?.form === 'list' && type.of.form === 'object' ? type.of.name : undefined;
  if (item === 'EnvVar') return asVariables(at);
  return item === 'NodeSelectorTerm' ? asTerms(at) : undefined;
}

/** `A: b` as `- {name: A, value: b}`. */
function asVariables(at: Cursor): PlainValue | undefined {
  const own = entries(at);
  const variables = own.flatMap((one): readonly PlainValue[] => {
    const value = textOf(one);
    if (value !== undefined) return [{ name: keyOf(one), value }];
    const from = getIn(one, 'valueFrom');
    const source = from === undefined || entries(one).length > 1 ? undefined : plainValue(from);
    return source === undefined ? [] : [{ name: keyOf(one), valueFrom: source }];
  });
  return variables.length === own.length && own.length > 0 ? variables : undefined;
}

/** `- {name: A, value: b}` as `A: b`. */
function asMapping(at: Cursor): PlainValue | undefined {
  const own = items(at);
  const pairs = own.flatMap((one): readonly (readonly [string, string])[] => {
    const [name, value] = [textOf(getIn(one, 'name')), textOf(getIn(one, 'value'))];
    return name === undefined || value === undefined || entries(one).length > 2 ? [] : [[name, value]];
  });
  const isUnique = new Set(pairs.map(([name]) => name)).size === own.length;
  return isUnique && own.length > 0 ? tableOf(pairs) : undefined;
}

/** `gpu: l4` as a term that requires it. */
function asTerms(at: Cursor): PlainValue | undefined {
  const own = entries(at);
  const matchExpressions = own.flatMap((one) => {
    const value = textOf(one);
    return value === undefined ? [] : [{ key: keyOf(one), operator: 'In', values: [value] }];
  });
  return matchExpressions.length === own.length && own.length > 0 ? [{ matchExpressions }] : undefined;
}

/** The text of a known value. */
function textOf(at: Cursor | undefined): string | undefined {
  const value = at?.node.kind === 'scalar' ? plainValue(at) : undefined;
  return value === undefined || value === null ? undefined : String(value);
}

/** Removes an entry of a mapping and inserts another one next to it, where both edits keep apart. */
function replaceEntry(document: YamlDocument, at: Cursor, key: string, value: PlainValue): Edits {
  const removed = removeKey(document, at);
  const all = entries(at.parent).map((one, index) => ({ one, index }));
  const own = all.findIndex(({ one }) => keyOf(one) === keyOf(at));
  const near = all
    .filter(({ index }) => index !== own)
    .sort((a, b) => Math.abs(a.index - own) - Math.abs(b.index - own));
  const others = near.map(({ one }) => one);
  if (removed === undefined || others.some((one) => keyOf(one) === key)) return undefined;
  for (const other of others) {
    const inserted = insertKey(document, at.parent, key, value, { after: keyOf(other) });
    const touches = inserted?.some(({ span }) =>
      removed.some((one) => span.start <= one.span.end && one.span.start <= span.end),
    );
    if (inserted !== undefined && touches === false) return joinEdits(removed, inserted);
  }
  return undefined;
}
