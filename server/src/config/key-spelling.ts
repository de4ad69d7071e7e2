export { nearest } from '../catalog/spelling.ts';

/** `; did you mean 'gpu'?`, or an empty string without candidates. */
export function didYouMean(near: readonly string[]): string {
  if (near.length === 0) return '';
  const quoted = near.map((word) => `'${word}'`);
  const last = quoted.pop();
  return `; did you mean ${quoted.length === 0 ? '' : `${quoted.join(', ')} or `}${last}?`;
}
