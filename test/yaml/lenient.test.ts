import { describe, expect, test } from 'vitest';
import { getIn, rootCursor, spanOf } from '../../server/src/yaml/cursor.ts';
import { replaceScalar } from '../../server/src/yaml/edit.ts';
import { parseYaml } from '../../server/src/yaml/parse.ts';
import { modelOf } from './every-edit.ts';

// What libyaml accepts, and with it kubectl, although YAML 1.2 does not. Each value was compared with libyaml 0.2.5.

const read = (text: string) => {
  const { documents } = parseYaml(text);
  return {
    models: documents.map(({ root }) => modelOf(root)),
    problems: documents.flatMap(({ problems }) => problems),
  };
};

describe('lines of brackets and quotes need no indentation', () => {
  test.each<[string, unknown]>([
    ['a:\n  b: [\n  1,\n  2\n  ]\n', { a: { b: [1, 2] } }],
    ['a:\n  b: [\n1,\n 2\n ]\nc: 1\n', { a: { b: [1, 2] }, c: 1 }],
    ['a: {\nx: 1\n}\nb: 2\n', { a: { x: 1 }, b: 2 }],
    ['a:\n  - [\n1]\n  - 2\n', { a: [[1], 2] }],
    ['a: [\n\t1,\n\t2\n]\n', { a: [1, 2] }],
    ['a:\n  b: "one\n  two"\nc: 1\n', { a: { b: 'one two' }, c: 1 }],
    ['a:\n  b: "one\ntwo"\nc: 1\n', { a: { b: 'one two' }, c: 1 }],
    ["a:\n  b: 'one\n\n  two'\n", { a: { b: 'one\ntwo' } }],
    ['a: "\n  {x}\n"\nb: 1\n', { a: ' {x} ', b: 1 }],
    ['a: "x\n\ty"\n', { a: 'x y' }],
    ['a:\n    - "x\n  y"\n    - z\n', { a: ['x y', 'z'] }],
    ['a: [x\ny, z]\n', { a: ['x y', 'z'] }],
  ])('%j', (text, model) => {
    expect(read(text)).toEqual({ models: [model], problems: [] });
    const dos = text.replaceAll('\n', '\r\n');
    expect(read(dos)).toEqual({ models: [model], problems: [] });
  });
});

test.each<[string, unknown]>([
  ['a: "x"#c\nb: 1\n', { a: 'x', b: 1 }],
  ['a: [1]#c\n', { a: [1] }],
  ['a: [1,#c\n 2]\n', { a: [1, 2] }],
  ['a: |#c\n  y\n', { a: 'y\n' }],
])('a comment may follow without a space: %j', (text, model) => {
  expect(read(text)).toEqual({ models: [model], problems: [] });
});

test.each<[string, unknown]>([
  ['a: [kubectl, -f, -]\n', { a: ['kubectl', '-f', '-'] }],
  ['a: [-, b]\n', { a: ['-', 'b'] }],
  ['a: {b: -, c: [-]}\n', { a: { b: '-', c: ['-'] } }],
  ['a: [!!str -, &b -]\n', { a: ['-', '-'] }],
  [`a: "it\\'s"\n`, { a: "it's" }],
  [`a: ["it\\'s \\\\'", b]\n`, { a: ["it's \\'", 'b'] }],
])('a dash before a comma or a bracket is text, and a backslash may precede a single quote: %j', (text, model) => {
  expect(read(text)).toEqual({ models: [model], problems: [] });
});

test.each(['a: [- , b]\n', 'a: [ - ]\n', 'a: [-[b]]\n', 'a: [-\n]\n', 'a: "\\d"\n'])(
  'others are errors: %j',
  (text) => {
    expect(read(text).problems).toHaveLength(1);
  },
);

test.each([
  ['a: [1\nb: 2\n', 'Unclosed bracket; add the closing ]'],
  ['a: "x\nb: 2\n', 'Unclosed quote; add the closing quote'],
  ['a:\n  b: {x: 1\n  c: 2\n', 'Unclosed bracket; add the closing }'],
  ['a: "one\n---\nb: two"\n', 'Unclosed quote; add the closing quote'],
])('what libyaml rejects is still reported: %j', (text, message) => {
  expect(read(text).problems.map((problem) => problem.message)).toContain(message);
});

test('values have their places, and edits keep to them', () => {
  const text = 'a:\n  b: [\n  one,\n  two\n  ]\n  c: "x\n  y"\nd: 1\n';
  const [document] = parseYaml(text).documents;
  if (document?.root == null) throw new Error('not read');
  const root = rootCursor(document.root);
  const list = getIn(root, 'a', 'b');
  const last = getIn(root, 'd');
  expect(list && text.slice(spanOf(list).start, spanOf(list).end)).toBe('[\n  one,\n  two\n  ]');
  const edits = last && replaceScalar(document, last, 2);
  const [edit] = Array.isArray(edits) ? edits : [edits];
  expect(edit && text.slice(0, edit.span.start) + edit.newText + text.slice(edit.span.end)).toBe(
    text.replace('d: 1', 'd: 2'),
  );
});

describe('a tab at the start of a line, which libyaml rejects and YAML 1.2 allows on blank lines', () => {
  test.each(['a: 1\n\t\nb: 2\n', 'a: 1\n\t# c\nb: 2\n', 'a: "1"\n\t\n', 'a:\n  - x\n\t\n  - y\n'])('%j', (text) => {
    expect(read(text).problems.map(({ message, span }) => [message, text.slice(span.start, span.end)])).toEqual([
      ['Tab at the start of a line; remove it or use spaces', '\t'],
    ]);
  });

  test.each(['a: 1\t\nb: 2\n', 'a: [\n\t1\n]\n', 'a: "x\n\ty"\n', 'a: |\n  x\n  \ty\n', 'a:\t1\n', '{"a": 1}\n\t'])(
    'others are silent: %j',
    (text) => {
      expect(read(text).problems).toEqual([]);
    },
  );
});
