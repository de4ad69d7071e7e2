/** A value computed on first use. Its inputs are released afterwards. */
export function lazy<T>(compute: () => T): () => T {
  let pending: (() => T) | undefined = compute;
  let value: T;
  return () => {
    if (pending !== undefined) {
      value = pending();
      pending = undefined;
    }
    return value;
  };
}
