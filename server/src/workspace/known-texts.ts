/** A document of a file, or an item of a long list. */
interface Part {
  readonly text: string;
  readonly item?: boolean;
  /** As in the text of a document. */
  readonly opened?: string | undefined;
}

/**
 * Finds known documents by their texts. Each is returned only once, so that two documents with the same text stay two documents.
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

function keyOf({ text, item = false, opened = '' }: Part): string {
  return `${item} ${opened} ${text}`;
}
