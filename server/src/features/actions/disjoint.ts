import type { TextEdit } from '../../yaml/span.ts';

/** The changes that touch no earlier one. Two insertions at the same place touch, because their order would be arbitrary. */
export function disjoint<C extends { readonly edits: readonly TextEdit[] }>(changes: readonly C[]): readonly C[] {
  const sorted: TextEdit[] = [];
  return changes.filter(({ edits }) => {
    if (edits.some((edit) => touchesSorted(sorted, edit))) return false;
    for (const edit of edits) sorted.splice(indexFor(sorted, edit.span.start), 0, edit);
    return true;
  });
}

/** The first index whose edit starts at or after the offset. */
function indexFor(sorted: readonly TextEdit[], start: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle]?.span.start ?? 0) < start) low = middle + 1;
    else high = middle;
  }
  return low;
}

function touchesSorted(sorted: readonly TextEdit[], { span }: TextEdit): boolean {
  const index = indexFor(sorted, span.start);
  const [before, after] = [sorted[index - 1], sorted[index]];
  if (before !== undefined && before.span.end > span.start) return true;
  return after !== undefined && (after.span.start === span.start || after.span.start < span.end);
}
