/** Computes an answer once per object: for a workload, not again for each of its thousand containers. */
export function once<K extends object, V>(answer: (whole: K) => V): (whole: K) => V {
  const known = new WeakMap<K, { readonly value: V }>();
  return (whole) => {
    const found = known.get(whole) ?? { value: answer(whole) };
    known.set(whole, found);
    return found.value;
  };
}
