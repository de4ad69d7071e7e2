/** The API's counts have 32 bits. */
const maxCount = 2 ** 31 - 1;

/** A number of pods or devices; null where it is not known, or is none that a cluster can count (negative, NaN, over 2^31 - 1). */
export function knownCount(count: number | null | undefined): number | null {
  return typeof count === 'number' && count >= 0 && count <= maxCount ? count : null;
}

/** The whole number in a text of digits, as labels, annotations and flags have it; null for any other text. */
export function countIn(text: string | undefined): number | null {
  return text !== undefined && /^\+?\d+$/.test(text) ? knownCount(Number(text)) : null;
}

/** Of two counts that may be unknown: nothing times anything is nothing. */
export function product(a: number | null, b: number | null): number | null {
  if (a === 0 || b === 0) return 0;
  return a === null || b === null ? null : knownCount(a * b);
}

/** Of two counts that may be unknown. */
export function plus(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : knownCount(a + b);
}
