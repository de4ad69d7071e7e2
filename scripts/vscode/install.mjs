#!/usr/bin/env node
// @ts-check
// Installs the browser stand-in for VS Code into .vscode-lab/: a real VS Code server with its web workbench, and its Node
// version. Only on demand (about 300 MB of downloads, 800 MB on disk), never a dependency of the project.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { isInstalled, labPaths, PlainError, stampText, versions } from './lab.mjs';
import { obstacleHere } from './machine.mjs';

const neededBytes = 1.5e9;

/** Native modules of the server without a prebuilt binary. They are optional: see `compileNative`. */
const nativeModules = ['@vscode/spdlog', '@vscode/native-watchdog'];

/**
 * Installs the stand-in unless it is installed. Each part is built in a separate folder and renamed when it is complete,
 * so an interrupted installation resumes where it stopped.
 * @param {(line: string) => void} [say] Takes progress lines.
 * @returns {Promise<import('./lab.mjs').Lab>}
 * @throws {PlainError} If the installation fails, with one sentence.
 */
export async function installStandIn(say = console.error) {
  const lab = labPaths();
  if (isInstalled(lab)) return lab;
  const obstacle = obstacleHere();
  if (obstacle) throw new PlainError(obstacle);
  try {
    fs.mkdirSync(lab.folder, { recursive: true });
  } catch (error) {
    throw new PlainError(`Cannot create the folder ${lab.folder} (${codeOf(error)}).`);
  }
  const release = await lock(path.join(lab.folder, 'install.lock'), say);
  try {
    // Another process may have finished it while we waited for the lock.
    if (!isInstalled(lab)) await install(lab, say);
  } finally {
    release();
  }
  return lab;
}

/**
 * @param {import('./lab.mjs').Lab} lab
 * @param {(line: string) => void} say
 */
async function install(lab, say) {
  const { bavail, bsize } = fs.statfsSync(lab.folder);
  if (bavail * bsize < neededBytes) {
    throw new PlainError(`VS Code for the browser requires 1.5 GB of free space in ${lab.folder}.`);
  }
  say(`Installing VS Code ${versions.vscode} for the browser into ${lab.folder} (once, about 300 MB to download).`);
  const logFile = path.join(lab.folder, 'install.log');
  fs.writeFileSync(logFile, '');
  await part(lab, 'node', versions.node, async (folder) => {
    say(`  1/4 Node ${versions.node}`);
    await npm(['install', '--ignore-scripts', `node-linux-${process.arch}@${versions.node}`], folder, {}, logFile);
  });
  const env = {
    PATH: `${path.dirname(lab.node)}${path.delimiter}${process.env.PATH}`,
    npm_config_nodedir: lab.nodeHome,
  };
  await part(lab, 'server', versions.codeServer, async (folder) => {
    say(`  2/4 the server (code-server ${versions.codeServer})`);
    await npm(['install', '--ignore-scripts', `code-server@${versions.codeServer}`], folder, env, logFile);
    const vscode = path.join(folder, 'node_modules/code-server/lib/vscode');
    say('  3/4 its modules and built-in extensions');
    await npm(['install', '--omit=dev', '--ignore-scripts'], vscode, env, logFile);
    await npm(['install', '--omit=dev', '--ignore-scripts'], path.join(vscode, 'extensions'), env, logFile);
    say('  4/4 native modules');
    await compileNative(vscode, env, logFile, say);
  });
  fs.writeFileSync(lab.stamp, stampText());
  say('VS Code for the browser is installed.');
}

/**
 * Builds one part next to its final path and renames it when it is complete.
 * @param {import('./lab.mjs').Lab} lab
 * @param {string} name
 * @param {string} version
 * @param {(folder: string) => Promise<void>} build
 */
async function part(lab, name, version, build) {
  const final = path.join(lab.folder, name);
  const mark = path.join(final, 'whole');
  if (fs.existsSync(mark) && fs.readFileSync(mark, 'utf8') === `${version} ${process.arch}`) return;
  const partial = `${final}.partial`;
  for (const folder of [final, partial]) fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(partial, { recursive: true });
  // npm would otherwise look for a package.json in the folders above, and find this project.
  fs.writeFileSync(path.join(partial, 'package.json'), '{"private":true}\n');
  await build(partial);
  fs.writeFileSync(path.join(partial, 'whole'), `${version} ${process.arch}`);
  fs.renameSync(partial, final);
}

/**
 * Compiles the native modules when the machine can. Without the first, VS Code's Output panel stays empty; without the
 * second, an extension host in an endless loop outlives a killed server. Neither is worth failing for.
 * @param {string} vscode
 * @param {Record<string, string>} env
 * @param {string} logFile
 * @param {(line: string) => void} say
 */
async function compileNative(vscode, env, logFile, say) {
  try {
    await npm(['rebuild', '--foreground-scripts', ...nativeModules], vscode, env, logFile);
  } catch (error) {
    if (!(error instanceof PlainError)) throw error;
    say('      not compiled (requires g++, make and python3): the Output panel stays empty, everything else works');
  }
}

/**
 * Runs npm with its output in the log.
 * @param {string[]} args
 * @param {string} cwd
 * @param {Record<string, string>} env
 * @param {string} logFile
 */
async function npm(args, cwd, env, logFile) {
  const log = fs.openSync(logFile, 'a');
  const start = fs.fstatSync(log).size;
  fs.writeSync(log, `\n$ npm ${args.join(' ')}    # in ${cwd}\n`);
  const quiet = { npm_config_audit: 'false', npm_config_fund: 'false', npm_config_update_notifier: 'false' };
  // The caller's npm puts its own settings into the environment (a prefix, a workspace): they are not for this install.
  const inherited = Object.entries(process.env).filter(
    ([key]) => !/^npm_(?!config_(registry|cache|https?_proxy|noproxy|cafile|userconfig|offline))/i.test(key),
  );
  const code = await new Promise((resolve, reject) => {
    const child = spawn('npm', args, {
      cwd,
      env: { ...Object.fromEntries(inherited), ...quiet, ...env },
      stdio: ['ignore', log, log],
    });
    child.once('error', reject);
    child.once('exit', resolve);
  }).catch((error) => codeOf(error));
  fs.closeSync(log);
  if (code === 0) return;
  const output = fs.readFileSync(logFile, 'utf8').slice(start);
  throw new PlainError(explain(code, output, logFile));
}

/**
 * @param {unknown} code
 * @param {string} output
 * @param {string} logFile
 */
function explain(code, output, logFile) {
  if (code === 'ENOENT') return 'Cannot install VS Code for the browser: npm is not on the PATH.';
  if (/ENOSPC/.test(output)) return 'Cannot install VS Code for the browser: the disk is full.';
  if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED|network/.test(output)) {
    return 'Cannot install VS Code for the browser: the npm registry is unreachable (is there a network?).';
  }
  return `Cannot install VS Code for the browser: npm failed; see ${logFile}.`;
}

/**
 * Allows one installation at a time: the lock is a folder with the process id of its creator.
 * @param {string} folder
 * @param {(line: string) => void} say
 * @returns {Promise<() => void>} Releases the lock.
 */
async function lock(folder, say) {
  const holder = path.join(folder, 'pid');
  for (let reported = false; ; ) {
    try {
      fs.mkdirSync(folder);
      fs.writeFileSync(holder, String(process.pid));
      return () => fs.rmSync(folder, { recursive: true, force: true });
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw new PlainError(`Cannot create the folder ${folder} (${codeOf(error)}).`);
    }
    if (!isHeld(folder, holder)) {
      fs.rmSync(folder, { recursive: true, force: true });
      continue;
    }
    if (!reported) say('Waiting for another process that is installing VS Code for the browser.');
    reported = true;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/**
 * @param {string} folder
 * @param {string} holder
 */
function isHeld(folder, holder) {
  try {
    const pid = Number(fs.readFileSync(holder, 'utf8'));
    process.kill(pid, 0);
    return pid !== process.pid;
  } catch (error) {
    if (codeOf(error) === 'EPERM') return true;
    if (codeOf(error) !== 'ENOENT') return false;
    // The holder writes its id just after it creates the folder, so a recent folder without an id is held.
    const made = fs.statSync(folder, { throwIfNoEntry: false });
    return made !== undefined && Date.now() - made.mtimeMs < 5000;
  }
}

/** @param {unknown} error */
function codeOf(error) {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    const lab = await installStandIn();
    console.log(lab.folder);
  } catch (error) {
    if (!(error instanceof PlainError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}
