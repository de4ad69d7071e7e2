/** One pattern for several, so that each can have its own reason. The flags are those of the first. */
export function either(first: RegExp, ...others: readonly RegExp[]): RegExp {
  return new RegExp([first, ...others].map(({ source }) => source).join('|'), first.flags);
}

/** A pattern for names that consist of words between `-`, `.` and `_`, and contain one of these. Each word is a pattern. */
export function wordOf(...words: readonly string[]): RegExp {
  return new RegExp(`(?:^|[-._])(?:${words.join('|').replaceAll(' ', '|')})(?:$|[-._])`);
}

/** Words, separated by spaces in each line. */
export function wordSet(...lines: readonly string[]): ReadonlySet<string> {
  return new Set(lines.flatMap((line) => line.split(' ')));
}
