import type { Cursor } from '../yaml/cursor.ts';
import { isTemplated } from '../yaml/cursor.ts';
import type { Quantity } from './workload.ts';

// https://github.com/kubernetes/apimachinery/blob/master/pkg/api/resource/quantity.go, suffix.go

/** The syntax of ParseQuantity. Digits may be missing on either side of the point, or on both: `1.`, `.5`, `.` and `m` are quantities. */
const syntax = /^([+-]?)(\d*)(?:\.(\d*))?(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]|[eE][+-]?\d+)?$/;

/** UnmarshalJSON trims whitespace, except characters that JSON escapes, such as a tab or a line break. */
const blank = /(?![\t-\r\u2028\u2029\ufeff])[\s\u0085]/;

function trimmed(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && blank.test(text.charAt(start))) start += 1;
  while (end > start && blank.test(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

const decimalPowers: ReadonlyMap<string, number> = new Map([
  ['', 0],
  ['n', -9],
  ['u', -6],
  ['m', -3],
  ['k', 3],
  ['M', 6],
  ['G', 9],
  ['T', 12],
  ['P', 15],
  ['E', 18],
]);

/** Kubernetes stores quantities in 64 bits. */
const maxQuantity = 2 ** 63;

/**
 * The value of a quantity as Kubernetes reads it (`500m` is 0.5, `1k` is 1000, `1Ei` is 2^60), rounded away from zero to a billionth and
 * capped at ±2^63. Null if the API server rejects the text.
 */
export function parseQuantity(text: string): number | null {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  const match = text === '' ? null : syntax.exec(trimmed(text));
  if (match === null || match[0] === '') return null;
  const [, sign, whole = '', fraction = '', suffix = ''] = match;
  const bits = suffix.endsWith('i') ? 10 * ('KMGTPE'.indexOf(suffix.charAt(0)) + 1) : 0;
  const power = bits > 0 ? 0 : (decimalPowers.get(suffix) ?? exponentOf(suffix.slice(1)));
  if (power === null) return null;
  // Without digits, Kubernetes' fast path reads 0, and its exact path, for large and small powers, fails.
  if (whole + fraction === '') return bits >= 50 || power < -9 ? null : 0;
  const digits = `${whole}.${fraction}0`;
  // Scale as text: multiplication would add binary rounding errors.
  const value = Number(`${digits}e${power}`) * 2 ** bits;
  const nanos = Number(`${digits}e${power + 9}`) * 2 ** bits || (/[1-9]/.test(digits) ? 1 / 2 : 0);
  const rounded = nanos > Number.MAX_SAFE_INTEGER || Number.isInteger(nanos) ? value : Math.ceil(nanos) / 1e9;
  const held = Math.min(rounded, maxQuantity);
  return sign === '-' && held !== 0 ? -held : held;
}

/** ParseInt reads 64 bits, of which Kubernetes keeps 32. */
function exponentOf(digits: string): number | null {
  if (digits.length < 10) return Number(digits);
  const exponent = BigInt(digits.replace('+', ''));
  return exponent === BigInt.asIntN(64, exponent) ? Number(BigInt.asIntN(32, exponent)) : null;
}

/** The quantity at a cursor. */
export function lowerQuantity(at: Cursor): Quantity {
  const { node } = at;
  if (node.kind !== 'scalar') return { at, text: '', value: null, templated: false, empty: false };
  const empty = node.value === null || node.value === '';
  const templated = isTemplated(at);
  const value = templated || empty ? null : quantityOf(node.value);
  return { at, text: node.source, value, templated, empty: empty && !templated };
}

/** The YAML decoder reads a plain number first: 010 is 8, and .nan cannot be sent. */
function quantityOf(value: string | number | boolean | null): number | null {
  if (typeof value === 'string') return parseQuantity(value);
  if (typeof value !== 'number' || !Number.isFinite(value)) return null;
  return Number.isSafeInteger(value) ? value : parseQuantity(String(value));
}
