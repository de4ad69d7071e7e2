import { isSlip } from '../catalog/spelling.ts';

/** Names, found by what is written when a finger slips. */
export interface Slips {
  /** Says whether there is something of a name. */
  set(name: string, there: boolean): void;
  /** The names that are one slip of the keys away. */
  near(name: string): readonly string[];
}

/**
 * Two names that are one slip apart are equal once a letter is taken from one of them, or from both. So each name is kept under the sums of what
 * is left without each of its letters, and no name is compared with all.
 */
export function createSlips(): Slips {
  const bySum = new Map<number, Set<string>>();
  return {
    set(name, there) {
      for (const sum of sumsOf(name)) {
        const names = bySum.get(sum) ?? new Set();
        if (there) bySum.set(sum, names.add(name));
        else if (names.delete(name) && names.size === 0) bySum.delete(sum);
      }
    },
    near(name) {
      const alike = new Set([...sumsOf(name)].flatMap((sum) => [...(bySum.get(sum) ?? [])]));
      return [...alike].filter((other) => isSlip(other, name)).sort();
    },
  };
}

/** What may be the name of an object at all. */
const mayBeName = /^[\w.-]{4,253}$/;

/** Sums of a name as it is, and without each of its letters. Names that differ in a digit are no slips, and many names do. */
function sumsOf(name: string): ReadonlySet<number> {
  const sums = new Set<number>();
  if (!mayBeName.test(name)) return sums;
  // The sum of the letters behind each place, by which the sum without a letter follows from what stands before it.
  const behind = [0];
  const powers = [1];
  for (let at = name.length - 1; at >= 0; at -= 1) {
    const length = name.length - at;
    behind.push((Math.imul(name.charCodeAt(at), powers[length - 1] ?? 0) + (behind[length - 1] ?? 0)) | 0);
    powers.push(Math.imul(powers[length - 1] ?? 0, base));
  }
  sums.add(behind[name.length] ?? 0);
  let before = 0;
  for (let at = 0; at < name.length; at += 1) {
    const left = name.length - at - 1;
    const isDigit = name.charCodeAt(at) >= 0x30 && name.charCodeAt(at) <= 0x39;
    if (!isDigit) sums.add((Math.imul(before, powers[left] ?? 0) + (behind[left] ?? 0)) | 0);
    before = (Math.imul(before, base) + name.charCodeAt(at)) | 0;
  }
  return sums;
}

const base = 0x01000193;
