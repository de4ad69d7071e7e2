import { asText, type Cursor, entries, isTemplated, items, keyOf } from '../yaml/cursor.ts';

/** A value from YAML or HCL without its position: a text, a list, a mapping, or null for what is computed elsewhere. */
export type Field = string | null | Template | Call | readonly Field[] | Fields;

/** A text of HCL with variables and local values: `${var.region}-b`. */
export interface Template {
  readonly template: string;
  /** Instead of a field that is missing: `lookup(each.value, "max", 3)`. */
  readonly unset?: string;
  /** What a condition makes of true and false. */
  readonly choice?: readonly [yes: string | readonly string[], no: string | readonly string[]];
  /** The condition is whether the text is this one, or another. */
  readonly compared?: { readonly value: string; readonly isEqual: boolean };
  /** What a condition makes of an unknown text. */
  readonly otherwise?: string;
  /** The mapping that a `for` expression makes of a list or a mapping. */
  readonly mapped?: Mapped;
}

/** `{ for pool in var.pools : pool.name => pool if pool.enabled }`. */
export interface Mapped {
  /** The field of each item that is its key; null for the key or index that it has. */
  readonly key: string | null;
  /** The field that is true for those which are kept. */
  readonly when?: string;
}

/** A function of HCL with its argument, if the reader keeps functions: `file("prod.yaml")`. */
export interface Call {
  readonly call: string;
  readonly argument: Field;
}

/** A mapping: its fields by name. */
export type Fields = ReadonlyMap<string, Field>;

/** Whether a value is a mapping. */
export function isFields(field: Field | undefined): field is Fields {
  return field instanceof Map;
}

/** A field's name in any case: `machine_type`, `machineType`, `MachineType`. */
export function meaningOf(key: string): string {
  return key.replace(/[-_]/g, '').toLowerCase();
}

/** The field of a mapping whose name has a meaning. */
export function fieldNamed(fields: Fields | undefined, ...meanings: readonly string[]): Field | undefined {
  for (const [key, value] of fields ?? []) if (meanings.includes(meaningOf(key))) return value;
  return undefined;
}

/** Whether a value is a text with variables. */
export function isTemplateText(field: Field | undefined): field is Template {
  return typeof field === 'object' && field !== null && 'template' in field;
}

/** Whether a value is the result of a function. */
export function isCall(field: Field | undefined): field is Call {
  return typeof field === 'object' && field !== null && 'call' in field;
}

/** Deeper values describe no nodes. */
export const maxDepth = 24;

/** The fields below a cursor. @param isUnknown whether a part is left out; by default, what a template fills in */
export function fieldOf(at: Cursor, isUnknown: (at: Cursor) => boolean = isTemplated, depth = 0): Field {
  if (isUnknown(at) || depth > maxDepth) return null;
  const inner = (part: Cursor) => fieldOf(part, isUnknown, depth + 1);
  if (at.node.kind === 'seq') return items(at).map(inner);
  if (at.node.kind === 'map') return new Map(entries(at).map((entry) => [keyOf(entry), inner(entry)]));
  return asText(at) ?? null;
}
