import { describe, expect, test } from 'vitest';
import { lowerCount } from '../../server/src/model/pod.ts';
import { lowerQuantity, parseQuantity } from '../../server/src/model/quantity.ts';
import { getIn, rootCursor } from '../../server/src/yaml/cursor.ts';
import { parseDocument } from '../../server/src/yaml/parse.ts';

// Each row follows from ParseQuantity in k8s.io/apimachinery/pkg/api/resource/quantity.go (or a row of TestQuantityParse), its
// parseQuantityString, and interpret in suffix.go. null: ParseQuantity returns an error.

const grammar: Readonly<Record<string, readonly (readonly [text: string, value: number | null])[]>> = {
  'numbers: digits, with a point anywhere or nowhere': [
    ['0', 0],
    ['8', 8],
    ['007', 7], // parseQuantityString strips leading zeros: no octal in quotes
    ['0.5', 0.5],
    ['.5', 0.5], // TestQuantityParse: ".001"
    ['1.', 1], // TestQuantityParse: "1."
    ['1.G', 1e9], // TestQuantityParse: "1.G"
    ['0.50000', 0.5],
    ['.', 0], // TestParseQuantityString: num "0", denom ""
    ['100.035k', 100_035],
    ['', null], // ErrFormatWrong
    ['1.1.M', null], // "invalid" in TestQuantityParse, as the next
    ['aoeu', null],
    ['1,5', null],
    ['1_000', null],
    ['0x10', null], // the scanner stops at x, which is in no suffix
    ['0o17', null],
    ['one', null],
    ['NaN', null],
    ['inf', null],
    ['１', null], // digits are '0' to '9'
  ],
  'one sign before the number': [
    ['+5', 5],
    ['-5', -5],
    ['-0', 0], // an integer has no negative zero
    ['+.5', 0.5],
    ['-1.025Ti', -1.025 * 2 ** 40],
    ['-', 0], // nothing but a sign ends in the loop over leading zeros, as 0
    ['+', 0],
    ['-.', 0],
    ['--5', null],
    ['+-5', null],
    ['5-', null],
    ['1+1.0M', null],
  ],
  'decimal suffixes': [
    ['5n', 5e-9],
    ['4u', 4e-6],
    ['3m', 3e-3],
    ['500m', 0.5],
    ['8k', 8e3],
    ['7M', 7e6],
    ['6G', 6e9],
    ['5T', 5e12],
    ['2P', 2e15],
    ['1E', 1e18], // E alone is exa
    ['1.01E', 1.01e18],
    ['0.0005k', 0.5],
    ['1K', null], // only k
    ['1g', null],
    ['1 G', null],
    ['0.1am', null],
    ['1Gb', null],
    ['1GB', null],
    ['1mM', null],
  ],
  'binary suffixes': [
    ['1Ki', 2 ** 10],
    ['7Mi', 7 * 2 ** 20],
    ['6Gi', 6 * 2 ** 30],
    ['5Ti', 5 * 2 ** 40],
    ['4Pi', 4 * 2 ** 50],
    ['1Ei', 2 ** 60],
    ['3Ei', 3 * 2 ** 60],
    ['0.5Mi', 2 ** 19],
    ['100.035Ki', 102_435.84],
    ['0.025Ti', 27_487_790_694.4],
    ['1ki', null],
    ['0.1mi', null],
    ['1i', null],
    ['.5i', null],
    ['-3.01i', null],
    ['1Kib', null],
    ['1Ki5', null],
  ],
  'decimal exponents': [
    ['1e3', 1e3],
    ['1E3', 1e3],
    ['1.3E+6', 1.3e6],
    ['1E-3', 1e-3],
    ['0.5e-1', 0.05],
    ['1e0003', 1e3], // ParseInt takes leading zeros
    ['1e', null], // e is no suffix, and too short for an exponent
    ['1E+', null],
    ['-3.01e-', null],
    ['1e1.5', null],
    ['1e3k', null],
    ['1e3Ki', null],
    ['1ee3', null],
    ['1e4294967296', 1], // ParseInt takes 64 bits, int32() keeps the lower 32
    ['1e9223372036854775808', null], // ParseInt: out of range
  ],
  'a suffix without digits: the fast path reads 0, the exact one nothing': [
    ['m', 0],
    ['Ki', 0],
    ['-Gi', 0],
    ['E', 0],
    ['e3', 0],
    ['Pi', null], // precision < 0, then inf.Dec.SetString("") fails
    ['Ei', null],
    ['e-10', null], // scale < Nano, the same
    ['e', null],
  ],
  'rounded up to a billionth, away from zero': [
    ['3.001n', 4e-9],
    ['1.1E-9', 2e-9],
    ['0.9n', 1e-9],
    ['0.0000000001', 1e-9],
    ['0.5e-9', 1e-9],
    ['0.00000012345', 124e-9],
    ['0.000000000001Ki', 2e-9],
    ['-0.9n', -1e-9],
    ['1e-400', 1e-9],
    ['1.123456789', 1.123456789],
    ['1.1234567891', 1.12345679],
  ],
  'more than 64 bits hold: capped for a binary suffix, and here for all': [
    ['9223372036854775807', 2 ** 63],
    ['8Ei', 2 ** 63],
    ['9Ei', 2 ** 63],
    ['9223372036854775807Ki', 2 ** 63],
    ['12E', 2 ** 63],
    ['18446744073709551616', 2 ** 63],
    ['1e400', 2 ** 63],
    ['-1e400', -(2 ** 63)],
    ['9'.repeat(400), 2 ** 63],
    [`${'9'.repeat(400)}Ki`, 2 ** 63],
    [`${'0'.repeat(400)}1`, 1],
    [`0.${'0'.repeat(398)}1e400`, 10], // the exponent counts before a double is made of it
  ],
  'white space: what JSON writes as it is is trimmed, what it escapes is not (UnmarshalJSON, TestJSONWhitespace)': [
    [' 1', 1],
    ['1 ', 1],
    ['\u00a01Gi\u00a0', 2 ** 30],
    ['1\n', null],
    ['\t1', null],
    ['1\u2028', null],
    [' ', null],
    ['64 Gi', null],
    ['\ufeff1', null],
  ],
};

describe('quantities in quotes', () => {
  for (const [title, rows] of Object.entries(grammar)) {
    test.each(rows)(`${title}: %j is %s`, (text, value) => {
      const read = parseQuantity(text);
      if (value === null) expect(read).toBeNull();
      else expect(read).toBeCloseTo(value, 12);
      expect(read).not.toBe(-0);
    });
  }
});

// A plain value goes through goyaml.v2/resolve.go of sigs.k8s.io/yaml, then json.Marshal, then into a Quantity or an int32.
const plain: readonly (readonly [text: string, quantity: number | null, count: number | null])[] = [
  ['8', 8, 8],
  ['+8', 8, 8],
  ['-8', -8, null],
  ['8.0', 8, 8], // a float that json.Marshal writes as 8
  ['8.', 8, 8],
  ['1e3', 1000, 1000], // json.Marshal writes 1000
  ['0.5', 0.5, null],
  ['.5', 0.5, null],
  ['-0.0', 0, 0],
  ['010', 8, 8], // strconv.ParseInt with base 0
  ['0700', 448, 448],
  ['08', 8, 8], // no octal, so a float
  ['0o17', 15, 15], // Go 1.13 and later
  ['0O17', 15, 15],
  ['0x1F', 31, 31],
  ['0b101', 5, 5],
  ['-0x1F', -31, null],
  ['1_000', 1000, 1000], // underscores are taken out
  ['0x_1F', 31, 31],
  ['_1', null, null], // text: no digit, sign or point in front
  ['1e308', 2 ** 63, null], // json.Marshal writes an exponent, which no int32 takes
  ['1e400', 2 ** 63, null], // ParseFloat: out of range, so it stays text, which is a quantity and no int32
  ['2147483647', 2 ** 31 - 1, 2 ** 31 - 1],
  ['2147483648', 2 ** 31, null],
  ['9'.repeat(400), 2 ** 63, null], // a big.Int
  ['0777777777777777777777777', 2 ** 63, null], // beyond 64 bits: a decimal float
  ['1e-400', 0, 0], // a float that rounds to 0, without an error
  ['.nan', null, null], // json.Marshal: unsupported value
  ['.inf', null, null],
  ['-.inf', null, null],
  ['1Ei', 2 ** 60, null],
  ['1E', 1e18, null], // text: no exponent
  ['true', null, null],
  ['n', null, null], // a boolean, not nano
  ['"8"', 8, null],
  ['"010"', 10, null],
  ['|\n  8\n', null, null], // the line break is part of the text
];

test.each(plain)('plain %j is the quantity %s and the count %s', (text, quantity, count) => {
  const { root } = parseDocument(`a: ${text}\n`, 0);
  const value = getIn(root === null ? undefined : rootCursor(root), 'a');
  if (value === undefined) throw new Error('no value');
  expect(lowerQuantity(value).value).toBe(quantity);
  expect(lowerCount(value, 1)).toBe(count);
});

test('a long text of blanks takes linear time', () => {
  expect(parseQuantity(`1${' '.repeat(300_000)}x`)).toBeNull();
  expect(parseQuantity(`${' '.repeat(300_000)}1`)).toBe(1);
});
