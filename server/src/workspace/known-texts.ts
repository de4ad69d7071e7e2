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
  const documents = new Map<string, T[]>();
  const items = new Map<string, T[]>();
  for (const one of [...before].reverse()) {
    const known = one.item === true ? items : documents;
    const same = known.get(keyOf(one));
    if (same === undefined) known.set(keyOf(one), [one]);
    else same.push(one);
  }
  return (part) => (part.item === true ? items : documents).get(keyOf(part))?.pop();
}

/** The text itself where possible: a joined key is a copy of the whole file with each edit. */
function keyOf({ text, opened = '' }: Part): string {
  return opened === '' ? text : `${opened}\0${text}`;
}
