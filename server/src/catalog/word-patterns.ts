/** One pattern for several, so that each can have its own reason. The flags are those of the first. */
export function either(first: RegExp, ...others: readonly RegExp[]): RegExp {
  return new RegExp([first, ...others].map(({ source }) => source).join('|'), first.flags);
}

/** A pattern for names that consist of words between `-`, `.` and `_`, and contain one of these. Each word is a pattern. */
export function wordOf(...words: readonly string[]): RegExp {
  return new RegExp(`(?:^|[-._])(?:${oneOf(...words)})(?:$|[-._])`);
}

/** A pattern for texts that contain one of these words, also within other words and in any case. Each word is a pattern. */
export function partOf(...words: readonly string[]): RegExp {
  return new RegExp(oneOf(...words), 'i');
}

/** The source of a pattern that matches one of these words, separated by spaces in each line. Each word is a pattern. */
export function oneOf(...lines: readonly string[]): string {
  return lines.join('|').replaceAll(' ', '|');
}

/** Words, separated by spaces in each line. */
export function wordSet(...lines: readonly string[]): ReadonlySet<string> {
  return new Set(lines.flatMap((line) => line.split(' ')));
}
