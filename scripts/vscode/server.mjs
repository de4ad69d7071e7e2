// @ts-check
// Runs the stand-in's VS Code server: settings, extension, start, clean stop. Plain Node, no dependency.
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { PlainError } from './lab.mjs';

/** What keeps a workbench quiet: nothing is fetched, nothing is suggested. */
export const quietSettings = Object.freeze({
  'telemetry.telemetryLevel': 'off',
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'extensions.ignoreRecommendations': true,
  'update.mode': 'none',
  'workbench.enableExperiments': false,
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'chat.disableAIFeatures': true,
});

/**
 * Writes the user settings of a server unless they are there: a user may have changed them.
 * @param {string} dataFolder
 * @param {Record<string, unknown>} settings
 */
export function writeSettings(dataFolder, settings) {
  const file = path.join(dataFolder, 'data', 'User', 'settings.json');
  if (fs.existsSync(file)) return;
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, `${JSON.stringify(settings, null, 2)}\n`);
}

/**
 * Installs a packaged extension into the server's data folder, in place of an earlier one.
 * @param {import('./lab.mjs').Lab} lab
 * @param {string} dataFolder
 * @param {string} vsix
 */
export function installExtension(lab, dataFolder, vsix) {
  const args = [lab.main, '--server-data-dir', dataFolder, '--install-extension', vsix, '--force'];
  const { status, stdout, stderr } = spawnSync(lab.node, args, {
    encoding: 'utf8',
    env: serverEnvironment(process.env),
  });
  if (status !== 0) throw new PlainError(`VS Code did not install ${vsix}: ${(stderr || stdout).trim()}`);
}

/**
 * @typedef {object} RunningServer
 * @property {number} port
 * @property {string} token
 * @property {string} authority Host and port, as in vscode-remote://<authority>/path.
 * @property {() => string} output What the server has written so far.
 * @property {Promise<number | null>} ended
 * @property {() => Promise<void>} stop Ends the server and all that it started.
 */

/**
 * Starts the server on 127.0.0.1 with a random port and a random connection token: it offers a terminal, so nobody
 * else on the machine may reach it.
 * @param {import('./lab.mjs').Lab} lab
 * @param {{ dataFolder: string, args?: readonly string[], env?: NodeJS.ProcessEnv }} options
 * @returns {Promise<RunningServer>}
 */
export async function startServer(lab, { dataFolder, args = [], env = process.env }) {
  fs.mkdirSync(dataFolder, { recursive: true });
  const token = randomBytes(24).toString('hex');
  // In a file and not on the command line, which every user of the machine can read.
  const tokenFile = path.join(dataFolder, 'connection-token');
  fs.rmSync(tokenFile, { force: true });
  fs.writeFileSync(tokenFile, token, { mode: 0o600 });
  const child = spawn(
    lab.node,
    [
      lab.main,
      ...['--host', '127.0.0.1', '--port', '0', '--connection-token-file', tokenFile],
      ...['--server-data-dir', dataFolder, '--telemetry-level', 'off', '--accept-server-license-terms'],
      ...args,
    ],
    // A process group of its own: Ctrl+C in the terminal reaches us alone, and we end it in order.
    { stdio: ['ignore', 'pipe', 'pipe'], detached: true, env: serverEnvironment(env) },
  );
  let output = '';
  const ended = new Promise((resolve) => child.once('close', resolve));
  const stop = async () => {
    const family = child.pid === undefined ? [] : descendants(child.pid);
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
    await Promise.race([ended, after(3000)]);
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    // Extension hosts and language servers notice the server's end only after seconds.
    for (const { pid, born } of family) if (statOf(pid)?.born === born) kill(pid);
    child.stdout.destroy();
    child.stderr.destroy();
    await ended;
  };
  const forget = onSignal(() => stop().finally(() => process.exit(130)));
  const port = await new Promise((resolve, reject) => {
    const fail = (/** @type {string} */ why) => reject(new PlainError(`VS Code's server did not start: ${why}`));
    const timer = setTimeout(() => fail(`no answer in 60 seconds. ${output}`), 60_000);
    child.once('error', (error) => fail(error.message));
    child.once('close', () => fail(output.trim().split('\n').slice(-3).join(' ')));
    const read = (/** @type {Buffer} */ chunk) => {
      output += chunk;
      const listening = /agent listening on (\d+)/.exec(output);
      if (!listening) return;
      clearTimeout(timer);
      resolve(Number(listening[1]));
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
  })
    .catch(async (error) => {
      await stop();
      throw error;
    })
    .finally(forget);
  return { port, token, authority: `127.0.0.1:${port}`, output: () => output, ended, stop };
}

/**
 * The workbench's address.
 * @param {RunningServer} server
 * @param {{ folder?: string, payload?: readonly (readonly [string, string])[] }} [what]
 */
export function workbenchUrl(server, { folder, payload } = {}) {
  const url = new URL(`http://${server.authority}/`);
  if (folder) url.searchParams.set(folder.endsWith('.code-workspace') ? 'workspace' : 'folder', folder);
  else url.searchParams.set('ew', 'true');
  if (payload) url.searchParams.set('payload', JSON.stringify(payload));
  url.searchParams.set('tkn', server.token);
  return url.href;
}

/**
 * Calls back when the user or the system wants this process to end. The server is in a process group of its own, so
 * from its start on somebody must always be listening.
 * @param {(signal: NodeJS.Signals) => void} listener
 * @returns {() => void} Ends the listening.
 */
export function onSignal(listener) {
  /** @type {NodeJS.Signals[]} */
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of signals) process.on(signal, listener);
  return () => {
    for (const signal of signals) process.off(signal, listener);
  };
}

/**
 * Variables of a VS Code around us would lead the server to that one's sockets.
 * @param {NodeJS.ProcessEnv} env
 */
function serverEnvironment(env) {
  return Object.fromEntries(Object.entries(env).filter(([key]) => !/^(VSCODE_|ELECTRON_)/.test(key)));
}

/**
 * All processes below one, from /proc: `ps` is not on every machine. `born` guards against a reused process id.
 * @param {number} root
 * @returns {{ pid: number, born: string }[]}
 */
export function descendants(root) {
  const all = processIds().flatMap((pid) => {
    const stat = statOf(pid);
    return stat ? [{ pid, ...stat }] : [];
  });
  /** @type {(parent: number) => { pid: number, born: string }[]} */
  const below = (parent) =>
    all.filter((one) => one.parent === parent).flatMap((one) => [{ pid: one.pid, born: one.born }, ...below(one.pid)]);
  return below(root);
}

function processIds() {
  try {
    return fs
      .readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

/**
 * @param {number} pid
 * @returns {{ parent: number, born: string } | undefined}
 */
function statOf(pid) {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command's name stands in parentheses and may hold spaces; after it come state, parent, ..., start time.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { parent: Number(fields[1]), born: fields[19] ?? '' };
  } catch {
    return undefined;
  }
}

/** @param {number} pid */
function kill(pid) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

/** @param {number} milliseconds */
function after(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds).unref());
}
