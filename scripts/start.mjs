#!/usr/bin/env node
// @ts-check
// `npm start`: from a fresh clone to the extension running on examples/. Until it has run `npm ci`, only Node is available, so this file and its
// imports use nothing else.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { ensureDependencies } from './dependencies.mjs';
import { runStep } from './run-step.mjs';
import { chooseEditor, hasDisplay, parseStartArguments, startHelp } from './vscode/choose.mjs';
import { findDesktop, openInBrowser, runDesktop } from './vscode/desktop.mjs';
import { installStandIn } from './vscode/install.mjs';
import { PlainError, root } from './vscode/lab.mjs';
import { obstacleHere } from './vscode/machine.mjs';
import {
  installExtension,
  onSignal,
  quietSettings,
  startServer,
  workbenchUrl,
  writeSettings,
} from './vscode/server.mjs';

const examples = path.join(root, 'examples');
const example = path.join(examples, 'serving/llama-isvc.yaml');

try {
  await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof PlainError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}

/** @param {string[]} args */
async function main(args) {
  const parsed = parseStartArguments(args);
  if ('problem' in parsed) {
    console.error(parsed.problem);
    process.exitCode = 2;
    return;
  }
  const options = parsed.value;
  if (options.help) {
    console.log(startHelp);
    return;
  }
  if (Number(process.versions.node.split('.')[0]) < 20) {
    throw new PlainError(`gpulint requires Node 20 or newer; this is Node ${process.versions.node}.`);
  }
  if (options.build) {
    ensureDependencies();
    runStep('Building', 'npm', ['run', '--silent', 'build']);
  }
  const environment = {
    platform: process.platform,
    env: process.env,
    browserOnly: options.browser,
    desktop: options.browser || !hasDisplay(process.platform, process.env) ? undefined : findDesktop(enginesRange()),
    obstacle: obstacleHere(),
  };
  let choice = chooseEditor(environment);
  if (choice.kind === 'desktop') {
    const problem = openDesktop(choice.executable, options.open);
    if (problem === undefined) return;
    console.log(problem);
    choice = chooseEditor({ ...environment, desktop: undefined, browserOnly: true });
  }
  if (choice.kind === 'report') report(choice.reason);
  else await serveBrowser(options.open);
}

function enginesRange() {
  return JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')).engines.vscode;
}

/**
 * @param {string} executable
 * @param {boolean} open
 * @returns {string | undefined} Why no window opened.
 */
function openDesktop(executable, open) {
  const args = ['--new-window', `--extensionDevelopmentPath=${root}`, examples, example];
  if (!open) {
    console.log([executable, ...args].map((part) => JSON.stringify(part)).join(' '));
    return undefined;
  }
  const { status, stderr, error } = runDesktop(executable, args);
  if (status !== 0) {
    return `${executable} did not open a window (${error?.message || stderr?.trim().split('\n')[0] || `exit status ${status}`}).`;
  }
  console.log('VS Code opens a new window with gpulint on examples/ and serving/llama-isvc.yaml.');
  return undefined;
}

/** @param {boolean} open */
async function serveBrowser(open) {
  let lab;
  try {
    lab = await installStandIn(console.log);
  } catch (error) {
    if (!(error instanceof PlainError)) throw error;
    report(error.message);
    return;
  }
  const dataFolder = path.join(lab.folder, 'data');
  const vsix = path.join(lab.folder, 'gpulint.vsix');
  runStep('Packaging the extension', process.execPath, [
    path.join(root, 'node_modules/@vscode/vsce/vsce'),
    ...['package', '--no-dependencies', '--allow-missing-repository', '--out', vsix],
  ]);
  writeSettings(dataFolder, quietSettings);
  installExtension(lab, dataFolder, vsix);
  const server = await startServer(lab, { dataFolder });
  /** @type {Promise<string>} */
  const signal = new Promise((resolve) => {
    onSignal(resolve);
  });
  /** @type {readonly (readonly [string, string])[]} */
  const payload = [['openFile', `vscode-remote://${server.authority}${example}`]];
  const url = workbenchUrl(server, { folder: examples, payload });
  console.log(`\nVS Code with gpulint on examples/ and serving/llama-isvc.yaml (Ctrl+C stops it):\n\n  ${url}\n`);
  if (process.env.SSH_CONNECTION) {
    console.log(`From another machine, first run: ssh -L ${server.port}:127.0.0.1:${server.port} <this machine>\n`);
  }
  if (open && canShow()) openInBrowser(url);
  const end = await Promise.race([signal, server.ended]);
  await server.stop();
  if (typeof end === 'string') console.log('Stopped.');
  else throw new PlainError(`VS Code's server stopped unexpectedly: ${server.output().trim().split('\n').at(-1)}`);
}

/** Without a display, xdg-open would start a browser inside the terminal. */
function canShow() {
  return (
    process.platform !== 'linux' ||
    Boolean(process.env.DISPLAY || process.env.WAYLAND_DISPLAY || process.env.WSL_DISTRO_NAME)
  );
}

/**
 * Prints the report in the terminal, if VS Code is not available.
 * @param {string} reason
 */
function report(reason) {
  console.log(`${reason}\nThis is the report of examples/ instead (node dist/cli.js check examples):\n`);
  const { status, error } = spawnSync(process.execPath, ['dist/cli.js', 'check', 'examples'], {
    cwd: root,
    stdio: 'inherit',
  });
  // Status 1 means that there are findings, which is the purpose of the examples.
  if (error || status === null || status > 1) throw new PlainError('The report of examples/ failed.');
}
