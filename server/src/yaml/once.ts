/** Computes an answer once per object: for a workload, not again for each of its thousand containers. */
export function once<K extends object, V>(answer: (whole: K) => V): (whole: K) => V {
  // Thousands of documents have their own, and most are never asked.
  let known: WeakMap<K, V | typeof nothing> | undefined;
  return (whole) => {
    known ??= new WeakMap();
    const found = known.get(whole);
    if (found !== undefined) return found === nothing ? (undefined as V) : found;
    const value = answer(whole);
    known.set(whole, value === undefined ? nothing : value);
    return value;
  };
}

/** Stands for an answer that is undefined. */
const nothing: unique symbol = Symbol('undefined');
