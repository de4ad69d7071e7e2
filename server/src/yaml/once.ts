/** Computes an answer once per object: for a workload, not again for each of its thousand containers. */
export function once<K extends object, V>(answer: (whole: K) => V): (whole: K) => V {
  const known = new WeakMap<K, { readonly value: V }>();
  return (whole) => {
    const found = known.get(whole);
    if (found !== undefined) return found.value;
    const value = answer(whole);
    known.set(whole, { value });
    return value;
  };
}
