// @ts-check
// The stand-in for desktop VS Code's executable: understands the arguments that @vscode/test-electron passes, runs
// the test runner they name in the extension host of VS Code's server, and exits with its result.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { format, parseArgs } from 'node:util';
import { launchWorkbench, testSettings } from './launch.mjs';

const { values, positionals } = parseArgs({ strict: false, allowPositionals: true });
const minutes = 5;

/** Lines of the workbench's own console that tell nothing about the tests. */
const noise =
  /open-vsx|ServiceWorker|authentication provider|connection token|Creating a socket|grace time|AgentHost|AccountPolicyGate|extensions cache|ChatSessionStore|Extension host with pid|^%c/;

const workbench = await launchWorkbench({
  settings: { ...testSettings, ...userSettings() },
  // Without this switch VS Code ignores the payload below without a word.
  args: ['--enable-smoke-test-driver', '--disable-workspace-trust'],
});
try {
  process.exitCode = await runTests();
} finally {
  await workbench.stop();
}

/** @returns {Promise<number>} */
async function runTests() {
  const { page, server, open } = workbench;
  /** @type {(code: number) => void} */
  let finish = () => undefined;
  /** @type {Promise<number>} */
  const result = new Promise((resolve) => {
    finish = resolve;
  });
  await page.exposeFunction('codeAutomationLog', (/** @type {string} */ type, /** @type {unknown[]} */ args) => {
    const line = format(...args);
    if ((type === 'info' || type === 'error') && !noise.test(line)) console.log(line);
  });
  await page.exposeFunction('codeAutomationExit', (/** @type {number} */ code) => finish(code));
  page.once('crash', () => {
    console.error('The browser crashed.');
    finish(70);
  });
  const timer = setTimeout(() => {
    console.error(`No result within ${minutes} minutes.`);
    finish(71);
  }, minutes * 60_000);
  const remote = (/** @type {unknown} */ file) => `vscode-remote://${server.authority}${absolute(String(file))}`;
  const folder = positionals[0] === undefined ? undefined : absolute(positionals[0]);
  await open(folder ?? '', [
    ['extensionDevelopmentPath', remote(values.extensionDevelopmentPath)],
    ['extensionTestsPath', remote(values.extensionTestsPath)],
    ['skipWelcome', 'true'],
  ]);
  const code = await result;
  clearTimeout(timer);
  return code;
}

/** @param {string} file */
function absolute(file) {
  return file.startsWith('file:') ? fileURLToPath(file) : path.resolve(file);
}

/** Settings that a test puts into its profile the usual way. */
function userSettings() {
  const file = path.join(String(values['user-data-dir'] ?? ''), 'User', 'settings.json');
  return fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : {};
}
