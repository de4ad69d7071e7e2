/** A document of a file, or an item of a long list. */
interface Part {
  readonly text: string;
  readonly item?: boolean;
}

/**
 * What was known of documents, by their texts. Each is handed out once, so that two equal documents never count as one: who asks for all of
 * them must learn that there are two.
 */
export function knownByText<T extends Part>(before: readonly T[]): (part: Part) => T | undefined {
  const known = new Map<string, T[]>();
  for (const one of [...before].reverse()) {
    const same = known.get(keyOf(one));
    if (same === undefined) known.set(keyOf(one), [one]);
    else same.push(one);
  }
  return (part) => known.get(keyOf(part))?.pop();
}

function keyOf({ text, item = false }: Part): string {
  return `${item} ${text}`;
}
