// Measures of similarity between a written name and known ones. All comparisons of names use one of these.
//
// - `isSlip`: one typing slip apart. A known name this close is certainly the intended one.
// - `isShuffled`: the same letters in another order, a common misspelling of vendor names.
// - `nearest`: a few edits apart. Good enough for "did you mean", not for a finding.

/** One letter added, missing, replaced or swapped with its neighbor. Names that differ in a digit are different things. */
export function isSlip(one: string, other: string): boolean {
  if (one === other || Math.min(one.length, other.length) < 4 || Math.abs(one.length - other.length) > 1) return false;
  const { start, a, b, end } = difference(one, other);
  if (/\d/.test(a + b)) return false;
  if (a.length !== b.length) return a.length + b.length === 1;
  // A last letter or a single-letter word can number a series: `train-a` and `train-b`.
  const alone = /(?:^|[^a-z])$/i.test(one.slice(0, start)) && /^(?:$|[^a-z])/i.test(one.slice(start + 1));
  return areExchanged(a, b) || (a.length === 1 && end > 0 && !alone);
}

/** Two adjacent letters swapped, in names of any length: in short names, any other slip yields another name (`gpu`, `tpu`, `npu`). */
export function isExchange(one: string, other: string): boolean {
  if (one.length !== other.length) return false;
  const { a, b } = difference(one, other);
  return areExchanged(a, b) && /^[a-z]+$/i.test(a);
}

function areExchanged(a: string, b: string): boolean {
  return a.length === 2 && b.length === 2 && a[0] === b[1] && a[1] === b[0];
}

/** The same letters in another order, with the same first letter. */
export function isShuffled(one: string, other: string): boolean {
  if (one === other || one.length < 5 || one.length !== other.length || one[0] !== other[0]) return false;
  return [...one].sort().join('') === [...other].sort().join('');
}

/** The parts of two names between their common prefix and suffix. */
function difference(one: string, other: string) {
  let start = 0;
  while (start < one.length && one[start] === other[start]) start += 1;
  let end = 0;
  while (end < Math.min(one.length, other.length) - start && one.at(-1 - end) === other.at(-1 - end)) end += 1;
  return { start, end, a: one.slice(start, one.length - end), b: other.slice(start, other.length - end) };
}

/** The candidates closest to `word`, best first; empty if none is close. */
export function nearest(word: string, candidates: Iterable<string>): readonly string[] {
  const written = word.toLowerCase();
  const limit = Math.max(1, Math.floor(written.length / 3));
  return [...candidates]
    .filter((candidate) => candidate.length >= written.length - limit)
    .map((candidate) => {
      const known = candidate.toLowerCase();
      const begins = written.length > 2 && known.startsWith(written);
      return { candidate, begins, distance: editDistance(written, known, begins ? known.length : limit) };
    })
    .filter(({ distance, begins }) => distance <= limit || begins)
    .sort(
      (a, b) => Number(b.begins) - Number(a.begins) || a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1),
    )
    .map(({ candidate }) => candidate)
    .slice(0, 3);
}

/** The same among the names in files; empty if there are many, because comparing many with many takes too long. */
export function nearestOfFew(word: string, names: readonly string[]): readonly string[] {
  return names.length > 100 ? [] : nearest(word, names);
}

/** Levenshtein distance with swapped neighbors as one edit; infinite once it must exceed the limit. */
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
    // A swap reaches back two rows.
    if (Math.min(...current) > limit && Math.min(...above) > limit) return Number.POSITIVE_INFINITY;
    before = above;
    above = current;
  }
  return above[b.length] ?? 0;
}
