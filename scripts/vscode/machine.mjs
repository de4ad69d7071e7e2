// @ts-check
// What this machine has. Uses only Node, no dependencies.
import fs from 'node:fs';
import path from 'node:path';
import { standInObstacle } from './choose.mjs';

/** Why the browser stand-in is not available on this machine; undefined if it is. */
export function obstacleHere() {
  return standInObstacle({ platform: process.platform, arch: process.arch, glibc: hasGlibc() });
}

/**
 * Chromium or Chrome on this machine, or undefined.
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {string | undefined}
 */
export function findChromium(env = process.env) {
  if (env.CHROMIUM) return fs.existsSync(env.CHROMIUM) ? env.CHROMIUM : undefined;
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];
  const folders = [...(env.PATH ?? '').split(path.delimiter).filter(Boolean), '/usr/bin', '/snap/bin'];
  const apps = [
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
  ];
  return [...names.flatMap((name) => folders.map((folder) => path.join(folder, name))), ...apps].find((file) =>
    fs.statSync(file, { throwIfNoEntry: false })?.isFile(),
  );
}

function hasGlibc() {
  if (process.platform !== 'linux') return false;
  const report = /** @type {{ header?: { glibcVersionRuntime?: string } }} */ (process.report.getReport());
  return report.header?.glibcVersionRuntime !== undefined;
}
