/** The id of a row: the kind of what is below it, and the names that lead there. */
export function idOf(path: readonly string[]): string {
  return path.map((step) => step.replaceAll('\n', ' ')).join('\n');
}

/** The path in an id, which comes back from an editor; empty for the first level. */
export function pathOf(id: string | null): readonly string[] {
  return id === null ? [] : id.split('\n');
}
