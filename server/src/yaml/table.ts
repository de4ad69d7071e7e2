declare const bare: unique symbol;

/** A protected member cannot be written or copied: no literal, spread or `Object.fromEntries` has this type. */
declare class Bare {
  protected readonly [bare]: true;
}

/**
 * Values by name, where the names may come from a file. It has no prototype, so `constructor` and `__proto__` are ordinary names. It is the
 * only type that may be indexed by any name: `test/tables.test.ts` keeps other index signatures out of the sources.
 */
export type Table<T> = Bare & { readonly [name: string]: T };

/** A table from literals, or merged from several; of duplicate names the last value counts. */
export function table<T>(...parts: readonly ({ readonly [name: string]: T } | undefined)[]): Table<T> {
  return tableOf(parts.flatMap((part) => Object.entries(part ?? {})));
}

/** An own property of a value of any type. */
export function own(value: unknown, name: string | number): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string | number, unknown>>)[name]
    : undefined;
}

/** A table from entries that were read. Of duplicate names the last value counts. */
export function tableOf<T>(entries: Iterable<readonly [string, T]>): Table<T> {
  const made = Object.create(null);
  for (const [name, value] of entries) made[name] = value;
  return made;
}
