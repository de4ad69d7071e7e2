import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type Cursor, getIn, rootCursor } from '../../server/src/yaml/cursor.ts';
import { appendItem, insertKey, removeItem, removeKey, renameKey, replaceScalar } from '../../server/src/yaml/edit.ts';
import type { YamlDocument } from '../../server/src/yaml/node.ts';
import { parseYaml } from '../../server/src/yaml/parse.ts';
import { applyEdits, type TextEdit } from '../../server/src/yaml/span.ts';
import { tryEveryEdit } from './every-edit.ts';

const fixtures = new URL('../fixtures/yaml/', import.meta.url);

describe.each(readdirSync(fixtures))('every edit at every place of %s', (name) => {
  const text = readFileSync(new URL(name, fixtures), 'utf8').replaceAll('\r\n', '\n');
  test.each([
    ['LF', text],
    ['CRLF', text.replaceAll('\n', '\r\n')],
    ['a byte order mark', `\uFEFF${text}`],
  ])('does what was asked and nothing else (%s)', (_kind, variant) => {
    const { made, failures } = tryEveryEdit(variant);
    expect(failures).toEqual([]);
    expect(made).toBeGreaterThan(50);
  });
});

type Edit = (doc: YamlDocument, root: Cursor) => readonly TextEdit[] | undefined;

/** The text after an edit of its first document, or 'refused'. */
function edited(text: string, edit: Edit): string {
  const doc = parseYaml(text).documents[0]!;
  const edits = edit(doc, rootCursor(doc.root!));
  return edits === undefined ? 'refused' : applyEdits(text, edits);
}

const place = (root: Cursor, ...path: (string | number)[]): Cursor => getIn(root, ...path)!;

describe('insertKey', () => {
  const gpu: Edit = (doc, root) => insertKey(doc, place(root, 'limits'), 'gpu', 1);
  test.each([
    ['limits:\n', 'limits:\n  gpu: 1\n'],
    ['limits: # none yet\nx: 1\n', 'limits: # none yet\n  gpu: 1\nx: 1\n'],
    ['limits: {}\n', 'limits:\n  gpu: 1\n'],
    ['limits: {} # none\n', 'limits: # none\n  gpu: 1\n'],
    ['limits: null\n', 'limits:\n  gpu: 1\n'],
    ['limits: {a: 1}\n', 'limits: {a: 1, gpu: 1}\n'],
    ['limits: { a: 1 }\n', 'limits: { a: 1, gpu: 1 }\n'],
    ['limits: {\n  a: 1, # a\n}\n', 'limits: {\n  a: 1, # a\n  gpu: 1,\n}\n'],
    ['{"limits": {"a": 1}}', '{"limits": {"a": 1, "gpu": 1}}'],
    ['{"limits": {}}', '{"limits": {"gpu": 1}}'],
    ['{\n  "limits": {\n    "a": 1\n  }\n}\n', '{\n  "limits": {\n    "a": 1,\n    "gpu": 1\n  }\n}\n'],
    ['limits:\n    a: 1', 'limits:\n    a: 1\n    gpu: 1'],
    // In a text with both line endings, that of the lines around it.
    ['x: 1\r\nlimits:\n  a: 1\ny: 1\n', 'x: 1\r\nlimits:\n  a: 1\n  gpu: 1\ny: 1\n'],
    ['x: 1\nlimits:\r\n  a: 1\r\n', 'x: 1\nlimits:\r\n  a: 1\r\n  gpu: 1\r\n'],
    ['limits:\n  a: |\n    x\n\nb: 1\n', 'limits:\n  a: |\n    x\n  gpu: 1\n\nb: 1\n'],
  ])('%j', (text, expected) => {
    expect(edited(text, gpu)).toBe(expected);
  });

  test('stands behind the key it is told, and behind comments that belong to it', () => {
    const text = 'requests:\n  cpu: 1 # half\n  # memory: 2\nlast: x\n';
    const edit: Edit = (doc, root) => insertKey(doc, root, 'limits', { gpu: 1 }, { after: 'requests' });
    expect(edited(text, edit)).toBe('requests:\n  cpu: 1 # half\n  # memory: 2\nlimits:\n  gpu: 1\nlast: x\n');
  });

  test('takes the indentation of mappings and of sequences from the document', () => {
    const text = 'a:\n    b:\n    - x\n';
    const edit: Edit = (doc, root) => insertKey(doc, root, 'c', { d: ['z', { e: 'f', g: 'h' }] });
    expect(edited(text, edit)).toBe(`${text}c:\n    d:\n    - z\n    - e: f\n      g: h\n`);
  });

  test('quotes what would read as something else', () => {
    const edit: Edit = (doc, root) => insertKey(doc, root, 'true', ['8', 'yes', 'null', 'a: b', '#', 'plain', '']);
    expect(edited('a: 1\n', edit)).toBe(
      'a: 1\n"true":\n  - "8"\n  - "yes"\n  - "null"\n  - "a: b"\n  - "#"\n  - plain\n  - ""\n',
    );
  });

  test.each([
    ['an alias', 'a: &a {x: 1}\nlimits: *a\n'],
    ['an anchor that aliases use', 'limits: &a {x: 1}\nb: *a\n'],
    ['a template that fills it', 'limits:\n  {{- toYaml .x | nindent 2 }}\n'],
    ["a template's condition", 'limits:\n  {{- if .x }}\n  a: 1\n  {{- end }}\n'],
    ['the key it has already', 'limits:\n  gpu: 2\n'],
    ['a list', 'limits: [x]\n'],
  ])('refuses %s', (_name, text) => {
    expect(edited(text, gpu)).toBe('refused');
  });
});

describe('removeKey', () => {
  const remove =
    (...path: (string | number)[]): Edit =>
    (doc, root) =>
      removeKey(doc, place(root, ...path));
  test.each([
    ['a: 1\n# about b\nb: 2 # two\nc: 3\n', ['b'], 'a: 1\n# about b\n# two\nc: 3\n'],
    ['a:\n  b: 1\nc: 2\n', ['a', 'b'], 'a: {}\nc: 2\n'],
    ['a: # of a\n  b: 1 # of b\n', ['a', 'b'], 'a: {} # of a\n  # of b\n'],
    ['- a: 1\n  b: 2\n', [0, 'a'], '- b: 2\n'],
    ['- a: 1 # one\n  # two\n  b: 2\n', [0, 'a'], '# one\n# two\n- b: 2\n'],
    ['a: 1\nb:\n  - x\n  - y', ['b'], 'a: 1'],
    ['a: {b: 1, c: 2}\n', ['a', 'b'], 'a: {c: 2}\n'],
    ['a: {b: 1, c: 2}\n', ['a', 'c'], 'a: {b: 1}\n'],
    ['a: {b: 1}\n', ['a', 'b'], 'a: {}\n'],
    ['{\n  "a": 1,\n  "b": 2\n}\n', ['b'], '{\n  "a": 1\n}\n'],
    ['a: |\n  x\nb: 1\n', ['a'], 'b: 1\n'],
  ])('%j without %j', (text, path, expected) => {
    expect(edited(text, remove(...path))).toBe(expected);
  });

  test('refuses to take away an anchor that is needed, or half of a condition', () => {
    expect(edited('a: &x 1\nb: *x\n', remove('a'))).toBe('refused');
    expect(edited('a:\n  b: 1\n  {{- if .x }}\n  c: 2\nd: 1\n{{- end }}\n', remove('a'))).toBe('refused');
  });
});

describe('the other edits', () => {
  test.each<[string, Edit, string]>([
    ['a: "1" # c\n', (doc, root) => replaceScalar(doc, place(root, 'a'), 2), 'a: "2" # c\n'],
    ['a: 1\n', (doc, root) => replaceScalar(doc, place(root, 'a'), '2'), 'a: "2"\n'],
    ["a: 'x'\n", (doc, root) => replaceScalar(doc, place(root, 'a'), "it's"), "a: 'it''s'\n"],
    ['a:\n', (doc, root) => replaceScalar(doc, place(root, 'a'), 'x'), 'a: x\n'],
    ['a: {"b": 1, c: x}\n', (doc, root) => replaceScalar(doc, place(root, 'a', 'c'), 'z'), 'a: {"b": 1, c: z}\n'],
    ['a: {"b": 1, "c": 2}\n', (doc, root) => replaceScalar(doc, place(root, 'a', 'c'), 'y'), 'a: {"b": 1, "c": "y"}\n'],
    ['---\n\ufeffa: x\n', (doc, root) => insertKey(doc, root, 'b', 1), '---\n\ufeffa: x\nb: 1\n'],
    ['a: | # why\n  x\n  y\nb: 1\n', (doc, root) => replaceScalar(doc, place(root, 'a'), 'z'), 'a: z # why\nb: 1\n'],
    ['a: {{ .x }}\n', (doc, root) => replaceScalar(doc, place(root, 'a'), 'z'), 'refused'],
    ['a: &x 1\nb: *x\n', (doc, root) => replaceScalar(doc, place(root, 'b'), 'z'), 'refused'],
    ['a: !!str 1\n', (doc, root) => replaceScalar(doc, place(root, 'a'), 2), 'refused'],
    ['"a": 1\nb: 2\n', (doc, root) => renameKey(doc, place(root, 'a'), 'c'), '"c": 1\nb: 2\n'],
    ['a: 1\nb: 2\n', (doc, root) => renameKey(doc, place(root, 'a'), 'b'), 'refused'],
    [
      'a:\n- x # one\nb: 1\n',
      (doc, root) => appendItem(doc, place(root, 'a'), { k: 'v' }),
      'a:\n- x # one\n- k: v\nb: 1\n',
    ],
    ['a: []\n', (doc, root) => appendItem(doc, place(root, 'a'), 'x'), 'a: [x]\n'],
    ['a: []\n', (doc, root) => appendItem(doc, place(root, 'a'), { k: 'v' }), 'a:\n  - k: v\n'],
    ['["a"]', (doc, root) => appendItem(doc, root, 'x'), '["a", "x"]'],
    ['a:\n  - x # one\n  - y\n', (doc, root) => removeItem(doc, place(root, 'a', 0)), 'a:\n  # one\n  - y\n'],
    ['a:\n  - x\n', (doc, root) => removeItem(doc, place(root, 'a', 0)), 'a: []\n'],
  ])('%j', (text, edit, expected) => {
    expect(edited(text, edit)).toBe(expected);
  });
});
