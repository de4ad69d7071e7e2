// @ts-check
// The decisions of `npm start` and of the tests in VS Code, as pure functions: what to open, what can be installed here.

/**
 * @typedef {object} StartOptions
 * @property {boolean} open False: print the address or the command instead of opening it.
 * @property {boolean} browser True: VS Code in the browser even if desktop VS Code is installed.
 * @property {boolean} build False: use the existing node_modules and dist/.
 * @property {boolean} help
 */

export const startHelp = `Usage: npm start [-- options]

Installs dependencies, builds gpulint and opens it on examples/: in desktop VS Code if it is installed, otherwise in
VS Code in the browser, otherwise as a report in the terminal.

  --browser    use VS Code in the browser even if desktop VS Code is installed
  --no-open    print the address (or the command) instead of opening it
  --no-build   use the existing node_modules and dist/
  --help       print this help`;

/**
 * @param {readonly string[]} args
 * @returns {{ value: StartOptions } | { problem: string }}
 */
export function parseStartArguments(args) {
  const value = { open: true, browser: false, build: true, help: false };
  for (const arg of args) {
    if (arg === '--no-open') value.open = false;
    else if (arg === '--browser') value.browser = true;
    else if (arg === '--no-build') value.build = false;
    else if (arg === '--help' || arg === '-h') value.help = true;
    else
      return { problem: `npm start: unknown option ${JSON.stringify(arg)}; "npm start -- --help" lists the options.` };
  }
  return { value };
}

/**
 * Why the browser stand-in is not available on this machine, in one sentence; undefined if it is.
 * @param {{ platform: string, arch: string, glibc: boolean }} machine
 * @returns {string | undefined}
 */
export function standInObstacle({ platform, arch, glibc }) {
  if (platform !== 'linux')
    return 'VS Code in the browser requires Linux; install desktop VS Code (https://code.visualstudio.com).';
  if (arch !== 'x64' && arch !== 'arm64')
    return `VS Code in the browser requires x64 or arm64; this machine is ${arch}.`;
  if (!glibc) return 'VS Code in the browser requires glibc; this Linux has musl.';
  return undefined;
}

/**
 * @typedef {object} Environment
 * @property {string} platform As in process.platform.
 * @property {NodeJS.ProcessEnv} env
 * @property {boolean} browserOnly Whether the user requested the browser.
 * @property {string | undefined} desktop The command-line executable of desktop VS Code, if there is a working one.
 * @property {string | undefined} obstacle Why the browser stand-in is not available; undefined if it is.
 */

/**
 * @typedef {{ kind: 'desktop', executable: string } | { kind: 'browser' } | { kind: 'report', reason: string }} Choice
 */

/**
 * Where to show the extension.
 * @param {Environment} environment
 * @returns {Choice}
 */
export function chooseEditor({ platform, env, browserOnly, desktop, obstacle }) {
  if (desktop && !browserOnly && hasDisplay(platform, env)) return { kind: 'desktop', executable: desktop };
  if (obstacle === undefined) return { kind: 'browser' };
  return { kind: 'report', reason: browserOnly ? obstacle : `No desktop VS Code was found. ${obstacle}` };
}

/**
 * Whether a window can appear: on Linux only with a display, unless `code` reaches the window on the other side
 * (WSL, or a terminal inside VS Code).
 * @param {string} platform
 * @param {NodeJS.ProcessEnv} env
 */
export function hasDisplay(platform, env) {
  if (platform !== 'linux') return true;
  return Boolean(env.DISPLAY || env.WAYLAND_DISPLAY || env.WSL_DISTRO_NAME || env.VSCODE_IPC_HOOK_CLI);
}

/**
 * Where the command-line executable of desktop VS Code may be, most likely paths first.
 * @param {{ platform: string, env: NodeJS.ProcessEnv, home: string, delimiter: string }} machine
 * @returns {string[]}
 */
export function desktopPlaces({ platform, env, home, delimiter }) {
  const names = ['code', 'code-insiders', 'codium', 'cursor'];
  const windows = platform === 'win32';
  const separator = windows ? '\\' : '/';
  const onPath = (env.PATH ?? env.Path ?? '').split(delimiter).filter(Boolean);
  const found = names.flatMap((name) => onPath.map((folder) => `${folder}${separator}${name}${windows ? '.cmd' : ''}`));
  return [...found, ...standardPlaces(platform, env, home)];
}

/**
 * @param {string} platform
 * @param {NodeJS.ProcessEnv} env
 * @param {string} home
 * @returns {string[]}
 */
function standardPlaces(platform, env, home) {
  if (platform === 'darwin') {
    const apps = [
      ['Visual Studio Code', 'code'],
      ['Visual Studio Code - Insiders', 'code-insiders'],
      ['VSCodium', 'codium'],
      ['Cursor', 'cursor'],
    ];
    return apps.flatMap(([app, name]) =>
      ['/Applications', `${home}/Applications`].map(
        (folder) => `${folder}/${app}.app/Contents/Resources/app/bin/${name}`,
      ),
    );
  }
  if (platform === 'win32') {
    const local = env.LOCALAPPDATA ?? `${home}\\AppData\\Local`;
    const roots = [`${local}\\Programs`, env.ProgramFiles ?? 'C:\\Program Files'];
    const paths = [
      'Microsoft VS Code\\bin\\code.cmd',
      'Microsoft VS Code Insiders\\bin\\code-insiders.cmd',
      'VSCodium\\bin\\codium.cmd',
      'cursor\\resources\\app\\bin\\cursor.cmd',
    ];
    return paths.flatMap((place) => roots.map((folder) => `${folder}\\${place}`));
  }
  const linux = [
    '/usr/bin/code',
    '/usr/share/code/bin/code',
    '/snap/bin/code',
    '/var/lib/flatpak/exports/bin/com.visualstudio.code',
    '/usr/bin/codium',
    '/snap/bin/codium',
  ];
  return env.WSL_DISTRO_NAME ? ['/mnt/c/Program Files/Microsoft VS Code/bin/code', ...linux] : linux;
}

/**
 * Whether VS Code's `--version` output names a version that the extension's `engines.vscode` accepts. Forks may number
 * their releases differently, so unreadable versions are accepted.
 * @param {string} output
 * @param {string} range Such as "^1.91.0".
 */
export function isFitVersion(output, range) {
  const has = /^(\d+)\.(\d+)\.\d+/m.exec(output);
  const wants = /(\d+)\.(\d+)/.exec(range);
  if (!has || !wants) return true;
  const [hasMajor = 0, hasMinor = 0] = has.slice(1).map(Number);
  const [major = 0, minor = 0] = wants.slice(1).map(Number);
  return hasMajor > major || (hasMajor === major && hasMinor >= minor);
}

/**
 * @typedef {{ packages?: Record<string, { version?: string, optional?: boolean }> }} LockFile
 */

/**
 * Whether node_modules matches package-lock.json. Optional packages may be missing: they are for other
 * systems.
 * @param {LockFile} wanted package-lock.json
 * @param {LockFile} installed node_modules/.package-lock.json, which npm writes last
 */
export function isUpToDate(wanted, installed) {
  const want = wanted.packages ?? {};
  const have = installed.packages ?? {};
  for (const [name, { version, optional }] of Object.entries(want)) {
    if (name === '') continue;
    const found = have[name];
    if (found ? found.version !== version : !optional) return false;
  }
  return Object.keys(have).every((name) => name in want);
}

/**
 * The VS Code in which the tests run. `skip` has the sentence to print.
 * @param {{ platform: string, env: NodeJS.ProcessEnv, chromium: string | undefined, obstacle: string | undefined }} environment
 * @returns {{ kind: 'stand-in' } | { kind: 'desktop' } | { kind: 'skip', reason: string }}
 */
export function chooseTestEditor({ platform, env, chromium, obstacle }) {
  if (env.GPULINT_VSCODE_DESKTOP === '1') return { kind: 'desktop' };
  if (chromium && obstacle === undefined) return { kind: 'stand-in' };
  if (hasDisplay(platform, env)) return { kind: 'desktop' };
  return {
    kind: 'skip',
    reason: 'Skipped the tests in VS Code: no Chromium or Chrome (install one, or set CHROMIUM to its path).',
  };
}
