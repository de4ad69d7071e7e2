import { type Cursor, entries, isIncomplete, isTemplated, items, keyOf } from '../yaml/cursor.ts';
import type { PlainValue } from '../yaml/edit.ts';
import { tableOf } from '../yaml/table.ts';

/** A value to write elsewhere once more; undefined if a template decides a part of it. */
export function plainValue(at: Cursor): PlainValue | undefined {
  const { node } = at;
  if (isTemplated(at) || isIncomplete(at)) return undefined;
  // A number with an exponent is hardly what was meant, and other readers of YAML take it for text.
  if (node.kind === 'scalar')
    return typeof node.value === 'number' && /[^\d.-]/.test(String(node.value)) ? undefined : node.value;
  if (node.kind === 'seq') return joined(items(at).map(plainValue));
  const values = joined(entries(at).map(plainValue));
  return values && tableOf(entries(at).map((entry, index) => [keyOf(entry), values[index] ?? null] as const));
}

function joined(values: readonly (PlainValue | undefined)[]): readonly PlainValue[] | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length === values.length ? known : undefined;
}
