/** `; did you mean 'gpu'?`, or an empty string without candidates. */
export function didYouMean(near: readonly string[]): string {
  if (near.length === 0) return '';
  const quoted = near.map((word) => `'${word}'`);
  const last = quoted.pop();
  return `; did you mean ${quoted.length === 0 ? '' : `${quoted.join(', ')} or `}${last}?`;
}

/** The candidates that the author of `word` may have meant, best first; empty if none is close. */
export function nearest(word: string, candidates: Iterable<string>): readonly string[] {
  const wanted = word.toLowerCase();
  const limit = Math.max(1, Math.floor(wanted.length / 3));
  return [...candidates]
    .filter((candidate) => candidate.length >= wanted.length - limit)
    .map((candidate) => {
      const lowered = candidate.toLowerCase();
      const begins = wanted.length > 2 && lowered.startsWith(wanted);
      return { candidate, begins, distance: editDistance(wanted, lowered, begins ? lowered.length : limit) };
    })
    .filter(({ distance, begins }) => distance <= limit || begins)
    .sort(
      (a, b) => Number(b.begins) - Number(a.begins) || a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1),
    )
    .map(({ candidate }) => candidate)
    .slice(0, 3);
}

/** Levenshtein distance with a swap of adjacent characters as one step; infinite as soon as it certainly exceeds the limit. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return Number.POSITIVE_INFINITY;
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1];
      let best = Math.min(
        (above[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (above[column - 1] ?? 0) + (same ? 0 : 1),
      );
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        best = Math.min(best, (before[column - 2] ?? 0) + 1);
      }
      current.push(best);
    }
    // A swap spans two rows.
    if (Math.min(...current) > limit && Math.min(...above) > limit) return Number.POSITIVE_INFINITY;
    before = above;
    above = current;
  }
  return above[b.length] ?? 0;
}
