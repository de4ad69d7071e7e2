// @ts-check
// Installs the project's dependencies if they are missing or stale, so that `npm start` and `npm test` work in a fresh clone.
// Only Node is available before that, so this file uses nothing else.
import fs from 'node:fs';
import path from 'node:path';
import { runStep } from './run-step.mjs';
import { isUpToDate } from './vscode/choose.mjs';
import { root } from './vscode/lab.mjs';

/** @throws {import('./vscode/lab.mjs').PlainError} If `npm ci` fails. */
export function ensureDependencies() {
  if (!hasModules()) runStep('Installing dependencies', 'npm', ['ci', '--no-audit', '--no-fund']);
}

function hasModules() {
  const read = (/** @type {string} */ file) => JSON.parse(fs.readFileSync(path.join(root, file), 'utf8'));
  try {
    return isUpToDate(read('package-lock.json'), read('node_modules/.package-lock.json'));
  } catch {
    return false;
  }
}
