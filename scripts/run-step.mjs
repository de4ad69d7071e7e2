// @ts-check
import { spawnSync } from 'node:child_process';
import process from 'node:process';
import { PlainError, root } from './vscode/lab.mjs';

/**
 * Runs one step and shows its output only if it fails.
 * @param {string} what
 * @param {string} command
 * @param {string[]} args
 */
export function runStep(what, command, args) {
  console.log(`${what}…`);
  // npm is a .cmd file on Windows, which needs the shell; no argument here contains a space.
  const shell = process.platform === 'win32' && command === 'npm';
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd: root,
    encoding: 'utf8',
    shell,
    maxBuffer: 1e8,
  });
  if (status === 0) return;
  process.stderr.write(`${stdout ?? ''}${stderr ?? ''}`);
  throw new PlainError(`${what} failed${error ? ` (${error.message})` : ''}.`);
}
