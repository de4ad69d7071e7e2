/** Counts in the API have 32 bits. */
const maxCount = 2 ** 31 - 1;

/** A number of pods or devices; null if it is unknown or out of range (negative, NaN, over 2^31 - 1). */
export function knownCount(count: number | null | undefined): number | null {
  return typeof count === 'number' && count >= 0 && count <= maxCount ? count : null;
}

/** The whole number in the text of a label, annotation or flag; null if the text is not only digits. */
export function countIn(text: string | undefined): number | null {
  return text !== undefined && /^\+?\d+$/.test(text) ? knownCount(Number(text)) : null;
}

/** The product of two counts that may be unknown; 0 times unknown is 0. */
export function product(a: number | null, b: number | null): number | null {
  if (a === 0 || b === 0) return 0;
  return a === null || b === null ? null : knownCount(a * b);
}

/** The sum of two counts that may be unknown. */
export function plus(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : knownCount(a + b);
}
