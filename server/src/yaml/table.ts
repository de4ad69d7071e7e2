declare const bare: unique symbol;

/** What is protected can be neither written down nor copied: no literal, spread or `Object.fromEntries` is of this type. */
declare class Bare {
  protected readonly [bare]: true;
}

/**
 * Values by name, where the names may come from a file. It has no prototype, so `constructor` and `__proto__` are names like all others.
 * It is the only type that may be looked into by any name: `test/tables.test.ts` keeps other index signatures out of the sources.
 */
export type Table<T> = Bare & { readonly [name: string]: T };

/** A table that is written down, or put together of several: of a name in two of them the last value counts. */
export function table<T>(...parts: readonly ({ readonly [name: string]: T } | undefined)[]): Table<T> {
  return tableOf(parts.flatMap((part) => Object.entries(part ?? {})));
}

/** What a value of any shape has of its own by a name. */
export function own(value: unknown, name: string | number): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string | number, unknown>>)[name]
    : undefined;
}

/** A table of names that were read. Of a name that comes twice the last value counts. */
export function tableOf<T>(entries: Iterable<readonly [string, T]>): Table<T> {
  const made = Object.create(null);
  for (const [name, value] of entries) made[name] = value;
  return made;
}
