/** Removes the `$0` from a text and returns its offset. */
export function takeCursor(marked: string): { readonly text: string; readonly offset: number } {
  const offset = marked.indexOf('$0');
  if (offset < 0) throw new Error('no $0 in the text');
  return { text: marked.replace('$0', ''), offset };
}

/** The lines that differ, in diff notation; equal lines before and after them are left out. */
export function changedLines(before: string, after: string): string {
  const old = before.split('\n');
  const now = after.split('\n');
  let start = 0;
  while (start < old.length && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < old.length - start && old.at(-1 - end) === now.at(-1 - end)) end += 1;
  const removed = old.slice(start, old.length - end).map((line) => `-${line}`);
  const added = now.slice(start, now.length - end).map((line) => `+${line}`);
  return [...removed, ...added].join('\n');
}
