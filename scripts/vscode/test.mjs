#!/usr/bin/env node
// @ts-check
// `npm run test:vscode`: the suites of test/vscode/suite inside a real extension host, and the scenario that mouse and
// keyboard drive. dist/ must be built.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { downloadAndUnzipVSCode, runTests } from '@vscode/test-electron';
import * as esbuild from 'esbuild';
import { glob } from 'tinyglobby';
import { chooseTestEditor } from './choose.mjs';
import { installStandIn } from './install.mjs';
import { PlainError, root } from './lab.mjs';
import { findChromium, obstacleHere } from './machine.mjs';
import { copyWorkspace, runScenarios } from './scenarios.mjs';

const help = `Usage: npm run test:vscode -- [options]

  --repeat N        run everything N times, stop at the first failure
  --grep TEXT       run only the tests whose title matches
  --update-images   write the scenario's screenshots to docs/images
  --help            print this help

GPULINT_VSCODE_DESKTOP=1 uses desktop VS Code (downloaded) instead of the stand-in; CHROMIUM is the path of the browser.`;

/** @typedef {import('./scenarios.mjs').Counts} Counts */

const temp = fs.mkdtempSync(path.join(os.tmpdir(), 'gpulint-test-'));
process.once('exit', () => fs.rmSync(temp, { recursive: true, force: true }));
try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof PlainError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}

/** @returns {Promise<number>} The exit status. */
async function main() {
  const options = readOptions();
  if (typeof options === 'number') return options;
  const editor = chooseTestEditor({
    platform: process.platform,
    env: process.env,
    chromium: findChromium(),
    obstacle: obstacleHere(),
  });
  if (editor.kind === 'skip') return skip(editor.reason);
  if (!fs.existsSync(path.join(root, 'dist/client.js')))
    throw new PlainError('dist/client.js is missing: run "npm run build" first.');
  let executable = '';
  try {
    executable = editor.kind === 'stand-in' ? await standIn() : await desktop();
  } catch (error) {
    if (!(error instanceof PlainError)) throw error;
    return skip(`Skipped the tests in VS Code: ${error.message}`);
  }
  await bundleTests();
  /** @type {Counts} */
  const total = { passed: 0, failed: 0, skipped: 0 };
  /** @type {Map<string, number>} */
  const retried = new Map();
  /** @type {string[]} */
  const failures = [];
  let rounds = 0;
  for (let round = 1; round <= options.repeat && total.failed === 0; round++) {
    if (options.repeat > 1) console.log(`\nRound ${round} of ${options.repeat}`);
    add(total, await runSuites(executable, options.grep));
    if (total.failed === 0)
      add(total, await runScenarios({ temp, skip: editor.kind === 'desktop', retried, failures, ...options }));
    rounds = round;
  }
  const { passed, failed, skipped } = total;
  if (process.env.GPULINT_COUNTS) fs.writeFileSync(process.env.GPULINT_COUNTS, JSON.stringify(total));
  if (passed + failed === 0) throw new PlainError('No test in VS Code has a matching title.');
  // A step that always needs a retry shows people something wrong first.
  if (retried.size > 0) console.log(`\nRetries, in how many of ${rounds} rounds:`);
  for (const [step, count] of retried) console.log(`  ${count} ${step}`);
  // Again at the end: a log that is cut still says what failed.
  for (const failure of failures) console.log(`\n✗ ${failure}`);
  console.log(`\nVS Code: ${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`);
  return failed === 0 ? 0 : 1;
}

/** @returns {{ repeat: number, grep: string | undefined, images: boolean } | number} */
function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        repeat: { type: 'string', default: '1' },
        grep: { type: 'string' },
        'update-images': { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    if (values.help) {
      console.log(help);
      return 0;
    }
    if (!/^[1-9]\d{0,3}$/.test(values.repeat))
      throw new Error(`--repeat must be a count, not ${JSON.stringify(values.repeat)}`);
    if (values.grep) new RegExp(values.grep);
    return { repeat: Number(values.repeat), grep: values.grep, images: values['update-images'] };
  } catch (error) {
    console.error(`npm run test:vscode: ${error instanceof Error ? error.message : error}; --help lists the options.`);
    return 2;
  }
}

/** @param {string} reason */
function skip(reason) {
  console.log(reason);
  if (process.env.GPULINT_COUNTS)
    fs.writeFileSync(process.env.GPULINT_COUNTS, JSON.stringify({ passed: 0, failed: 0, skipped: 1 }));
  return process.env.CI === 'true' || process.env.GPULINT_REQUIRE_VSCODE === '1' ? 1 : 0;
}

/** @returns {Promise<string>} The executable of the stand-in. */
async function standIn() {
  await installStandIn();
  return path.join(root, 'scripts/vscode/stand-in');
}

/** @returns {Promise<string>} The executable of a downloaded desktop VS Code. */
async function desktop() {
  try {
    return await downloadAndUnzipVSCode({ cachePath: path.join(root, '.vscode-test') });
  } catch (error) {
    throw new PlainError(`Cannot download desktop VS Code (${error instanceof Error ? error.message : error}).`);
  }
}

async function bundleTests() {
  fs.rmSync(path.join(root, 'dist-test'), { recursive: true, force: true });
  process.setSourceMapsEnabled(true);
  /** @type {import('esbuild').BuildOptions} */
  const shared = { absWorkingDir: root, bundle: true, platform: 'node', sourcemap: 'inline', logLevel: 'warning' };
  const suites = await glob('test/vscode/suite/*.test.ts', { cwd: root });
  await esbuild.build({
    ...shared,
    entryPoints: ['test/vscode/suite/index.ts', ...suites],
    outdir: 'dist-test',
    format: 'cjs',
    target: 'node18',
    external: ['vscode', 'mocha'],
  });
  await esbuild.build({
    ...shared,
    entryPoints: ['test/vscode/scenario.ts', 'test/vscode/browser-scenario.ts', 'test/vscode/tour/index.ts'],
    outbase: 'test/vscode',
    outdir: 'dist-test',
    outExtension: { '.js': '.mjs' },
    format: 'esm',
    packages: 'external',
    plugins: [
      { name: 'scripts', setup: keepScripts },
      { name: 'folders', setup: keepFolders },
    ],
  });
}

/**
 * The scripts in this folder are not bundled: they locate the project by their own path.
 * @param {import('esbuild').PluginBuild} build
 */
function keepScripts(build) {
  build.onResolve({ filter: /\/scripts\/vscode\// }, (found) => ({
    path: pathToFileURL(path.resolve(found.resolveDir, found.path)).href,
    external: true,
  }));
}

/**
 * The substitute API server reads files next to it.
 * @param {import('esbuild').PluginBuild} build
 */
function keepFolders(build) {
  build.onLoad({ filter: /[\\/]api-server[\\/]server\.ts$/ }, ({ path: file }) => ({
    contents: fs.readFileSync(file, 'utf8').replaceAll('import.meta.dirname', JSON.stringify(path.dirname(file))),
    loader: 'ts',
  }));
}

/**
 * Mocha inside the extension host.
 * @param {string} executable
 * @param {string | undefined} grep
 * @returns {Promise<Counts>}
 */
async function runSuites(executable, grep) {
  const folder = fs.mkdtempSync(path.join(temp, 'suite-'));
  const result = path.join(folder, 'result.json');
  let problem = '';
  try {
    await runTests({
      vscodeExecutablePath: executable,
      extensionDevelopmentPath: root,
      extensionTestsPath: path.join(root, 'dist-test/index.js'),
      launchArgs: [copyWorkspace(folder), `--user-data-dir=${path.join(folder, 'user')}`],
      extensionTestsEnv: { GPULINT_TEST_RESULT: result, ...(grep ? { GPULINT_TEST_GREP: grep } : {}) },
    });
  } catch (error) {
    problem = error instanceof Error ? error.message : String(error);
  }
  if (fs.existsSync(result)) {
    const counts = /** @type {Counts} */ (JSON.parse(fs.readFileSync(result, 'utf8')));
    if (problem === '' || counts.failed > 0) return counts;
  }
  console.error(`The extension host returned no result: ${problem || 'it wrote none'}.`);
  return { passed: 0, failed: 1, skipped: 0 };
}

/**
 * @param {Counts} total
 * @param {Counts} more
 */
function add(total, more) {
  total.passed += more.passed;
  total.failed += more.failed;
  total.skipped += more.skipped;
}
