/**
 * The value of a plain (unquoted) scalar as Kubernetes reads it.
 *
 * Kubernetes decodes with sigs.k8s.io/yaml, whose reader follows YAML 1.1: yes, on and y are booleans and 0700 is octal.
 * It differs from YAML 1.1 in that there are no sexagesimal numbers (1:30 is a string) and that dates stay strings.
 */
export function resolvePlain(text: string): string | number | boolean | null {
  const first = text.charCodeAt(0);
  if (Number.isNaN(first)) return null;
  // Digits, signs and dots start numbers; of the letters only a few start a word with a meaning.
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
  if (INTEGER.test(plain)) return readInteger(plain);
  return FLOAT.test(plain) ? Number(plain) : text;
}

function readInteger(text: string): number {
  const negative = text.startsWith('-');
  const digits = negative || text.startsWith('+') ? text.slice(1) : text;
  const value = /^0[0-7]+$/.test(digits) ? Number.parseInt(digits, 8) : Number(digits);
  return negative && value !== 0 ? -value : value;
}
