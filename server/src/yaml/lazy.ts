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

/** Longer texts are rarely repeated. */
const maxKey = 200;
/** A project has fewer names; a session may see many. */
const maxKnown = 2000;

/** Computes an answer once per name, such as that of a flag or an image, because files of a project have mostly the same. */
export function oncePerName<V>(answer: (name: string) => V): (name: string) => V {
  const known = new Map<string, { readonly value: V }>();
  return (name) => {
    const found = known.get(name);
    if (found !== undefined) return found.value;
    const value = answer(name);
    if (known.size >= maxKnown) known.clear();
    if (name.length <= maxKey) known.set(name, { value });
    return value;
  };
}
