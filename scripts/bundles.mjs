// What is bundled, and how. `esbuild.mjs` builds it; the licence notices are collected from the same list.
//
// All outputs are CommonJS named `.js`, and package.json therefore has no "type": "module". VS Code decides by that field how to load an
// extension: with it, its web worker host refuses every `.js` entry, and older hosts do not know a `.cjs` entry there.
import { chmodSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';
import { transformSync } from 'esbuild';
import { inColumns } from './catalog-columns.mjs';
import { leanLibraries } from './lean-libraries.mjs';

/**
 * @param {{ dev: boolean }} options
 * @returns {(import('esbuild').BuildOptions & { outfile: string, plugins: import('esbuild').Plugin[] })[]}
 */
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
    plugins: [dataAsText, shortPages, withoutSources, leanLibraries()],
  };
  // The library's build for Node asks process.env for a debugging switch at every token, which costs a third of the reading.
  const yaml = fileURLToPath(new URL('../node_modules/yaml/browser/index.js', import.meta.url));
  const node = {
    ...shared,
    plugins: [dataPacked, shortPages, withoutSources, leanLibraries()],
    platform: 'node',
    target: 'node18',
    alias: { yaml },
  };
  const browser = { ...shared, platform: 'browser', mainFields: ['browser', 'module', 'main'] };
  // On the desktop the client and the server are two programs of one machine, which take the protocol from one file.
  const withProtocol = {
    ...node,
    plugins: [dataPacked, shortPages, withoutSources, leanLibraries({ protocol: './protocol.js' })],
  };
  const withCatalog = { './data.ts': './catalog.js' };
  return [
    { ...node, entryPoints: ['vscode-languageserver-protocol/node'], outfile: 'dist/protocol.js' },
    // The catalog's data, which the bundles that read it share, with a file of its own.
    { ...node, entryPoints: ['server/src/catalog/data.ts'], outfile: 'dist/catalog.js', assetNames: '[name]' },
    {
      ...withProtocol,
      entryPoints: ['client/src/node.ts'],
      outfile: 'dist/client.js',
      external: ['vscode'],
      supported: { 'dynamic-import': false },
      plugins: [...withProtocol.plugins, apart({ './cluster-view.ts': './cluster-view.js' })],
    },
    // What shows a cluster. Nothing loads it before the user wants to connect.
    {
      ...withProtocol,
      entryPoints: ['client/src/cluster-view.ts'],
      outfile: 'dist/cluster-view.js',
      external: ['vscode'],
    },
    { ...node, entryPoints: ['server/src/lsp/main.ts'], outfile: 'dist/server.js' },
    {
      ...withProtocol,
      entryPoints: ['server/src/lsp/program.ts'],
      outfile: 'dist/language-server.js',
      supported: { 'dynamic-import': false },
      plugins: [...withProtocol.plugins, apart(withCatalog)],
    },
    {
      ...withProtocol,
      entryPoints: ['server/src/cli/program.ts'],
      outfile: 'dist/commands.js',
      supported: { 'dynamic-import': false },
      plugins: [...withProtocol.plugins, apart({ ...withCatalog, '../../price-sources/refresh.ts': './prices.js' })],
    },
    // All code that connects to the internet. Nothing loads it but `gpulint prices refresh`.
    { ...node, entryPoints: ['server/src/price-sources/refresh.ts'], outfile: 'dist/prices.js' },
    // The thread that reads many files.
    { ...node, entryPoints: ['server/src/lsp/node-reader.ts'], outfile: 'dist/reader.js' },
    // The thread that follows a cluster. Nothing loads it before the user connects.
    {
      ...node,
      entryPoints: ['server/src/lsp/node-cluster.ts'],
      outfile: 'dist/cluster.js',
      // Node's own URL needs no tables of Unicode.
      alias: { ...node.alias, '@kubernetes/client-node': kubeconfigOnly, 'whatwg-url': 'node:url' },
      plugins: [...node.plugins, withoutModels, apart(withCatalog)],
    },
    {
      ...node,
      entryPoints: ['server/src/cli/main.ts'],
      outfile: 'dist/cli.js',
      banner: { js: '#!/usr/bin/env node' },
      plugins: [executable('dist/cli.js')],
    },
    { ...browser, entryPoints: ['client/src/browser.ts'], outfile: 'dist/client.browser.js', external: ['vscode'] },
    { ...browser, entryPoints: ['server/src/lsp/browser.ts'], outfile: 'dist/server.browser.js', format: 'iife' },
  ];
}

/**
 * Where the records in code come from is for readers of the code, and examples of names are for tests.
 * @type {import('esbuild').Plugin}
 */
const withoutSources = {
  name: 'without-sources',
  setup(build) {
    const filter =
      /src[\\/](?:model[\\/]charts[\\/][\w-]+|catalog[\\/](?:server-support|node-labels|resource-(?:families|records)))\.ts$/;
    const records =
      /\b(?:source: (?:'(?:https:|\w+[./-])[^'\n]*'|[a-z]\w*|`[^`\n]*`)|date: '[\d-]{10}'|example: '[^'\n]*')(?:,\s*|(?=\s*\}))/g;
    build.onLoad({ filter }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replace(records, ''),
      loader: 'ts',
    }));
  },
};

/** The part of @kubernetes/client-node that reads kubeconfigs. */
const kubeconfigOnly = fileURLToPath(
  new URL('../node_modules/@kubernetes/client-node/dist/config.js', import.meta.url),
);

/**
 * The models and clients of all APIs are megabytes that no one calls, and so is what reads the output of the plugins for Azure and Google, which
 * Kubernetes has removed: they could run any program without the checks of other plugins.
 * @type {import('esbuild').Plugin}
 */
const withoutModels = {
  name: 'without-models',
  setup(build) {
    build.onLoad({ filter: /client-node[\\/]dist[\\/]gen[\\/]index\.js$/ }, () => ({
      contents: 'export class ServerConfiguration {} export function createConfiguration() {}',
    }));
    build.onLoad({ filter: /client-node[\\/]dist[\\/](?:azure|gcp)_auth\.js$/ }, () => ({
      contents: `class Removed { isAuthProvider() { return false; } }
        export { Removed as AzureAuth, Removed as GoogleCloudPlatformAuth };`,
    }));
  },
};

/** The catalog as text, for browsers, which unpack nothing without waiting. */
export const dataAsText = catalogData((text) => `const text = ${JSON.stringify(text)};`);

/** The same as a packed file next to the bundle, for Node: a quarter of the size, unpacked in a few milliseconds. */
export const dataPacked = catalogData(
  () => `import packed from 'catalog.br';
    import { readFileSync } from 'node:fs';
    import { brotliDecompressSync } from 'node:zlib';
    const text = brotliDecompressSync(readFileSync(__dirname + '/' + packed)).toString();`,
);

/**
 * All files of the catalog in one text of JSON: at every start the engine reads it several times as fast as the same as code.
 * @param {(text: string) => string} textOf code that defines `text`
 * @returns {import('esbuild').Plugin}
 */
function catalogData(textOf) {
  const columns = fileURLToPath(new URL('./catalog-columns.mjs', import.meta.url));
  return {
    name: 'catalog-data',
    setup(build) {
      build.onLoad({ filter: /[\\/]catalog[\\/]data\.ts$/ }, ({ path: module }) => {
        const files = [...readFileSync(module, 'utf8').matchAll(/default as (\w+) \} from '(.+\.json)'/g)];
        const data = files.map(([, , file = '']) => inColumns(readData(path.join(path.dirname(module), file))));
        const text = JSON.stringify(data);
        return {
          contents: `import { fromColumns } from ${JSON.stringify(columns)};
            ${textOf(text)}
            export const [${files.map(([, name]) => name)}] = JSON.parse(text).map(fromColumns);`,
          loader: 'js',
          resolveDir: path.dirname(module),
          pluginData: text,
        };
      });
      build.onResolve({ filter: /^catalog\.br$/ }, ({ path: name, pluginData }) => ({
        path: name,
        namespace: 'packed',
        pluginData,
      }));
      build.onLoad({ filter: /.*/, namespace: 'packed' }, ({ pluginData: text }) => ({
        contents: brotliCompressSync(text, {
          params: { [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS },
        }),
        loader: 'file',
      }));
    },
  };
}

/** A file of the catalog as the bundles have it. @param {string} path @returns {Record<string, any>} */
export function readData(path) {
  const isCurated = curated.test(path);
  return JSON.parse(readFileSync(path, 'utf8'), (key, value) => (isCurated && provenance.has(key) ? undefined : value));
}

/**
 * The style and the script of the cost report without their spaces and long names.
 * @type {import('esbuild').Plugin}
 */
const shortPages = {
  name: 'short-pages',
  setup(build) {
    build.onLoad({ filter: /[\\/]cost-report[\\/]page-(?:style|script)\.ts$/ }, async ({ path }) => {
      const source = transformSync(readFileSync(path, 'utf8'), { loader: 'ts' }).code;
      const texts = Object.entries(await import(`data:text/javascript,${encodeURIComponent(source)}`));
      const short = texts.map(([name, text]) => {
        const { code } = transformSync(text, { loader: name.endsWith('Style') ? 'css' : 'js', minify: true });
        return `export const ${name} = ${JSON.stringify(code)};`;
      });
      return { contents: short.join(''), loader: 'js' };
    });
  },
};

/** The files that are written by hand. Tests check where their records come from; nothing reads it at run time. */
const curated = /[\\/](?:programs|images|flags)\.json$/;
const provenance = new Set(['source', 'date', 'unsourced', 'spellings']);

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
