// @ts-check
// The decisions of `npm start` and of the tests in VS Code, as pure functions: what to open, what can be installed here.

/**
 * @typedef {object} StartOptions
 * @property {boolean} open False: print the address or the command instead of opening it.
 * @property {boolean} browser True: VS Code in the browser even where the desktop one is installed.
 * @property {boolean} build False: take node_modules and dist/ as they are.
 * @property {boolean} help
 */

export const startHelp = `Usage: npm start [-- options]

Installs what is missing, builds gpulint and opens it on examples/: in the desktop VS Code when one is found, else in
VS Code in the browser, else as a report in the terminal.

  --browser    VS Code in the browser, even where the desktop one is installed
  --no-open    print the address (or the command) instead of opening it
  --no-build   use node_modules and dist/ as they are
  --help       this text`;

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
    else return { problem: `npm start does not know ${JSON.stringify(arg)}; "npm start -- --help" lists its options.` };
  }
  return { value };
}

/**
 * Why the browser stand-in cannot be had on this machine, in one sentence; undefined where it can.
 * @param {{ platform: string, arch: string, glibc: boolean }} machine
 * @returns {string | undefined}
 */
export function standInObstacle({ platform, arch, glibc }) {
  if (platform !== 'linux')
    return 'VS Code in the browser is for Linux: install desktop VS Code (https://code.visualstudio.com).';
  if (arch !== 'x64' && arch !== 'arm64')
    return `VS Code in the browser runs on x64 and arm64, and this machine is ${arch}.`;
  if (!glibc) return 'VS Code in the browser needs a Linux with glibc, and this one has musl.';
  return undefined;
}

/**
 * @typedef {object} Surroundings
 * @property {string} platform As in process.platform.
 * @property {NodeJS.ProcessEnv} env
 * @property {boolean} browserOnly The user asked for the browser.
 * @property {string | undefined} desktop A desktop VS Code's command-line executable, when one works.
 * @property {string | undefined} obstacle Why the browser stand-in cannot be had; undefined where it can.
 */

/**
 * @typedef {{ kind: 'desktop', executable: string } | { kind: 'browser' } | { kind: 'report', reason: string }} Choice
 */

/**
 * Where to show the extension.
 * @param {Surroundings} surroundings
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
 * The places where a desktop VS Code's command-line executable may be, the likeliest first.
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
 * Whether VS Code's `--version` output names a version that the extension's `engines.vscode` accepts. A fork may
 * number its releases otherwise, so what cannot be read is taken as fit.
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
 * Whether node_modules holds what package-lock.json asks for. Optional packages may be absent: they are for other
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
 * In which VS Code the tests run. `skip` carries the sentence that says what is left out.
 * @param {{ platform: string, env: NodeJS.ProcessEnv, chromium: string | undefined, obstacle: string | undefined }} surroundings
 * @returns {{ kind: 'stand-in' } | { kind: 'desktop' } | { kind: 'skip', reason: string }}
 */
export function chooseTestEditor({ platform, env, chromium, obstacle }) {
  if (env.GPULINT_VSCODE_DESKTOP === '1') return { kind: 'desktop' };
  if (chromium && obstacle === undefined) return { kind: 'stand-in' };
  if (hasDisplay(platform, env)) return { kind: 'desktop' };
  return {
    kind: 'skip',
    reason: 'The tests in VS Code are skipped: no Chromium or Chrome was found (install one, or name it in CHROMIUM).',
  };
}
