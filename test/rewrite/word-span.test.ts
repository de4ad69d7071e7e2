import { expect, test } from 'vitest';
import { spanInScalar } from '../../server/src/rewrite/word-span.ts';
import { asString, getIn, rootCursor } from '../../server/src/yaml/cursor.ts';
import { parseYaml } from '../../server/src/yaml/parse.ts';

const words = ['set -e', 'echo one', 'cd /work', 'python train.py', 'sleep infinity'];

/** What the spans of all words of a value show in its source. */
function shown(written: string): readonly string[] {
  const text = `args: ${written}\nnext: 1\n`;
  const [document] = parseYaml(text).documents;
  if (!document?.root) throw new Error('no document');
  const at = getIn(rootCursor(document.root), 'args');
  const value = at && asString(at);
  if (at === undefined || value === undefined) throw new Error('no text');
  return [...value.matchAll(/[^\s;]+/g)].map(({ 0: word, index }) => {
    const { start, end } = spanInScalar(document, { value, at }, { start: index, end: index + word.length });
    return document.text.slice(start, end);
  });
}

const expected = words.flatMap((line) => line.split(' '));

test.each([
  ['plain', words.join(';\n  ')],
  ['plain with blank lines', words.join(';\n\n\n  ')],
  ['literal', `|\n    ${words.join('\n    ')}`],
  ['literal with more indentation', `|\n    ${words.join('\n        ')}`],
  ['literal with an indicator', `|2-\n  ${words.join('\n   ')}`],
  ['folded', `>-\n  ${words.join(';\n  ')}`],
  ['folded with indented lines', `>\n  ${words.join(';\n\n    ')}\n`],
  ['folded, with a comment', `>- # runs\n  ${words.join(';\n  ')}`],
  ['single quotes', `'${words.join(';\n  ')}'`],
  ['double quotes', `"${words.join(';\n  ')}"`],
  ['double quotes with line feeds', `"${words.join('\\n\\\n  ')}"`],
  ['double quotes with spaces kept', `"${words.join(';\\\n  \\  ')}\\n"`],
  ['double quotes on one line', `"${words.join('\\t;\\n')}"`],
  ['Windows line ends', `"${words.join(';\r\n  ')}"`],
])('finds all words: %s', (_, written) => {
  expect(shown(written)).toEqual(expected);
});

test('shows escapes as they are written', () => {
  expect(shown('"a \\"b\\" \\u00e9t\\u00e9 \\x41 \\U0001F680 z"')).toEqual([
    ...['a', '\\"b\\"', '\\u00e9t\\u00e9', '\\x41', '\\U0001F680', 'z'],
  ]);
  expect(shown("'it''s'' fine'")).toEqual(["it''s''", 'fine']);
});
