// Bundles everything that runs: the extension's client and server, each for Node and for the web worker, and the CLI.
//
//   node esbuild.mjs [--dev] [--watch] [--metafile]
import { readdirSync, rmSync } from 'node:fs';
import process from 'node:process';
import * as esbuild from 'esbuild';
import { bundlesOf } from './scripts/bundles.mjs';

const flags = new Set(process.argv.slice(2));
const known = ['--dev', '--watch', '--metafile'];
const unknown = [...flags].filter((flag) => !known.includes(flag));
if (unknown.length > 0) {
  console.error(`esbuild.mjs: unknown option ${unknown[0]}; known are ${known.join(', ')}`);
  process.exit(2);
}

const dev = flags.has('--dev') || flags.has('--watch');

const bundles = bundlesOf({ dev });

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
