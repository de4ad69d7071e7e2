// @ts-check
// Finds a desktop VS Code that works and opens things in it. Plain Node, no dependency.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { desktopPlaces, isFitVersion } from './choose.mjs';

/**
 * The command-line executable of a desktop VS Code that answers and is new enough for the extension.
 * @param {string} range The extension's `engines.vscode`.
 * @returns {string | undefined}
 */
export function findDesktop(range) {
  const machine = { platform: process.platform, env: process.env, home: os.homedir(), delimiter: path.delimiter };
  const places = desktopPlaces(machine).filter((file) => fs.statSync(file, { throwIfNoEntry: false })?.isFile());
  // Some shims exist but fail, such as the one for VS Code's own terminals when run elsewhere.
  return [...new Set(places)].find((file) => {
    const { status, stdout } = runDesktop(file, ['--version'], 20_000);
    return status === 0 && isFitVersion(stdout, range);
  });
}

/**
 * Runs the executable; that of VS Code returns as soon as the window is requested.
 * @param {string} executable
 * @param {readonly string[]} args
 * @param {number} [timeout] In milliseconds.
 */
export function runDesktop(executable, args, timeout) {
  // A .cmd file needs the shell, and the shell needs quotes around what may hold spaces.
  const shell = executable.endsWith('.cmd');
  const quote = (/** @type {string} */ text) => (shell ? `"${text}"` : text);
  return spawnSync(quote(executable), args.map(quote), {
    encoding: 'utf8',
    shell,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(timeout ? { timeout } : {}),
  });
}

/**
 * Asks the system to show an address. Failure is no error: the address has been printed.
 * @param {string} url
 */
export function openInBrowser(url) {
  const [command, ...args] =
    process.platform === 'darwin'
      ? ['open', url]
      : process.platform === 'win32'
        ? ['rundll32', 'url.dll,FileProtocolHandler', url]
        : ['xdg-open', url];
  spawnSync(command ?? '', args, { stdio: 'ignore', timeout: 10_000 });
}
