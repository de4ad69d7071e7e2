// @ts-check
// Installs the project's dependencies where they are missing or stale, so that each of the two commands works on a fresh clone.
// Nothing but Node is there before, so this file uses nothing else.
import fs from 'node:fs';
import path from 'node:path';
import { runStep } from './run-step.mjs';
import { isUpToDate } from './vscode/choose.mjs';
import { root } from './vscode/lab.mjs';

/** @throws {import('./vscode/lab.mjs').PlainError} Where `npm ci` fails. */
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
