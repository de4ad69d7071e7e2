/** A value that is made when it is first asked for. What it is made from is let go then. */
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
