import { isSlip } from '../catalog/spelling.ts';

/** An index of names that finds names one typo away. */
export interface Slips {
  /** Adds or removes a name. */
  set(name: string, there: boolean): void;
  /** The names that are one typo away. */
  near(name: string): readonly string[];
}

/**
 * Two names that are one typo apart become equal when a letter is deleted from one or both of them. So each name is indexed by the hashes of
 * its variants with one letter deleted, and a lookup does not compare all names.
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

/** A possible name of an object, long enough to tell typos from other names. */
const mayBeName = /^[\w.-]{4,253}$/;

/** Hashes of a name and of its variants with one letter deleted. Digits are kept: many names differ in a digit on purpose. */
function sumsOf(name: string): ReadonlySet<number> {
  const sums = new Set<number>();
  if (!mayBeName.test(name)) return sums;
  // Hashes of the suffixes: with the hash of a prefix, each gives the hash of the name without one letter in constant time.
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
