// @ts-check
// The Node that runs all servers: VS Code brings its own, which is no older than 22, and yaml-language-server needs 22.13.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const LENT = '22.23.3';

/** What the bench needs and the project does not is installed here on demand. The folder is ignored. */
export const folder = path.join(import.meta.dirname, '.peer');

/** @typedef {{ path: string, version: string }} Node */

/**
 * This one where it is new enough; else the npm package of a Node lends its own.
 * @returns {Node | { reason: string }}
 */
export function findNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > 22 || (major === 22 && minor >= 13)) return { path: process.execPath, version: process.versions.node };
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  const lent = path.join(folder, 'node_modules', name, 'bin', 'node');
  const problem = existsSync(lent) ? undefined : install(`${name}@${LENT}`);
  return problem === undefined
    ? { path: lent, version: LENT }
    : { reason: `Node ${LENT} could not be installed: ${problem}` };
}

/** Installs a package in addition to the existing ones. @param {string} wanted @returns {string | undefined} why it failed */
export function install(wanted) {
  mkdirSync(folder, { recursive: true });
  // What it lists, npm keeps; anything else that is installed there would go.
  const manifest = path.join(folder, 'package.json');
  if (!existsSync(manifest)) writeFileSync(manifest, '{ "private": true }\n');
  const args = ['install', '--prefix', folder, '--no-audit', '--no-fund', wanted];
  const { status, stderr } = spawnSync('npm', args, { encoding: 'utf8', shell: process.platform === 'win32' });
  return status === 0 ? undefined : stderr.trim().split('\n').at(-1);
}
