import { describe, expect, test } from 'vitest';
import { getIn, rootCursor } from '../../server/src/yaml/cursor.ts';
import type { YamlNode } from '../../server/src/yaml/node.ts';
import { parseYaml } from '../../server/src/yaml/parse.ts';
import { maskTemplates } from '../../server/src/yaml/template.ts';

type Shown = string | number | boolean | null | Shown[] | { [key: string]: Shown };

/** A node as data: templated scalars as `?text`, open mappings with a key `…`, open sequences with an item `…`. */
function show(node: YamlNode | null): Shown {
  if (node === null) return null;
  if (node.kind === 'scalar') return node.templated ? `?${node.source}` : node.value;
  if (node.kind === 'seq') return [...node.items.map((item) => show(item.value)), ...(node.incomplete ? ['…'] : [])];
  const shown = Object.fromEntries(node.entries.map((entry) => [entry.key, show(entry.value)]));
  return node.incomplete ? { ...shown, '…': true } : shown;
}

const read = (text: string) =>
  parseYaml(text).documents.map((doc) => [show(doc.root), doc.template, doc.problems.length]);

describe('a template is read around its expressions', () => {
  test.each<[string, string, Shown]>([
    ['a value', 'a: {{ .x }}\n', { a: '?{{ .x }}' }],
    ['quotes in quotes', 'a: "{{ .x | default "b: c" }}-d"\n', { a: '?{{ .x | default "b: c" }}-d' }],
    ['two in a value', 'image: {{ .a }}:{{ .b }}\n', { image: '?{{ .a }}:{{ .b }}' }],
    ['a key', '{{ .k }}: v\nb: 1\n', { '{{ .k }}': 'v', b: 1, '…': true }],
    ['an inline condition', 'a: x{{ if .y }}-z{{ end }}\n', { a: '?x{{ if .y }}-z' }],
    ['control lines', '{{- if .x }}\na: 1\n{{- else }}\na: 2\n{{- end }}\n', { a: 2 }],
    ['lines into a mapping', 'a:\n  b: 1\n  {{- toYaml .x | nindent 2 }}\n', { a: { b: 1, '…': true } }],
    [
      'lines into a mapping, at column 0',
      'a:\n  b: 1\n{{ toYaml .x | indent 2 }}\nc: 1\n',
      { a: { b: 1, '…': true }, c: 1 },
    ],
    ['lines before the first key', 'a:\n  {{- toYaml .x | nindent 2 }}\n  b: 1\n', { a: { b: 1, '…': true } }],
    ['lines behind an empty key', 'a:\n  {{- toYaml .x | nindent 2 }}\nb: 1\n', { a: '?', b: 1 }],
    ['lines on the key', 'a: {{- toYaml .x | nindent 2 }}\n  b: 1\n', { a: { b: 1, '…': true } }],
    ['lines right behind the colon', 'a:{{- toYaml .x | nindent 2 }}\nb: 1\n', { a: '?', b: 1 }],
    ['a loop', 'a:\n{{- range .x }}\n- name: {{ . }}\n{{- end }}\n', { a: [{ name: '?{{ . }}' }, '…'] }],
    ['items', 'a:\n- x\n{{- toYaml .x | nindent 0 }}\n', { a: ['x', '…'], '…': true }],
    ['an expression over lines', 'a: {{ include "x" (dict\n "b" 1\n) }}\nc: 1\n', { a: '?{{ include "x" (dict', c: 1 }],
    ['a block scalar', 'a: |\n  x {{ .y }}\nb: 1\n', { a: '?x {{ .y }}\n', b: 1 }],
    ['an end behind a block scalar', '{{ if .x }}\na: |\n  y\n    {{ end }}\nb: 1\n', { a: 'y\n', b: 1 }],
    ['an empty branch', 'a:\n  {{ if .x }}\n  b: 1\n  {{ else }}\n  {}\n  {{ end }}\n', { a: { b: 1, '…': true } }],
    [
      'fields that Python fills in',
      'a: {x}\nb: {y}Gi\nc: "{x}-{z}"\nd: {e: {f: 1}}\n',
      { a: '?{x}', b: '?{y}Gi', c: '?{x}-{z}', d: { e: { f: 1 } } },
    ],
    ['tokens', 'a: #{x}#\nb: c#{y}#\nd: 1 # e #{z}\n', { a: '?#{x}#', b: '?c#{y}#', d: 1 }],
    ['double brackets', 'a: [[ .x ]]\nb: [[c]]\n', { a: '?[[ .x ]]', b: [['c']] }],
    [
      'variables that cannot begin a value',
      'a: %(x)s\nb: "@Y@"\nc: @Y@:1\nd: %Z%\n',
      { a: '?%(x)s', b: '?@Y@', c: '?@Y@:1', d: '?%Z%' },
    ],
    ['Jinja', '{% if x %}\na: {{ y }}\n{% endif %}\n{# note #}\nb: 1\n', { a: '?{{ y }}', b: 1 }],
  ])('%s', (_name, text, expected) => {
    expect(read(text)).toEqual([[expected, true, 0]]);
  });

  test('the mask is as long as the text and has its line ends', () => {
    const text = 'a: {{ .x }}\r\n{{- if y }}\r\nb: {{ z\r\n }}\r\n';
    const mask = maskTemplates(text)!;
    expect(mask.text).toHaveLength(text.length);
    expect(mask.text.replace(/[^\r\n]/g, '.')).toBe(text.replace(/[^\r\n]/g, '.'));
    expect(getIn(rootCursor(parseYaml(text).documents[0]!.root!), 'a')!.node.span).toEqual({ start: 3, end: 11 });
  });

  test('what stays unreadable is silent', () => {
    expect(read('a: 1\n{{ if x }}\n- b\n{{ end }}\n')).toEqual([[null, true, 0]]);
  });
});

describe('what is no template', () => {
  test.each<[string, string, Shown]>([
    ['brackets that close', 'a: {b: {c: {d: 1}}}\n', { a: { b: { c: { d: 1 } } } }],
    ['a set', 'a: {x}\nb: {y: 1}\n', { a: { x: null }, b: { y: 1 } }],
    ['JSON', '{"a":{"b":{}}}', { a: { b: {} } }],
    ['a comment', '# {{ x }}\na: 1 # {{ y }}\n', { a: 1 }],
    ['an opening in a string', '{"a":"{{ x","b":{"c":{}}}', { a: '{{ x', b: { c: {} } }],
  ])('%s', (_name, text, expected) => {
    expect(read(text)).toEqual([[expected, false, 0]]);
  });

  test('an opening without an end is a problem of YAML', () => {
    expect(read('a: {{ .x\nb: 1\n')[0]?.slice(1)).toEqual([false, 1]);
  });
});

test('lines that stand for others leave their place open', () => {
  expect(read('a:\n  ...\n  b: 1\nc:\n  - d: 1\n    ...\n')).toEqual([
    [{ a: { b: 1, '…': true }, c: [{ d: 1, '…': true }] }, true, 0],
  ]);
  // biome-ignore lint/suspicious/noTemplateCurlyInString: this is what envsubst fills in.
  expect(read('a:\n  b: 1\n  ${MORE}\nc: "${C}"\n')).toEqual([[{ a: { b: 1, '…': true }, c: '?${C}' }, true, 0]]);
  // At the start of a line, the renderer indents them as the lines above.
  for (const lone of ['$MORE', '__MORE__', '@MORE@', '%MORE%']) {
    const [found] = read(`a:\n  b:\n    - 1\n${lone}\n  c: 2\n`);
    expect(found?.slice(1)).toEqual([true, 0]);
    expect(JSON.stringify(found?.[0])).toContain('"…"');
  }
  expect(read('a: 1\n$more\n')[0]?.slice(1)).toEqual([false, 1]);
  expect(read('a: |\n  x\n  $MORE\n')).toEqual([[{ a: 'x\n$MORE\n' }, false, 0]]);
  expect(read('a: 1\n...\n')).toEqual([[{ a: 1 }, false, 0]]);
  expect(read('a: |\n  x\n  ...\n')).toEqual([[{ a: 'x\n...\n' }, false, 0]]);
});

test('placeholders make a value unknown, scripts and $(VAR) do not', () => {
  const text = [
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is what envsubst fills in.
    'a: ${GPUS}',
    'b: registry/$NAME:1',
    'c: <your token>',
    'd: "@@X@@"',
    'e: REPLACE_ME',
    'f: "%NODES%"',
    'g: $(VAR)',
    'h: echo $HOME',
    'i: |',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is the shell's.
    '  echo ${HOME}',
    'j: a < b',
    'k: xxxxxx',
    'l: TODO',
    'm: gs://your-bucket/data',
    'n: XXX-claim',
    'o: boxxxer',
    'p: our-bucket',
    'q: xx',
    'r: ???',
    's: ((x))',
    't: $((x + 1))',
    'u: a?',
    'v: me@home',
  ].join('\n');
  const [first] = read(text);
  const unknown = Object.entries(first?.[0] as { [key: string]: Shown }).filter(([, value]) =>
    String(value).startsWith('?'),
  );
  expect(unknown.map(([key]) => key)).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'k', 'l', 'm', 'n', 'r', 's']);
  expect(first?.[1]).toBe(false);
});

test("a directive of Terraform's without an end takes linear time", () => {
  const variables = '$'.concat('{a}').repeat(200);
  expect(maskTemplates(`%{ if ${variables}\na: 1\n`)).toBeUndefined();
  expect(maskTemplates(`%{ if ${variables} ~}\na: 1\n%{ endif ~}\n`)).toBeDefined();
});
