import { describe, expect, test } from 'vitest';
import { parseYaml } from '../../server/src/yaml/parse.ts';

/** The problems of a text as `line message`, with a mark for those that leave the text readable. */
function problems(text: string): string[] {
  return parseYaml(text).documents.flatMap(({ base, problems: found }) =>
    found.map(({ message, span, readable }) => {
      const line = text.slice(0, base + span.start).split(/\r\n|\r|\n/).length;
      return `${line} ${message}${readable ? ' (readable)' : ''}`;
    }),
  );
}

const lost = 'Kubernetes ignores the text after `...`; start the next document with `---`';
const version = (value: string) => `Kubernetes reads YAML 1.1 and rejects version ${value}; remove this line`;

describe('text after `...`', () => {
  test.each([
    ['a: 1\n...\nkind: b\n', [`2 ${lost}`]],
    ['a: 1\r\n... # end\r\n\r\n# note\r\nkind: b\r\n', [`2 ${lost}`]],
    ['a: 1\n---\nb: 1\n...\n%YAML 1.1\nc: 1\nkind: d\n---\nd: 1\n', [`4 ${lost}`]],
    ['a: 1\n...\nkind: b\n...\nc: 1\n', [`2 ${lost}`]],
    ['a: 1\n...\nb: 2\n', []],
    ['a: 1\n...\n---\nb: 2\n', []],
    ['a: 1\n...\n# note\n\n---\nb: 2\n', []],
    ['a: 1\n...\n%YAML 1.1\n---\nb: 1\n', []],
    ['a: 1\n...\n...\n', []],
    ['a: 1\n...', []],
    ['{{- if .a }}\na: 1\n...\n{{- end }}\n', []],
    ['{{/*\n...\ntext\n*/}}\na: {{ .b }}\n', []],
    ['a: |\n  x\n  ...\n  y\n', []],
  ])('%j', (text, expected) => {
    expect(problems(text)).toEqual(expected);
  });

  test('belongs to no document', () => {
    const { documents } = parseYaml('a: 1\n...\nkind: b\n---\nc: 3\n');
    expect(documents.map(({ root }) => root?.kind === 'map' && root.entries.map(({ key }) => key))).toEqual([
      ['a'],
      ['c'],
    ]);
  });
});

test('dots in the middle of an object stand for omitted lines', () => {
  const [document, ...others] = parseYaml('kind: Job\n...\nspec:\n  a:\n    ...\n    b: 1\n').documents;
  const root = document?.root;
  expect(others).toEqual([]);
  expect(document?.problems).toEqual([]);
  expect(root?.kind === 'map' && [root.incomplete, root.entries.map(({ key }) => key)]).toEqual([
    true,
    ['kind', 'spec'],
  ]);
});

describe('directives', () => {
  test.each([
    ['%YAML 3.0\n---\napiVersion: v1\n', [`1 ${version('3.0')}`]],
    ['# note\r\n\r\n%YAML 1.2 # new\r\n---\r\napiVersion: v1\r\n', [`3 ${version('1.2')}`]],
    ['%YAML 1.1\n---\napiVersion: v1\n', ['1 kubectl rejects a directive before `---`; remove this line (readable)']],
    ['%LANG en\n---\napiVersion: v1\n', ['1 This % line is not a YAML directive; remove it']],
    ['%YAML 1.2\n---\nreplicas: 1\n', []],
    ['---\na: 1\nb: |\n  x\n---\n# %YAML 1.2\napiVersion: v1\n', []],
  ])('%j', (text, expected) => {
    expect(problems(text)).toEqual(expected);
  });
});

describe('JSON objects without a separator', () => {
  test.each([
    ['{"a": 1}\n{"a": "} {"}\n\n{"b": {"c": [{}]}}\n', 3],
    ['{\n  "a": {}\n}\r\n{\n  "b": "\\"{"\n}', 2],
    ['{"a": 1}\n---\n{"a": 2}\n', 2],
    ['{"a": [{"b": 1},\n{"c": 1}]}\n', 1],
  ])('are documents: %j', (text, count) => {
    const { documents } = parseYaml(text);
    expect(documents.flatMap(({ problems: found }) => found)).toEqual([]);
    expect(documents).toHaveLength(count);
    expect(documents.map(({ text: part }) => part).join('')).toBe(text);
  });

  test.each(['{"a": 1}\n{"b": [}\n', '{"a": 1}\n{"b": "x}\n', '{"a": 1}\nx\n{"b": 1}\n', "{'a': 1}\n{'b': 2}\n"])(
    'other texts have an error: %j',
    (text) => {
      expect(problems(text)).toHaveLength(1);
    },
  );
});

describe('an object that begins on the line of its separator', () => {
  const moved = (line: number) => [`${line} kubectl rejects text after \`---\`; move it to the next line (readable)`];
  test.each([
    ['--- {apiVersion: v1, kind: Pod}\n', moved(1)],
    ['a: 1\n--- !x\napiVersion: v1\n', moved(2)],
    ['--- # note\napiVersion: v1\n', []],
    ['--- {a: 1}\n', []],
    ['--- |\n  text\n', []],
  ])('%j', (text, expected) => {
    expect(problems(text)).toEqual(expected);
  });
});
