import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { YamlDocument } from '../../server/src/yaml/node.ts';
import { parseDocument, splitDocuments } from '../../server/src/yaml/parse.ts';
import { readQuick } from '../../server/src/yaml/quick.ts';

// The quick reader may leave a text to the library, but where it reads one it must give what the library gives.

const fixtures = new URL('../fixtures/', import.meta.url);
const documents = readdirSync(fixtures, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.yaml'))
  .flatMap((name) => splitDocuments(readFileSync(new URL(name, fixtures), 'utf8').replaceAll('\r\n', '\n')))
  .map(({ text }) => text);

test('reads nearly every fixture, as the library does, with both line ends', () => {
  let quick = 0;
  for (const text of documents) {
    for (const variant of [text, text.replaceAll('\n', '\r\n')]) if (agrees(variant)) quick++;
  }
  expect(quick / documents.length).toBeGreaterThan(1.6);
});

test('agrees with the library on texts with random damage', { timeout: 60_000 }, () => {
  const random = randomNumbers(2026);
  const short = documents.filter((text) => text.length < 1500);
  let quick = 0;
  for (let round = 0; round < 600; round++) {
    let text = short[random(short.length)] ?? '';
    for (let count = random(3); count >= 0; count--) text = damaged(text, random);
    if (agrees(text)) quick++;
  }
  expect(quick).toBeGreaterThan(120);
});

test.each([
  ['a: b', true],
  ['# only a comment\n', true],
  ['--- # c\na: 1 # d\n# e\nb:\n  # f\n  - 1\n\n  -\n  - - x\n    - y: z\n      w:\n', true],
  ['a:\n- b: 1\n  c:\n  - 2\nd: 3\n', true],
  ['a: "q\\n\\u00e9" # c\nb: \'it\'\'s\'\n"c d": [x, "y", {z: 1}, ]\n', true],
  ['a: [\n  x, # c\n  -y,\n  http://h:80/p]\nb: {\n  }\n', true],
  ['{"a": [1, true, null], "b":{"c":"d"}}\n', true],
  ['a: one\n  two # c\nb:\n  three\n\n  four: no', false],
  ['a: one\n  two\n\n   three # c\nb: x y\n', true],
  ['a: |\n  x\n    y\n\n  # text\nb: >-\n\n   z\n   w\n\n\nc: |+\n  k\n\n', true],
  ['a: |\n\n\n  x\n# c\n  # d\nb: 1\n', true],
  ['a: |-\n  x\n     \n  y  \n    \n \n\nb: |\n    z\n      \n   \n', true],
  ['a: |\n  x\n\ty\n', false],
  ['a: 1\na: 2\nb: {c: 1, c: 2}\n', true],
  ['a b: c:d#e\nf: -g\nh: :i\nj: ?k\n', true],
  ['- a\n-   b: 1\n    c: 2\n- \n- # d\n', true],
  ['a: {{ .x }}\nb: "{{ .y }}-1"\nc: |\n  k {{ .z }}\n{{ .k }}: 1\nd: [{{ .l }}, m]\n', true],
  ['a: &x 1\nb: *x\n', false],
  ['a: !!str 1\n', false],
  ['? a\n: b\n', false],
  ['a:\tb\n', false],
  ['\n\uFEFF:', false],
  ['- |\n \t', false],
  ['a\n', false],
  ['<<: {a: 1}\n', false],
  ['a: |2\n    x\n', false],
  ['a: [b\n', false],
  ['a: b: c\n', false],
  ['a: "b\n\n   c\\\n  d" # e\nf: \'g\n h\'\ni : j\n', true],
  ['a: "b\nc"\n', false],
  ['a: "b\\\nc"\n', false],
  ['a: ["b\n  c"]\n', false],
  ['a:\n  b: [\n    c\n  ]\n  d: {\n    e: {}\n  }\n', true],
  ['a:\n  b: [\n    {c: d\n  }]\n', false],
  ['a: 1\n  b: 2\n', false],
  ['a: {b, c: }\n', false],
  ['a: 1\n...\n', false],
  [`a: { b: \${B}, c: x-\${C:-1} }\nd: [\${D}]\ne: \${E}\nf: |\n  \${F}\n`, true],
  [`a: { b: \${B}\n`, false],
  [`a: { b: \${B }, c: 1 }\n`, false],
  [`a: [x, \${Y}]\nb: &c 1\n`, false],
])('%j: read quickly %j', (text, quick) => {
  expect(agrees(text)).toBe(quick);
  expect(agrees(text.replaceAll('\n', '\r\n'))).toBe(quick);
});

/** Whether the text was read quickly. */
function agrees(text: string): boolean {
  let quick = false;
  const read = parseDocument(text, 0, (...args) => {
    const result = readQuick(...args);
    quick = result !== undefined;
    return result;
  });
  if (quick)
    expect({
      text,
      ...difference(
        read,
        parseDocument(text, 0, () => undefined),
      ),
    }).toEqual({ text });
  return quick;
}

/** Compared as texts first, which is cheap; the trees are shown where they differ. */
function difference(read: YamlDocument, library: YamlDocument): { read?: YamlDocument; library?: YamlDocument } {
  return JSON.stringify(ordered(read)) === JSON.stringify(ordered(library)) ? {} : { read, library };
}

function ordered(value: unknown): unknown {
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(ordered);
  const sorted = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([key, inner]) => [key, ordered(inner)]);
}

const PIECES = [
  ' ',
  '\n',
  '-',
  ':',
  '#',
  ': ',
  '- ',
  ' #',
  '"',
  "'",
  '[',
  ']',
  '{',
  '}',
  ',',
  '|',
  '>',
  '\t',
  '&a',
  '*a',
  '!',
  '?',
].concat([
  'x',
  '\n\n',
  '\n  ',
  '\n\u00a0 ',
  '|\n',
  '>-\n',
  '""',
  '[]',
  '{}',
  '\r\n',
  '{{ a }}',
  '~',
  '...',
  '\n---\n',
  '<<',
  '\\',
  '\uFEFF',
  '\u00A0',
]);

function damaged(text: string, random: (below: number) => number): string {
  const at = random(text.length + 1);
  switch (random(5)) {
    case 0:
      return text.slice(0, at) + text.slice(at + 1 + random(4));
    case 1: {
      const line = text.indexOf('\n', at) + 1;
      return text.slice(0, line) + ' '.repeat(random(5)) + text.slice(line + random(3));
    }
    default:
      return text.slice(0, at) + (PIECES[random(PIECES.length)] ?? '') + text.slice(at);
  }
}

/** The same numbers in every run, so that a failure can be looked into. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return (state >> 8) % below;
  };
}
