import { describe, expect, test } from 'vitest';
import { getIn, rootCursor } from '../../server/src/yaml/cursor.ts';
import type { YamlNode } from '../../server/src/yaml/node.ts';
import { parseYaml } from '../../server/src/yaml/parse.ts';
import { modelOf } from './every-edit.ts';

const models = (text: string) => parseYaml(text).documents.map((doc) => modelOf(doc.root));
const model = (text: string) => models(text)[0];

/** The problems of a text as `line:column message`, with the text they stand on. */
function problems(text: string): string[] {
  return parseYaml(text).documents.flatMap((doc) =>
    doc.problems.map(({ message, span }) => {
      const before = text.slice(0, doc.base + span.start).split('\n');
      return `${before.length}:${(before.at(-1)?.length ?? 0) + 1} ${message} [${doc.text.slice(span.start, span.end)}]`;
    }),
  );
}

describe('scalars as Kubernetes reads them', () => {
  test.each<[string, unknown]>([
    ['', null],
    ['~', null],
    ['Null', null],
    ['yes', true],
    ['Off', false],
    ['y', true],
    ['yEs', 'yEs'],
    ['12', 12],
    ['+1', 1],
    ['-0x1F', -31],
    ['0700', 448],
    ['0o17', 15],
    ['0b101', 5],
    ['08', 8],
    ['1_000', 1000],
    ['1.5e3', 1500],
    ['.5', 0.5],
    ['-.inf', Number.NEGATIVE_INFINITY],
    ['.nan', Number.NaN],
    ['1:30', '1:30'],
    ['2020-01-01', '2020-01-01'],
    ['1Gi', '1Gi'],
    ['"8"', '8'],
    ["'yes'", 'yes'],
    ['!!str 8', '8'],
    ['!!int "8"', 8],
    ['!custom 8', 8],
  ])('%s', (text, value) => {
    expect(model(`a: ${text}\n`)).toEqual({ a: value });
  });
});

describe('documents', () => {
  test('are cut at their markers, each with spans of its own', () => {
    const text = '# head\n---\na: 1\n---\nb: [\n---\n# only a comment\n---\nc: |\n  x\n---\nd: 1\n...\n---\n';
    const file = parseYaml(text);
    expect(models(text)).toEqual([{ a: 1 }, { b: [] }, null, { c: 'x\n' }, { d: 1 }]);
    expect(file.documents.map((doc) => doc.problems.length)).toEqual([0, 1, 0, 0, 0]);
    for (const doc of file.documents) expect(text.startsWith(doc.text, doc.base)).toBe(true);
    expect(getIn(rootCursor(file.documents[4]!.root!), 'd')!.node.span).toEqual({ start: 7, end: 8 });
  });

  test.each([
    ['', 0],
    ['---\n', 0],
    ['\n', 0],
    ['# c\n', 1],
    ['%YAML 1.1\n---\na: 1\n', 1],
    ['a: 1\n...\n%YAML 1.1\n---\nb: 1\n', 2],
    ['{{/*\n---\n*/}}\na: 1\n', 1],
  ])('%j has %d', (text, count) => {
    expect(parseYaml(text).documents).toHaveLength(count);
    expect(problems(text)).toEqual([]);
  });

  test('keep a byte order mark and CRLF out of values and in offsets', () => {
    const doc = parseYaml('\uFEFFa: x\r\nb: z # c\r\n').documents[0]!;
    expect(modelOf(doc.root)).toEqual({ a: 'x', b: 'z' });
    expect(doc.comments).toEqual([{ text: '# c', span: { start: 12, end: 15 }, ownLine: false }]);
  });

  test.each(['\r', '\u0085', '\u2028', '\u2029'])('may have %j as line ends', (end) => {
    const text = 'a: 1 # one\nb:\n  - x\n  - |\n    y\nc: z\n'.replaceAll('\n', end);
    expect(model(text)).toEqual({ a: 1, b: ['x', 'y\n'], c: 'z' });
    expect(problems(text)).toEqual([]);
  });

  test('DEL may be in JSON, as in any string of it', () => {
    expect(problems('{"a": "\x7f"}\n')).toEqual([]);
  });

  test('JSON may be indented with tabs', () => {
    expect(model('{\n\t"a": {"b": [1, {}]},\n\t"c": null\n}')).toEqual({ a: { b: [1, {}] }, c: null });
  });
});

test('comments are told from text', () => {
  const text = '# one\na: "# no" # two\nb: |  # three\n  # no\nc: x#no\n';
  const found = parseYaml(text).documents[0]!.comments;
  expect(found.map(({ text: said, ownLine }) => [said, ownLine])).toEqual([
    ['# one', true],
    ['# two', false],
    ['# three', false],
  ]);
});

test('spans are exact', () => {
  const text = 'a: "x"\nb:\nc:\n  - {d: 1 } # c\n  - |\n    t\n\ne: 1\n';
  const shown: string[] = [];
  const show = (node: YamlNode): void => {
    shown.push(text.slice(node.span.start, node.span.end));
    if (node.kind === 'map') for (const entry of node.entries) show(entry.value);
    if (node.kind === 'seq') for (const item of node.items) show(item.value);
  };
  show(parseYaml(text).documents[0]!.root!);
  expect(shown).toEqual([text.trimEnd(), '"x"', '', '- {d: 1 } # c\n  - |\n    t', '{d: 1 }', '1', '|\n    t', '1']);
  expect(getIn(rootCursor(parseYaml(text).documents[0]!.root!), 'b')!.node.span).toEqual({ start: 9, end: 9 });
});

describe('aliases and merge keys', () => {
  test('are followed, and what they bring is shared', () => {
    const text = 'a: &a {x: 1, y: 2}\nb: *a\nc:\n  <<: [*a, {z: 3, x: 0}]\n  y: 5\n';
    const root = rootCursor(parseYaml(text).documents[0]!.root!);
    expect(modelOf(root.node)).toEqual({ a: { x: 1, y: 2 }, b: { x: 1, y: 2 }, c: { x: 1, z: 3, y: 5 } });
    const shared = [
      ['a', 'x'],
      ['b', 'x'],
      ['c', 'x'],
      ['c', 'z'],
      ['c', 'y'],
    ].map((path) => getIn(root, ...path)!.shared);
    expect(shared).toEqual([false, true, true, true, false]);
  });

  test('that lead nowhere or to themselves are problems', () => {
    expect(problems('a: *x\nb: &b [*b]\nc:\n  <<: 1\n')).toEqual([
      '1:4 No anchor &x precedes this alias; add the anchor or write out the value [*x]',
      '2:8 The alias *b is inside its own anchor; write out the value [*b]',
      '4:3 A merge key << needs a mapping or a list of mappings [<<]',
    ]);
  });
});

test('a key set twice is one problem, and the last value counts', () => {
  const text = 'a: 1\nb: 1\na: 2\nb: 2\n';
  expect(problems(text)).toEqual([
    '3:1 The key a appears more than once in this mapping: only the last value applies [a]',
  ]);
  expect(getIn(rootCursor(parseYaml(text).documents[0]!.root!), 'a')!.node).toMatchObject({ value: 2 });
});

describe('one problem for one fault, at its place', () => {
  test.each([
    ['a:\n\tb: 1\n', '2:1 Tab in the indentation; use spaces [\t]'],
    ['a:\n  b: 1\n c: 2\n', '3:2 The indentation matches no line above; align the line with the lines around it [c:]'],
    [
      'a:\n  b: 1\n  c: 2\n d:\n  e: 1\nf: 1\n',
      '4:2 The indentation matches no line above; align the line with the lines around it [d:]',
    ],
    ['a: "x\nb: 1\nc: 2\n', '1:4 Unclosed quote; add the closing quote ["x]'],
    ["a: 'x\n", "1:4 Unclosed quote; add the closing quote ['x]"],
    [
      'a:\n  b:\n    - |\n      run "\nimport os\nprint(1)\n"\n',
      '5:1 This line is indented less than the text block above and ends it; indent it like the lines of the block [import os]',
    ],
    ['a:\n  b: |\n    run\n  image x/y:1\nc: 2\n', '4:3 Missing colon after this key [image x/y:1]'],
    // A variable that only its renderer reads is not the error.
    [
      `a: {b: \${X}, c: 1}\nd:\n  e: 1\n f: 2\n`,
      '4:2 The indentation matches no line above; align the line with the lines around it [f:]',
    ],
    [`a: {b: \${X}, c: 1}\nd: {e: \${Y}\nf: 1\n`, '2:4 Unclosed bracket; add the closing } [{]'],
    [`a: {b: \${X}}\n\${Y}\nd: "x" y\n`, '3:8 Unexpected text after the value; quote the whole value or move it [y]'],
    [`a: {b: \${X}}\nc: "d" e\n`, '2:8 Unexpected text after the value; quote the whole value or move it [e]'],
    ['a: [1, 2\nb: 3\n', '1:4 Unclosed bracket; add the closing ] [[]'],
    ['a: {x: 1\nb: 3\n', '1:4 Unclosed bracket; add the closing } [{]'],
    ['a: 1\ncolor:red\nb: 2\n', '2:1 A space is missing after the colon; add it, or quote the text [color:red]'],
    [
      'a: 1\nhttp://red\nb: 2\n',
      '2:1 Not a `key: value` pair; add the missing colon, or indent or quote the text [http://red]',
    ],
    ['a: 1\nfoo\nb: 2\n', '2:1 Not a `key: value` pair; add the missing colon, or indent or quote the text [foo]'],
    ['a: b: c\n', '1:4 Second `: ` on one line; quote the value or start a new line [b:]'],
    ['a: @x\n', '1:4 A plain value cannot start with @; quote it [@x]'],
    ['a: "x" y\n', '1:8 Unexpected text after the value; quote the whole value or move it [y]'],
    ['a: 1\n]\nb: 2\n', '2:1 Unexpected ]; remove it or quote the text []]'],
    ['a: 1\n\fb: 2\n', '2:1 YAML must not contain the control character U+000C; remove it [\f]'],
    ['a: "\x7f"\n b: [\n', '1:5 YAML must not contain the control character U+007F; remove it [\x7f]'],
    ['{"a": "\x01"}\n', '1:8 YAML must not contain the control character U+0001; remove it [\x01]'],
    ['a: 1 # one\u2028two\nb: 2\n', "1:11 U+2028 ends this line for Kubernetes' parser; remove it [\u2028]"],
    ['a: b\u0085c\nb: 2\n', "1:5 U+0085 ends this line for Kubernetes' parser; remove it [\u0085]"],
  ])('%j', (text, expected) => {
    expect(problems(text)).toEqual([expected]);
  });
});

describe('what is not read says why', () => {
  const nested = 'The document is nested 10,000 levels deep; the limit is 200.';
  test.each<[string, string, string]>([
    ['a large file', 'a: b\n'.repeat(1_100_000), 'The file has 5.5 MB of text; the limit is 5 MB.'],
    ['a binary', 'a\0b', 'The file is binary: it contains a NUL character at offset 1.'],
    ['brackets', '['.repeat(10_000), nested],
    ['closed brackets', '['.repeat(10_000) + ']'.repeat(10_000), nested],
    ['dashes', '- '.repeat(9_999), nested],
    [
      'indentation',
      Array.from({ length: 2000 }, (_, i) => `${' '.repeat(i)}a:`).join('\n'),
      nested.replace('10,000', '2,000'),
    ],
    [
      'an alias bomb',
      `a0: &a0 [${'x,'.repeat(10)}]\n${Array.from({ length: 30 }, (_, i) => `a${i + 1}: &a${i + 1} [${`*a${i},`.repeat(10)}]\n`).join('')}`,
      "The document's aliases expand to more than 10^15 values; the limit is 100,000.",
    ],
  ])('%s', (_name, text, reason) => {
    const file = parseYaml(text);
    expect(file.skipped).toBe(reason);
    expect(file.documents.every((doc) => doc.root === null)).toBe(true);
  });

  test('a long document names the line that is not plain', () => {
    const lines = `a: 1\n${'b:\n  - c: 1\n'.repeat(20_000)}`;
    for (const [end, line] of [
      ['\td: 1\n', '40,002'],
      ['d: &e 1\n', '40,002'],
      ['d: "\uFEFF"\n', '40,002'],
    ])
      expect(parseYaml(`${lines}${end}${'e: 1\n'.repeat(20_000)}`).skipped).toContain(`(its line ${line})`);
  });

  test('beside others, such a document is one problem and the others are read', () => {
    const file = parseYaml(`a: 1\n---\n${'['.repeat(300)}\n---\nb: 1\n`);
    expect(file.skipped).toBeNull();
    expect(file.documents.map((doc) => doc.problems.length)).toEqual([0, 1, 0]);
  });

  test('many brackets in a string are no nesting', () => {
    expect(parseYaml(`a: "${'['.repeat(10_000)}"\n`).skipped).toBeNull();
  });
});
