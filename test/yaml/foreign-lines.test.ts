import { describe, expect, test } from 'vitest';
import { parseYaml } from '../../server/src/yaml/parse.ts';
import { modelOf } from './every-edit.ts';
import { problemsOf } from './shown-problems.ts';

const conflict = 'Unresolved merge conflict; choose one side and remove the marker lines';
const diff = 'This line is from a diff; remove the lines that begin with -, and the + at the start of the others';
const mail = 'This line is quoted as in a mail; remove the > at the start of each line';
const misaligned = 'The indentation matches no line above; align the line with the lines around it';
const glued = 'A line break is missing after ---; write it on its own line';
const fence = 'Markdown fence around the YAML; keep only the lines between the fences';
const separator = 'Documents are separated by a line of three hyphens without indentation: ---';

const command = 'This is a shell command, not YAML; remove this line';
const secondObject = 'A second object begins here; separate it from the one above by a line ---';
const item = (mark: string) => `A list item starts with a hyphen and a space, not with ${mark}`;
const noItem = 'This line is not part of any list item; align it with the lines around it, or start it with `- `';

describe('a line that is not YAML is named, wherever the reader gives up', () => {
  test.each([
    ['a:\n  b: 1\n-  c: 1\n+  c: 2\n', `3 ${diff} [-  c: 1]`],
    ['a:\n  b: 1\n+  c: 2\n  d: 1\n', `3 ${diff} [+  c: 2]`],
    [
      '     1\tapiVersion: v1\n     2\tkind: Pod\n     3\ta: b: c\n',
      '1 Line numbers precede the YAML; copy it without them [     1\tapiVersion: v1]',
    ],
    ['a: 1\n<!-- note -->\nb: 1\n', '2 A comment starts with #, not with <!-- [<!--]'],
    ['a: 1\n// note\nb: 1\n', '2 A comment starts with #, not with // [//]'],
    ['a: - b: 1\n', '1 A list starts on the line below its key; move the item there [-]'],
    ['a: [--b={"c": 1}]\n', '1 Quote the whole value: in brackets, this { begins a mapping [--b={]'],
    [
      'a: b\n  # note\n  c d\ne: 1\n',
      '3 The comment above ends the value before it; quote the whole value or move the comment [c]',
    ],
    ['> apiVersion: v1\n> kind: Pod\n', `1 ${mail} [> apiVersion: v1]`],
    ['a:\n    - b: 1\n      c: 2\n   - b: 3\n', `4 ${misaligned} [-]`],
    ['apiVersion: v1\nkind: Pod\n---apiVersion: v1\nkind: Pod\n', `3 ${glued} [---apiVersion: v1]`],
    ['a: 1\n<<<<<<< HEAD\nb: 1\n=======\nb: 2\n>>>>>>> topic\n', `2 ${conflict} [<<<<<<< HEAD]`],
    ['a: 1\r\n=======\r\nb: 2\r\n>>>>>>> topic\r\n', `2 ${conflict} [=======]`],
    ['{{- if .Values.a }}\nb: 1\n<<<<<<< HEAD\n{{- end }}\n', `3 ${conflict} [<<<<<<< HEAD]`],
    ['Apply this: it works\n\n```yaml\na: 1\n```\n', `3 ${fence} [\`\`\`yaml]`],
    [
      'diff --git a/x b/x\n@@ -1,2 +1,3 @@ spec\n a: 1\n+b: 2\n',
      '2 This is a diff, not YAML; apply it to the manifest with `git apply` [@@ -1,2 +1,3 @@ spec]',
    ],
    ['a: 1\n----\nb: 1\n', `2 ${separator} [----]`],
    ['a: 1\n\u2013\u2013\nb: 1\n', `2 ${separator} [\u2013\u2013]`],
    ['a:\u00a01\nb: 1\n', '1 Non-breaking space (U+00A0) after a colon or dash; use a plain space [\u00a0]'],
    ['a: 1\n\u3000b\n', '2 Space character U+3000 in the indentation; use plain spaces [\u3000]'],
    ['a\uff1a1\nb: 1\n', '1 Full-width colon (U+FF1A); use a plain colon and a space [\uff1a]'],
    ['a:\n  -name: x\n   image: y\n', '2 A list item starts with `- `; add the space [-]'],
    ['--- a: 1\n', '1 The document must start on the line below `---`; move it there [a:]'],
    ['a: {"x": 1\n  "y": 2}\n', '1 Missing comma after this value [1]'],
    ['a: [{x: b y: 2}]\n', '1 Missing comma after this value [b]'],
    ['a:\n  \u2013 b: 1\n    c: 2\n', `2 ${item('\u2013')} [\u2013]`],
    ['a:\n  * b\n  * c\n', `2 ${item('*')} [*]`],
    ['a: {{ .b\nc: 1\n', '1 Unclosed template action; add the closing }} [{{ .b]'],
    ['a: {{ .b }}\nc: {{ .d }\ne: 1\n', '2 Unclosed template action; add the closing }} [{{ .d }]'],
    ['{% if b\na: 1\n', '1 Unclosed template action; add the closing %} [{% if b]'],
    ['a:\n  - name: x\n    b: 1\n   c: 2\n', `4 ${noItem} [c:]`],
    ['a:\n  - |9\n    b\n', `2 The text block is indented less than this digit requires; remove the digit [9]`],
    ['a: |\n      \n  b\n', '3 A blank line above has more spaces than this text block; remove them [b]'],
    ['a: 1\nEOF\n', '2 EOF ends a here-document of a shell; remove this line [EOF]'],
    ['a:\n  - b\nEND\n', '3 END ends a here-document of a shell; remove this line [END]'],
    ['$ kubectl get pod x -o yaml\na: 1\n', `1 ${command} [$ kubectl get pod x -o yaml]`],
    ['\nme@host ~ % kubectl get pod x\na: 1\n', `2 ${command} [me@host ~ % kubectl get pod x]`],
    ['cat pod.yaml\r\na: 1\r\n', `1 ${command} [cat pod.yaml]`],
    ['# kubectl get pod x\na: 1\nb\n', '3 Missing colon after this key [b]'],
    ['{"a": 1}\napiVersion: v1\nkind: Pod\n', `2 ${secondObject} [apiVersion:]`],
    ['a: !x!y b\n', '1 No %TAG line defines the prefix of this tag; remove the tag [!x!y]'],
  ])('%j', (text, problem) => {
    expect(problemsOf(text)).toEqual([problem]);
  });

  test.each([
    'a: |\n  <<<<<<< HEAD\n  =======\n  ```\nb: 1\n',
    'a: x\u00a0y\nb: "\uff1a"\n',
    'a:\n- - 1\n  - -x\n',
    'a: 1 # ----\n',
    'a:\n  \u2013 b\n',
    'a: {{ .b }}\nc: "{{ .d"\n',
    'a: {{ .b }} # {{\n',
    'a: !Ref b\nc: |2\n   d\n',
    'a: {b: {c: 1}, "d":{e: 1}}\n',
  ])('others are text: %j', (text) => {
    expect(problemsOf(text)).toEqual([]);
  });
});

describe("what YAML 1.2 accepts and Kubernetes' parser rejects", () => {
  test.each([
    ['{ // all\n "a": 1}\n', '1 YAML has no such comment; start it with # [// all]'],
    ['{\n "a": 1, // all\n "b": 2}\n', '2 JSON has no comments; remove this one [// all]'],
    [
      'a: {b\n  c: 1}\n',
      '1 This key continues on the next line; add the missing comma or colon, or write it on one line [b]',
    ],
    ['a: {b:{c: 1}}\n', '1 Missing space after the colon [:]'],
    ['a: 1\n: 2\n', '2 Missing key before the colon [:]'],
    ['a: {: 2}\n', '1 Missing key before the colon [:]'],
    ['a:\n  b: 1\n\u00a0 c: 2\n', '3 Non-breaking space (U+00A0) in the indentation; use plain spaces [\u00a0]'],
    [
      'a:\n\u00a0 b: 1\n\u00a0 c: 2\nd:\n  - x\n\u00a0 - y: 1\n',
      '2 Non-breaking space (U+00A0) in the indentation; use plain spaces [\u00a0]',
    ],
    ['a:\n  \u3000b: 1\n', '2 Space character U+3000 in the indentation; use plain spaces [\u3000]'],
    [
      'a:\n  b: 1\n\ufeff  c: 2\n',
      '3 Byte order mark (U+FEFF) inside the document; remove this invisible character [\ufeff]',
    ],
  ])('%j', (text, problem) => {
    expect(problemsOf(text)).toEqual([problem]);
  });

  test('a byte order mark does not indent its line', () => {
    const text = '\ufeff  a: 1\n  b: {c: 2}\n';
    const [document] = parseYaml(text).documents;
    expect(problemsOf(text)).toEqual([]);
    expect(modelOf(document?.root ?? null)).toEqual({ a: 1, b: { c: 2 } });
  });

  test.each([
    '\ufeff---\n\ufeffa: {b: 1}\nc: 2\n',
    '--- # next\r\n\ufeffa: {b: 1}\r\nc: 2\r\n',
    '\n\n\ufeffa: {b: 1}\nc: 2\n',
  ])('a byte order mark in front of a document is in no key: %j', (text) => {
    const [document] = parseYaml(text).documents;
    expect(problemsOf(text)).toEqual([]);
    expect(modelOf(document?.root ?? null)).toEqual({ a: { b: 1 }, c: 2 });
  });

  test.each([
    'a:\n  "\u00a0b": 1\n  b\u00a0c: \u00a0d\n',
    '---\n\ufeffa: 1\n',
    '\ufeff---\na: 1\n',
    '{? a\n  b : c}\n',
  ])('others are silent: %j', (text) => {
    expect(problemsOf(text)).toEqual([]);
  });
});
