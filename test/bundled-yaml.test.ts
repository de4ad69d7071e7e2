// The bundles leave out parts of the library for YAML. What is read must be the same without them.
import fs from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { build } from 'esbuild';
import { beforeAll, expect, it } from 'vitest';
import { leanLibraries } from '../scripts/lean-libraries.mjs';
import { root } from '../scripts/vscode/lab.mjs';
import type { YamlDocument } from '../server/src/yaml/node.ts';
import { parseDocument, splitDocuments } from '../server/src/yaml/parse.ts';

const sources = path.join(root, 'server/src');

/** The functions that parse, as the bundles have them. */
let lean: { readonly parseDocument: typeof parseDocument };

beforeAll(async () => {
  const { outputFiles } = await build({
    entryPoints: [path.join(sources, 'yaml/parse.ts')],
    bundle: true,
    format: 'cjs',
    write: false,
    alias: { yaml: path.join(root, 'node_modules/yaml/browser/index.js') },
    plugins: [leanLibraries()],
  });
  const bundled = { exports: {} as typeof lean };
  new Function('module', outputFiles[0]?.text ?? '')(bundled);
  lean = bundled.exports;
});

const fixtures = path.join(root, 'test/fixtures');
const documents = fs
  .readdirSync(fixtures, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.yaml') && !name.endsWith('.fixed.yaml'))
  .flatMap((name) => splitDocuments(fs.readFileSync(path.join(fixtures, name), 'utf8')))
  .map(({ text }) => text);

it('reads every fixture as the whole library does, and short ones without every second line', () => {
  expect(documents.length).toBeGreaterThan(500);
  for (const text of documents) {
    expectSame(text);
    // Mostly invalid.
    if (text.length < 1000) expectSame(text.replace(/^.*\n(.*\n)/gm, '$1'));
  }
});

it.each([
  '%YAML 1.1\n---\na: yes\nb: 0o7\nc: 1_000\n',
  '%YAML 1.3\n%TAG ! tag:example.com,2000:\n---\na: !x 1\n',
  'a: !!int "1"\nb: !!float 1\nc: !!bool yes\nd: !!null ""\ne: !!str 1\n',
  'a: !!binary "AA=="\nb: !!timestamp 2026-01-02\nc: !!merge "<<"\n',
  'a: !!set {x, y}\nb: !!omap [x: 1]\nc: !!pairs [x: 1, x: 2]\nd: !!set [x]\ne: !!map {x: 1}\nf: !!seq [1]\n',
  'a: !local {x: 1}\nb: ! 1\nc: !<tag:yaml.org,2002:str> 1\nd: !e!f 1\n',
  'a: &x {b: &y 1}\nc: *x\nd: *y\ne: *none\n? *y\n: 1\n<<: *x\n<<: [*x, *x]\n',
  'a: &x [*x]\nb: &x 1\nc: *x\n*x : 2\n',
  '? {a: 1}\n: b\n? [c]\n: d\n? |\n  e\n: - f\n? g\n',
  'a: 0x1F\nb: 0o17\nc: .inf\nd: 1e3\ne: ~\nf: 2026-01-02\ng: 1:30\nh: NO\n',
  "a: \"x\\\n  y \\u00e9 \\'q\\' \\z\"\nb: 'it''s\n  long'\nc: plain\n  text\n",
  'a: |2-\n   x\nb: >+\n  y\n\n   z\n\nc: |x\n  w\nd: >\n\tt\n',
  'a: [b, c: d, {e}, "f": g, ? h]\n',
  '- a\n-\tb\n-   - c\n  - d: e\n    f:\n  g: h\n',
  '--- !!map\na: 1\n... # end\nb: 2\n',
  '--- >\n text\n',
  '',
  '# only a comment',
  '{"a": [1, 2.5, null, true, "x\\/y"]}',
])('reads %j as the whole library does', expectSame);

it('the sources use only what is bundled of the library', () => {
  const names = fs
    .readdirSync(path.join(sources, 'yaml'))
    .flatMap((name) => [
      ...fs.readFileSync(path.join(sources, 'yaml', name), 'utf8').matchAll(/^import \{(.*)\} from 'yaml';$/gm),
    ])
    .flatMap(([, names = '']) => names.split(','))
    .map((name) => name.trim())
    .filter((name) => !name.startsWith('type '));
  expect([...new Set(names)].sort()).toEqual([
    'CST',
    'Composer',
    'Lexer',
    'Parser',
    'isAlias',
    'isMap',
    'isScalar',
    'isSeq',
  ]);
});

function expectSame(text: string): void {
  const [bundled, whole] = [lean.parseDocument, parseDocument].map((parse) => readBy(parse, text));
  // Much faster than a matcher, which describes the difference.
  if (!isDeepStrictEqual(bundled, whole)) expect(bundled).toStrictEqual(whole);
}

/** Without the quick reader, which would read most texts without the library. */
function readBy(parse: typeof parseDocument, text: string): YamlDocument {
  return parse(text, 0, () => undefined);
}
