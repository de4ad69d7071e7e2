// @ts-check
// What the browser stand-in for VS Code consists of, and where it lives. Plain Node, no dependency:
// scripts/start.mjs needs it before anything has been installed.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');

/** code-server's package carries a complete built VS Code server; it wants the Node of that major. */
export const versions = Object.freeze({ vscode: '1.139.1', codeServer: '4.139.1', node: '24.21.0' });

/** A failure that is reported as one sentence, without a stack. */
export class PlainError extends Error {}

/**
 * @typedef {object} Lab
 * @property {string} folder
 * @property {string} node The Node binary that runs the server.
 * @property {string} nodeHome The package that holds the binary and its headers.
 * @property {string} main The server's entry script.
 * @property {string} stamp Written last: its presence and content say that the installation is whole.
 */

/**
 * The paths of the stand-in's parts.
 * @param {NodeJS.ProcessEnv} [env]
 * @param {string} [arch]
 * @returns {Lab}
 */
export function labPaths(env = process.env, arch = process.arch) {
  const folder = path.resolve(env.GPULINT_VSCODE_DIR || path.join(root, '.vscode-lab'));
  const nodeHome = path.join(folder, 'node', 'node_modules', `node-linux-${arch}`);
  return {
    folder,
    nodeHome,
    node: path.join(nodeHome, 'bin', 'node'),
    main: path.join(folder, 'server', 'node_modules', 'code-server', 'lib', 'vscode', 'out', 'server-main.js'),
    stamp: path.join(folder, 'installed.json'),
  };
}

/**
 * The content of the stamp for this project's versions on this machine.
 * @param {string} [platform]
 * @param {string} [arch]
 */
export function stampText(platform = process.platform, arch = process.arch) {
  return `${JSON.stringify({ ...versions, platform, arch }, null, 2)}\n`;
}

/**
 * Whether the stand-in is installed whole, in the versions that this checkout wants.
 * @param {Lab} [lab]
 */
export function isInstalled(lab = labPaths()) {
  try {
    return fs.readFileSync(lab.stamp, 'utf8') === stampText() && fs.existsSync(lab.node) && fs.existsSync(lab.main);
  } catch {
    return false;
  }
}
