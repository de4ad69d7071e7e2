// What the bundles leave out of the libraries must not be missed.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dataAsText, dataPacked, readData } from '../scripts/bundles.mjs';
import { leftOutOfClient, leftOutOfServer } from '../scripts/lean-libraries.mjs';
import { root } from '../scripts/vscode/lab.mjs';
import { initializeResult } from '../server/src/lsp/initialize.ts';

/** What a server offers that makes a client use the feature. */
const offered: Readonly<Record<string, readonly string[]>> = {
  callHierarchy: ['callHierarchyProvider'],
  colorProvider: ['colorProvider'],
  declaration: ['declarationProvider'],
  documentHighlight: ['documentHighlightProvider'],
  documentSymbol: ['documentSymbolProvider'],
  executeCommand: ['executeCommandProvider'],
  fileOperations: ['workspace.fileOperations'],
  foldingRange: ['foldingRangeProvider'],
  formatting: ['documentFormattingProvider', 'documentRangeFormattingProvider', 'documentOnTypeFormattingProvider'],
  implementation: ['implementationProvider'],
  inlineCompletion: ['inlineCompletionProvider'],
  inlineValue: ['inlineValueProvider'],
  linkedEditingRange: ['linkedEditingRangeProvider'],
  moniker: ['monikerProvider'],
  notebook: ['notebookDocumentSync'],
  rename: ['renameProvider'],
  selectionRange: ['selectionRangeProvider'],
  semanticTokens: ['semanticTokensProvider'],
  signatureHelp: ['signatureHelpProvider'],
  textDocumentContent: ['workspace.textDocumentContent'],
  typeDefinition: ['typeDefinitionProvider'],
  typeHierarchy: ['typeHierarchyProvider'],
  workspaceSymbol: ['workspaceSymbolProvider'],
};

const capabilities = { workspace: { workspaceFolders: true } };
const result = initializeResult({ processId: null, rootUri: null, capabilities }, true);
const given = new Set([
  ...Object.keys(result.capabilities),
  ...Object.keys(result.capabilities.workspace ?? {}).map((key) => `workspace.${key}`),
]);

describe.each([
  ['vscode-languageclient', leftOutOfClient],
  ['vscode-languageserver', leftOutOfServer],
])('what is left out of %s', (library, features) => {
  it.each(Object.entries(features))('%s: the library exports it, and the server does not offer it', (name, exports) => {
    const source = fs.readFileSync(path.join(root, `node_modules/${library}/lib/common/${name}.js`), 'utf8');
    const exported = [...source.matchAll(/^exports\.[\w.= ]+/gm)].flatMap(([line]) => [
      ...line.matchAll(/exports\.(\w+)/g),
    ]);
    expect([...exports].sort()).toEqual([...new Set(exported.map(([, found]) => found))].sort());
    expect(offered[name]).toBeDefined();
    expect(offered[name]?.filter((key) => given.has(key))).toEqual([]);
  });
});

it('the server lets no library search for modules of other projects', () => {
  const folder = path.join(root, 'server/src/lsp');
  const using = fs
    .readdirSync(folder)
    .filter((name) => /\bFiles\b.*from 'vscode-languageserver/s.test(fs.readFileSync(path.join(folder, name), 'utf8')));
  expect(using).toEqual([]);
  const library = path.join(root, 'node_modules/vscode-languageserver/lib');
  const importing = fs
    .readdirSync(library, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.js'))
    .filter((name) => /require\("\.\/files"\)/.test(fs.readFileSync(path.join(library, name), 'utf8')));
  expect(importing).toEqual([path.join('node', 'main.js')]);
});

it("the client's library needs no newer VS Code than the extension, so nothing has to check that", () => {
  const source = fs.readFileSync(path.join(root, 'node_modules/vscode-languageclient/lib/node/main.js'), 'utf8');
  const { engines } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'));
  expect(/REQUIRED_VSCODE_VERSION = '(.+?)'/.exec(source)?.[1]).toBe(engines.vscode);
});

it('the client leaves globs to others: the extension decides about diagnostics of tabs, and has no notebooks', () => {
  const folder = path.join(root, 'node_modules/vscode-languageclient/lib/common');
  const using = fs
    .readdirSync(folder)
    .filter((name) => name.endsWith('.js'))
    .filter((name) => fs.readFileSync(path.join(folder, name), 'utf8').includes('utils/globPattern'));
  expect(using).toEqual(['diagnostic.js', 'notebook.js']);
  expect(Object.keys(leftOutOfClient)).toContain('notebook');
  expect(fs.readFileSync(path.join(root, 'client/src/extension.ts'), 'utf8')).toMatch(
    /diagnosticPullOptions: \{.* match:/,
  );
});

it('the client, the server, the catalog and the protocol are at most 2.75 MiB together', () => {
  const sizes = ['client.js', 'server.js', 'language-server.js', 'catalog.js', 'catalog.br', 'protocol.js'].map(
    (name) => fs.statSync(path.join(root, 'dist', name)).size,
  );
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(2.75 * 2 ** 20);
});

it.each(['client', 'server', 'language-server', 'catalog', 'protocol', 'commands'])(
  'the bundle %s is ASCII: one other letter, and V8 keeps all of its source at twice the size',
  (name) => {
    const text = fs.readFileSync(path.join(root, `dist/${name}.js`), 'utf8');
    expect(text.match(/.{0,20}[^\0-\x7f].{0,20}/)?.[0]).toBeUndefined();
  },
);

it('only the bundles that refresh prices and follow a cluster can connect, and only on request are they loaded', () => {
  const names = fs.readdirSync(path.join(root, 'dist')).filter((name) => name.endsWith('.js'));
  const having = (pattern: RegExp) =>
    names.filter((name) => pattern.test(fs.readFileSync(path.join(root, 'dist', name), 'utf8')));
  expect(having(/require\("(?:node:)?(?:https?|http2|tls|undici)"\)|\bfetch\(["'`]http/)).toEqual([
    'cluster.js',
    'prices.js',
  ]);
  expect(having(/\.\/prices\.js/)).toEqual(['commands.js']);
  // The thread is started by name.
  expect(having(/"cluster\.js"/)).toEqual(['commands.js', 'language-server.js']);
  expect(having(/require\("(?:\.\/)?cluster\.js"\)/)).toEqual([]);
});

it('the bundles for Node share one copy of the catalog', () => {
  const names = fs.readdirSync(path.join(root, 'dist')).filter((name) => name.endsWith('.js'));
  const having = (text: string) =>
    names.filter((name) => fs.readFileSync(path.join(root, 'dist', name), 'utf8').includes(text));
  expect(having('brotliDecompressSync')).toEqual(['catalog.js']);
  expect(having('require("./catalog.js")')).toEqual(['cluster.js', 'commands.js', 'language-server.js']);
});

it('only the bundle that follows a cluster can read a kubeconfig, and it brings no API clients along', () => {
  const having = (text: string) =>
    ['client', 'language-server', 'protocol', 'commands', 'prices', 'cluster'].filter((name) =>
      fs.readFileSync(path.join(root, `dist/${name}.js`), 'utf8').includes(text),
    );
  expect(having('KUBECONFIG is not set')).toEqual(['cluster']);
  expect(having('current-context')).toEqual(['cluster']);
  expect(having('CoreV1Api')).toEqual([]);
});

describe.each([
  ['text', dataAsText],
  ['a packed file', dataPacked],
])('the catalog, bundled as %s', (_, plugin) => {
  const data = path.join(root, 'server/src/catalog/data');
  const temp = fs.mkdtempSync(path.join(os.tmpdir(), 'gpulint-catalog-'));
  const outfile = path.join(temp, 'catalog.js');
  let bundled: Readonly<Record<string, unknown>> = {};

  beforeAll(async () => {
    await build({
      entryPoints: [path.join(root, 'server/src/catalog/data.ts')],
      bundle: true,
      format: 'cjs',
      platform: 'node',
      outfile,
      assetNames: '[name]',
      plugins: [plugin],
    });
    bundled = createRequire(import.meta.url)(outfile);
  });
  afterAll(() => fs.rmSync(temp, { recursive: true, force: true }));

  it.each(fs.readdirSync(data))('%s equals the file, without the sources of hand-written records', (name) => {
    expect(bundled[`${path.basename(name, '.json')}Json`]).toEqual(readData(path.join(data, name)));
  });
});
