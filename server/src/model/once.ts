/** Answers a question about a whole once, however many of its parts ask: of a workload for each of its thousand containers. */
export function once<K extends object, V>(answer: (whole: K) => V): (whole: K) => V {
  const known = new WeakMap<K, { readonly value: V }>();
  return (whole) => {
    const found = known.get(whole) ?? { value: answer(whole) };
    known.set(whole, found);
    return found.value;
  };
}
