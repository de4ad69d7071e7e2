import { own } from '../yaml/table.ts';

// Reads objects as they come from an API server or a manifest: anything may be missing or of another type.

/** The value at a path of field names; undefined if a step is missing. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((here, step) => own(here, step), value);
}

/** A text; undefined for any other type. */
export function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** A number; undefined for any other type. */
export function number(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

/** The items of a list; an empty list for any other type. */
export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The texts of a list; undefined if it is missing. */
export function texts(value: unknown): readonly string[] {
  return list(value).flatMap((item) => (typeof item === 'string' ? [item] : []));
}

/** The texts of a mapping, by name. */
export function textMap(value: unknown): ReadonlyMap<string, string> {
  const entries = fields(value).flatMap(([name, field]) => (typeof field === 'string' ? [[name, field] as const] : []));
  return new Map(entries);
}

/** The fields of a mapping; an empty list for any other type. */
export function fields(value: unknown): readonly (readonly [string, unknown])[] {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
}

/** A time of the API, in milliseconds since the epoch; null without one. */
export function timeOf(value: unknown): number | null {
  const time = Date.parse(text(value) ?? '');
  return Number.isFinite(time) ? time : null;
}
