#!/usr/bin/env node
// @ts-check
// `npm test`: every check of the project, cheap ones first. Stops at the first failure and names it. The last line has the
// counts for CI.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ensureDependencies } from './dependencies.mjs';
import { chooseTestEditor } from './vscode/choose.mjs';
import { installStandIn } from './vscode/install.mjs';
import { PlainError, root } from './vscode/lab.mjs';
import { findChromium, obstacleHere } from './vscode/machine.mjs';

const { scripts } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'));
const temp = fs.mkdtempSync(path.join(os.tmpdir(), 'gpulint-checks-'));
const total = { passed: 0, failed: 0, skipped: 0 };
let failed = '';

try {
  failed = await main();
} catch (error) {
  if (!(error instanceof PlainError)) throw error;
  failed = error.message;
} finally {
  fs.rmSync(temp, { recursive: true, force: true });
}
if (failed) {
  // A step that fails without counting a test is itself the failure.
  total.failed ||= 1;
  console.error(`\nFailed: ${failed}`);
}
console.log(`\n${total.passed} passed, ${total.failed} failed${total.skipped ? `, ${total.skipped} skipped` : ''}`);
process.exitCode = failed ? 1 : 0;

/** @returns {Promise<string>} The name of the step that failed, or an empty string. */
async function main() {
  if (process.argv.length > 2)
    throw new PlainError(`npm test has no options; for those of vitest, run "npx vitest ${process.argv[2]}".`);
  ensureDependencies();
  if (!npmRun('build')) return 'build';
  if (!npmRun('typecheck')) return 'typecheck';
  if (!npmRun('lint')) return 'lint';
  if (scripts['generate:check'] && !npmRun('generate:check'))
    return 'generate:check (npm run generate updates the files)';
  // Before vitest, which tests `npm start` where the stand-in is installed.
  await prepareStandIn();
  if (!vitest()) return 'vitest';
  if (
    !node('package', [
      'node_modules/@vscode/vsce/vsce',
      'package',
      '--no-dependencies',
      '--out',
      path.join(temp, 'gpulint.vsix'),
    ])
  ) {
    return 'vsce package';
  }
  if (!vscode()) return 'test:vscode';
  return '';
}

async function prepareStandIn() {
  const editor = chooseTestEditor({
    platform: process.platform,
    env: process.env,
    chromium: findChromium(),
    obstacle: obstacleHere(),
  });
  if (editor.kind !== 'stand-in') return;
  try {
    await installStandIn();
  } catch (error) {
    // The step test:vscode reports it and decides whether to skip or fail.
    if (!(error instanceof PlainError)) throw error;
  }
}

function vitest() {
  const file = path.join(temp, 'vitest.json');
  const ok = node('vitest', [
    'node_modules/vitest/vitest.mjs',
    'run',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${file}`,
  ]);
  if (fs.existsSync(file)) {
    const { numPassedTests, numFailedTests, numPendingTests, numTodoTests } = JSON.parse(fs.readFileSync(file, 'utf8'));
    count({ passed: numPassedTests, failed: numFailedTests, skipped: numPendingTests + numTodoTests });
  }
  return ok;
}

function vscode() {
  const file = path.join(temp, 'vscode.json');
  const ok = node('test:vscode', ['scripts/vscode/test.mjs'], { GPULINT_COUNTS: file });
  if (fs.existsSync(file)) count(JSON.parse(fs.readFileSync(file, 'utf8')));
  return ok;
}

/** @param {string} name */
function npmRun(name) {
  console.log(`\n── ${name}`);
  const shell = process.platform === 'win32';
  return (
    spawnSync('npm', ['run', '--silent', name], { cwd: root, stdio: ['ignore', 'inherit', 'inherit'], shell })
      .status === 0
  );
}

/**
 * @param {string} name
 * @param {string[]} args
 * @param {Record<string, string>} [env]
 */
function node(name, args, env = {}) {
  console.log(`\n── ${name}`);
  const options = { cwd: root, env: { ...process.env, ...env } };
  return spawnSync(process.execPath, args, { ...options, stdio: ['ignore', 'inherit', 'inherit'] }).status === 0;
}

/** @param {typeof total} counts */
function count(counts) {
  total.passed += counts.passed;
  total.failed += counts.failed;
  total.skipped += counts.skipped;
}
