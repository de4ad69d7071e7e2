/**
 * The value of a plain (unquoted) scalar as Kubernetes reads it.
 *
 * Kubernetes decodes with sigs.k8s.io/yaml, which follows YAML 1.1: yes, on and y are booleans and 0700 is octal. Two exceptions: there are
 * no sexagesimal numbers (1:30 is a string), and dates stay strings.
 */
export function resolvePlain(text: string): string | number | boolean | null {
  const first = text.charCodeAt(0);
  if (Number.isNaN(first)) return null;
  // Numbers start with a digit, a sign or a dot; of the words, only a few have a meaning.
  if ((first >= 0x30 && first <= 0x39) || first === 0x2b || first === 0x2d || first === 0x2e)
    return resolveNumber(text);
  if (text.length <= 5) {
    const word = WORDS.get(text);
    if (word !== undefined) return word;
  }
  return text;
}

const WORDS: ReadonlyMap<string, boolean | null> = new Map<string, boolean | null>([
  ['~', null],
  ...spellings('null', null),
  ...spellings('y', true),
  ...spellings('yes', true),
  ...spellings('true', true),
  ...spellings('on', true),
  ...spellings('n', false),
  ...spellings('no', false),
  ...spellings('false', false),
  ...spellings('off', false),
]);

function spellings(word: string, value: boolean | null): [string, boolean | null][] {
  const upper = word.toUpperCase();
  return [word, upper, upper.slice(0, 1) + word.slice(1)].map((spelling) => [spelling, value]);
}

const INTEGER = /^[-+]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO][0-7]+|0[0-7]*|[1-9][0-9]*)$/;
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const INFINITY = /^([-+]?)\.(?:inf|Inf|INF)$/;
const NOT_A_NUMBER = /^\.(?:nan|NaN|NAN)$/;

function resolveNumber(text: string): string | number {
  const infinite = INFINITY.exec(text);
  if (infinite) return infinite[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  if (NOT_A_NUMBER.test(text)) return Number.NaN;
  const plain = text.includes('_') && text.charAt(0) !== '.' ? text.replaceAll('_', '') : text;
  const value = INTEGER.test(plain) ? readInteger(plain) : FLOAT.test(plain) ? Number(plain) : Number.NaN;
  // A value beyond the range of a float (1e400) stays text. Adding 0 turns -0 into 0.
  return Number.isFinite(value) ? value + 0 : text;
}

/** NaN for what Go reads as text: a signed, prefixed integer that exceeds 64 bits. */
function readInteger(text: string): number {
  const negative = text.startsWith('-');
  const signed = negative || text.startsWith('+');
  const digits = signed ? text.slice(1) : text;
  const octal = /^0[0-7]+$/.test(digits);
  let value = octal ? Number.parseInt(digits, 8) : Number(digits);
  if (value > (signed ? 2 ** 63 : 2 ** 64)) {
    // Beyond 64 bits, an octal without a letter is read as a decimal float instead.
    if (octal) value = Number(digits);
    else if (signed && digits.startsWith('0')) return Number.NaN;
  }
  return negative ? -value : value;
}
