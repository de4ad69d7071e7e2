import { linesOf } from './mutate.ts';

/** A shorter text that still fails: removes lines first, then words, then characters. The number of attempts is limited. */
export async function shrinkText(
  text: string,
  fails: (text: string) => Promise<boolean>,
  tries = 3000,
): Promise<string> {
  let left = tries;
  const counted = async (parts: readonly string[]) => {
    left -= 1;
    return left > 0 && (await fails(parts.join('')));
  };
  let parts = await fewer(linesOf(text), counted);
  parts = await fewer(parts.join('').match(/\s+|[^\s]+/g) ?? [], counted);
  const characters = parts.join('');
  if (characters.length > 400) return characters;
  return (await fewer([...characters], counted)).join('');
}

/** The fewest parts that still fail: removes halves, then quarters, down to single parts. */
export async function fewer<T>(
  parts: readonly T[],
  fails: (parts: readonly T[]) => Promise<boolean>,
): Promise<readonly T[]> {
  let current = parts;
  let size = Math.ceil(current.length / 2);
  while (size >= 1 && current.length > 0) {
    let removed = false;
    for (let start = 0; start < current.length; ) {
      const without = [...current.slice(0, start), ...current.slice(start + size)];
      if (without.length < current.length && (await fails(without))) {
        current = without;
        removed = true;
      } else start += size;
    }
    if (size === 1 && !removed) break;
    size = size === 1 ? 1 : Math.ceil(size / 2);
    if (size >= current.length && size > 1) size = Math.ceil(current.length / 2);
  }
  return current;
}
