// Bundles everything that runs: the extension's client and server, each for Node and for the web worker, and the CLI.
//
//   node esbuild.mjs [--dev] [--watch] [--metafile]
//
// All outputs are CommonJS named `.js`, and package.json therefore has no "type": "module". VS Code decides by that field how to load an
// extension: with it, its web worker host refuses every `.js` entry, and older hosts do not know a `.cjs` entry there.
import { chmodSync, existsSync, readdirSync, rmSync } from 'node:fs';
import process from 'node:process';
import * as esbuild from 'esbuild';

const flags = new Set(process.argv.slice(2));
const known = ['--dev', '--watch', '--metafile'];
const unknown = [...flags].filter((flag) => !known.includes(flag));
if (unknown.length > 0) {
  console.error(`esbuild.mjs: unknown option ${unknown[0]}; known are ${known.join(', ')}`);
  process.exit(2);
}

const dev = flags.has('--dev') || flags.has('--watch');

const shared = {
  bundle: true,
  format: 'cjs',
  target: 'es2022',
  minify: !dev,
  sourcemap: dev,
  // Names in a stack trace are what a bug report has to go by.
  keepNames: true,
  legalComments: 'none',
  logLevel: 'warning',
  metafile: true,
};
const node = { ...shared, platform: 'node', target: 'node18' };
const browser = { ...shared, platform: 'browser', mainFields: ['browser', 'module', 'main'] };

const bundles = [
  { ...node, entryPoints: ['client/src/node.ts'], outfile: 'dist/client.js', external: ['vscode'] },
  { ...node, entryPoints: ['server/src/lsp/main.ts'], outfile: 'dist/server.js' },
  {
    ...node,
    entryPoints: ['server/src/cli/main.ts'],
    outfile: 'dist/cli.js',
    // A dependency (fdir) asks where it stands, which CommonJS answers in another way.
    banner: { js: "#!/usr/bin/env node\nconst importMetaUrl = require('node:url').pathToFileURL(__filename).href;" },
    define: { 'import.meta.url': 'importMetaUrl' },
    plugins: [executable('dist/cli.js')],
  },
  { ...browser, entryPoints: ['client/src/browser.ts'], outfile: 'dist/client.browser.js', external: ['vscode'] },
  { ...browser, entryPoints: ['server/src/lsp/browser.ts'], outfile: 'dist/server.browser.js', format: 'iife' },
].filter(hasEntry);

if (flags.has('--watch')) {
  for (const bundle of bundles) {
    const context = await esbuild.context({ ...bundle, logLevel: 'info' });
    await context.watch();
  }
} else {
  const results = await Promise.all(bundles.map((bundle) => esbuild.build(bundle)));
  removeLeftovers(results.flatMap((result) => Object.keys(result.metafile.outputs)));
  for (const result of results) {
    if (flags.has('--metafile')) printSizes(result.metafile);
  }
}

/** A file that an earlier build left would end up in the package. */
function removeLeftovers(outputs) {
  for (const name of readdirSync('dist')) {
    if (!outputs.includes(`dist/${name}`)) rmSync(`dist/${name}`, { recursive: true, force: true });
  }
}

function hasEntry(bundle) {
  const [entry] = bundle.entryPoints;
  if (existsSync(entry)) return true;
  console.warn(`skipped ${bundle.outfile}: ${entry} is not there yet`);
  return false;
}

function executable(file) {
  return {
    name: 'executable',
    setup(build) {
      build.onEnd((result) => {
        if (result.errors.length === 0) chmodSync(file, 0o755);
      });
    },
  };
}

function printSizes(metafile) {
  for (const [file, output] of Object.entries(metafile.outputs)) {
    if (file.endsWith('.map')) continue;
    console.log(`${file}  ${kilobytes(output.bytes)}`);
    const bySource = new Map();
    for (const [input, { bytesInOutput }] of Object.entries(output.inputs)) {
      const source = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input)?.[1] ?? input.split('/').slice(0, 3).join('/');
      bySource.set(source, (bySource.get(source) ?? 0) + bytesInOutput);
    }
    const largest = [...bySource].sort((a, b) => b[1] - a[1]).slice(0, 12);
    for (const [source, bytes] of largest) console.log(`  ${kilobytes(bytes).padStart(10)}  ${source}`);
  }
}

function kilobytes(bytes) {
  return `${(bytes / 1024).toFixed(1)} kB`;
}
