// Writes THIRD_PARTY_NOTICES: the licence of every package whose code is in a bundle, and where the facts come from.
// With --check it writes nothing and fails when the file is stale.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';
import { bundlesOf } from './bundles.mjs';

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '..');
const target = path.join(root, 'THIRD_PARTY_NOTICES');
const facts = path.join(root, 'scripts/notices-of-facts.md');

const text = render(await bundledPackages());
if (!process.argv.includes('--check')) writeFileSync(target, text);
else if (!existsSync(target) || readFileSync(target, 'utf8') !== text) {
  console.error('Stale generated file: THIRD_PARTY_NOTICES. Run: npm run generate');
  process.exitCode = 1;
}

/** The folders of the packages of which something is bundled, by name. */
async function bundledPackages() {
  const folders = new Map();
  for (const bundle of bundlesOf({ dev: false })) {
    // What some plugin leaves out is not ours to name. The last step of the CLI's works on the file that is written.
    const plugins = bundle.plugins.filter(({ name }) => name !== 'executable');
    const options = { ...bundle, plugins, absWorkingDir: root, write: false, metafile: true };
    const { metafile } = await esbuild.build(options);
    for (const input of Object.keys(metafile.inputs)) {
      const match = /^(.*node_modules\/((?:@[^/]+\/)?[^/]+))\//.exec(input);
      if (match) folders.set(match[1], path.join(root, match[1]));
    }
  }
  return [...folders.values()].map(readPackage).sort((a, b) => (a.title < b.title ? -1 : 1));
}

/** @param {string} folder */
function readPackage(folder) {
  const { name, version, license } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e(\.\w+)?$/i.test(entry));
  const said = file
    ? readFileSync(path.join(folder, file), 'utf8').replace(/\r\n/g, '\n').trim()
    : `License: ${license}`;
  return { title: `${name} ${version} (${license})`, said };
}

/** @param {{ title: string, said: string }[]} packages */
function render(packages) {
  const distinct = packages.filter(
    ({ title }, index) => packages.findIndex((other) => other.title === title) === index,
  );
  const parts = distinct.map(({ title, said }) => `${'='.repeat(80)}\n${title}\n\n${said}\n`);
  return `gpulint contains code of the packages below, and facts from the sources named after them.\n\n${parts.join('\n')}\n${'='.repeat(80)}\n${readFileSync(facts, 'utf8')}`;
}
