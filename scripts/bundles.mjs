// What is bundled, and how. `esbuild.mjs` builds it; the licence notices are collected from the same list.
//
// All outputs are CommonJS named `.js`, and package.json therefore has no "type": "module". VS Code decides by that field how to load an
// extension: with it, its web worker host refuses every `.js` entry, and older hosts do not know a `.cjs` entry there.
import { chmodSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { leanLibraries } from './lean-libraries.mjs';

/** @param {{ dev: boolean }} options */
export function bundlesOf({ dev }) {
  const shared = {
    bundle: true,
    format: 'cjs',
    target: 'es2022',
    minify: !dev,
    sourcemap: dev,
    // Names are not kept: that would wrap each function, which costs 5 % in size, more in memory, and 10 ms of every start. A line and a
    // column of a bundle are enough to find the place in the sources again.
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
    plugins: [dataAsText, leanLibraries()],
  };
  // The library's build for Node asks process.env for a debugging switch at every token, which costs a third of the reading.
  const yaml = fileURLToPath(new URL('../node_modules/yaml/browser/index.js', import.meta.url));
  const node = { ...shared, platform: 'node', target: 'node18', alias: { yaml } };
  const browser = { ...shared, platform: 'browser', mainFields: ['browser', 'module', 'main'] };
  // On the desktop the client and the server are two programs of one machine, which take the protocol from one file.
  const withProtocol = { ...node, plugins: [dataAsText, leanLibraries({ protocol: './protocol.js' })] };
  return [
    { ...node, entryPoints: ['vscode-languageserver-protocol/node'], outfile: 'dist/protocol.js' },
    { ...withProtocol, entryPoints: ['client/src/node.ts'], outfile: 'dist/client.js', external: ['vscode'] },
    { ...withProtocol, entryPoints: ['server/src/lsp/main.ts'], outfile: 'dist/server.js' },
    {
      ...withProtocol,
      entryPoints: ['server/src/cli/program.ts'],
      outfile: 'dist/commands.js',
      // A dependency (fdir) asks where it stands, which CommonJS answers in another way.
      banner: { js: "const importMetaUrl = require('node:url').pathToFileURL(__filename).href;" },
      define: { 'import.meta.url': 'importMetaUrl' },
    },
    {
      ...node,
      entryPoints: ['server/src/cli/main.ts'],
      outfile: 'dist/cli.js',
      banner: { js: '#!/usr/bin/env node' },
      // Node loads a bundle in a third of the time when it is required.
      supported: { 'dynamic-import': false },
      plugins: [apart({ '../lsp/main.ts': './server.js', './program.ts': './commands.js' }), executable('dist/cli.js')],
    },
    { ...browser, entryPoints: ['client/src/browser.ts'], outfile: 'dist/client.browser.js', external: ['vscode'] },
    { ...browser, entryPoints: ['server/src/lsp/browser.ts'], outfile: 'dist/server.browser.js', format: 'iife' },
  ];
}

/**
 * The catalogue as `JSON.parse('…')`: at every start the engine reads a text of JSON several times as fast as the same as code. Of a table of
 * records the keys are written once, which is half of such a table.
 * @type {import('esbuild').Plugin}
 */
const dataAsText = {
  name: 'data-as-text',
  setup(build) {
    build.onLoad({ filter: /[\\/]catalog[\\/]data[\\/][a-z]+\.json$/ }, ({ path }) => {
      const data = JSON.parse(readFileSync(path, 'utf8'));
      const tables = Object.keys(data).filter((name) => isTable(data[name]));
      for (const name of tables) data[name] = toRows(data[name]);
      return {
        contents: `const data = JSON.parse(${JSON.stringify(JSON.stringify(data))});
          for (const name of ${JSON.stringify(tables)}) {
            const [keys, ...rows] = data[name];
            data[name] = rows.map((row) => Object.fromEntries(keys.map((key, index) => [key, row[index]]).filter(([, value]) => value !== ${JSON.stringify(absent)})));
          }
          module.exports = data;`,
        loader: 'js',
      };
    });
  },
};

/** Stands in a row where the record has no such key. */
const absent = '~';

/** @param {unknown} value @returns {value is readonly Record<string, unknown>[]} */
function isTable(value) {
  return Array.isArray(value) && value.length > 0 && value.every((one) => one?.constructor === Object);
}

/** The keys of all records, and then each record's values. @param {readonly Record<string, unknown>[]} records */
function toRows(records) {
  const keys = [...new Set(records.flatMap((record) => Object.keys(record)))];
  if (records.some((record) => Object.values(record).includes(absent)))
    throw new Error(`a record has the value ${absent}`);
  return [keys, ...records.map((record) => keys.map((key) => (key in record ? record[key] : absent)))];
}

/**
 * What is a bundle of its own, by how it is imported.
 * @param {Readonly<Record<string, string>>} bundles
 * @returns {import('esbuild').Plugin}
 */
function apart(bundles) {
  return {
    name: 'apart',
    setup(build) {
      build.onResolve({ filter: /\.ts$/ }, ({ path }) => {
        const bundle = bundles[path];
        return bundle === undefined ? undefined : { path: bundle, external: true };
      });
    },
  };
}

/** @param {string} file */
function executable(file) {
  return {
    name: 'executable',
    /** @param {{ onEnd: (callback: (result: { errors: unknown[] }) => void) => void }} build */
    setup(build) {
      build.onEnd(({ errors }) => {
        if (errors.length === 0) chmodSync(file, 0o755);
      });
    },
  };
}
