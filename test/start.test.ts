import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import {
  chooseEditor,
  chooseTestEditor,
  desktopPlaces,
  isFitVersion,
  isUpToDate,
  parseStartArguments,
  standInObstacle,
} from '../scripts/vscode/choose.mjs';
import { isInstalled, root } from '../scripts/vscode/lab.mjs';
import { descendants } from '../scripts/vscode/server.mjs';

const start = path.join(root, 'scripts/start.mjs');

describe('npm start decides', () => {
  const linux = {
    platform: 'linux',
    env: { DISPLAY: ':0' },
    browserOnly: false,
    desktop: '/usr/bin/code',
    obstacle: undefined,
  };

  it('for the desktop where one is found and a window can appear', () => {
    expect(chooseEditor(linux)).toEqual({ kind: 'desktop', executable: '/usr/bin/code' });
    expect(chooseEditor({ ...linux, env: { WSL_DISTRO_NAME: 'Debian' } }).kind).toBe('desktop');
    expect(chooseEditor({ ...linux, platform: 'darwin', env: {}, obstacle: 'no' }).kind).toBe('desktop');
  });

  it('for the browser without a desktop, without a display, and when asked', () => {
    expect(chooseEditor({ ...linux, desktop: undefined })).toEqual({ kind: 'browser' });
    expect(chooseEditor({ ...linux, env: {} })).toEqual({ kind: 'browser' });
    expect(chooseEditor({ ...linux, browserOnly: true })).toEqual({ kind: 'browser' });
  });

  it('for the report where neither can be had, with the reason', () => {
    const obstacle = standInObstacle({ platform: 'darwin', arch: 'arm64', glibc: false });
    const choice = chooseEditor({ platform: 'darwin', env: {}, browserOnly: false, desktop: undefined, obstacle });
    expect(choice).toMatchObject({ kind: 'report', reason: expect.stringContaining('No desktop VS Code was found') });
  });

  it('where the browser stand-in runs', () => {
    expect(standInObstacle({ platform: 'linux', arch: 'x64', glibc: true })).toBeUndefined();
    expect(standInObstacle({ platform: 'linux', arch: 'arm64', glibc: true })).toBeUndefined();
    expect(standInObstacle({ platform: 'linux', arch: 'x64', glibc: false })).toContain('musl');
    expect(standInObstacle({ platform: 'linux', arch: 'riscv64', glibc: true })).toContain('riscv64');
    expect(standInObstacle({ platform: 'win32', arch: 'x64', glibc: false })).toContain('Linux');
  });

  it('where to look for a desktop: the PATH first, by preference of editor', () => {
    const places = desktopPlaces({ platform: 'linux', env: { PATH: '/a:/b' }, home: '/home/u', delimiter: ':' });
    expect(places.slice(0, 4)).toEqual(['/a/code', '/b/code', '/a/code-insiders', '/b/code-insiders']);
    const windows = { platform: 'win32', env: { Path: 'C:\\bin' }, home: 'C:\\Users\\u', delimiter: ';' };
    expect(desktopPlaces(windows)).toContain('C:\\bin\\code.cmd');
    expect(desktopPlaces(windows)).toContain(
      'C:\\Users\\u\\AppData\\Local\\Programs\\Microsoft VS Code\\bin\\code.cmd',
    );
  });

  it('which versions of VS Code will do', () => {
    expect(isFitVersion('1.139.1\nabc\nx64\n', '^1.91.0')).toBe(true);
    expect(isFitVersion('1.90.2\nabc\nx64\n', '^1.91.0')).toBe(false);
    expect(isFitVersion('what is this', '^1.91.0')).toBe(true);
  });

  it('whether npm ci is needed', () => {
    const wanted = { packages: { '': {}, a: { version: '1' }, b: { version: '2', optional: true } } };
    expect(isUpToDate(wanted, { packages: { a: { version: '1' } } })).toBe(true);
    expect(isUpToDate(wanted, { packages: { a: { version: '1' }, b: { version: '2' } } })).toBe(true);
    expect(isUpToDate(wanted, { packages: { a: { version: '0' } } })).toBe(false);
    expect(isUpToDate(wanted, { packages: {} })).toBe(false);
    expect(isUpToDate(wanted, { packages: { a: { version: '1' }, gone: { version: '1' } } })).toBe(false);
  });

  it('in which VS Code the tests run', () => {
    const fresh = { platform: 'linux', env: {}, chromium: '/usr/bin/chromium', obstacle: undefined };
    expect(chooseTestEditor(fresh)).toEqual({ kind: 'stand-in' });
    expect(chooseTestEditor({ ...fresh, env: { GPULINT_VSCODE_DESKTOP: '1' } })).toEqual({ kind: 'desktop' });
    expect(chooseTestEditor({ ...fresh, chromium: undefined }).kind).toBe('skip');
    expect(chooseTestEditor({ ...fresh, chromium: undefined, env: { DISPLAY: ':0' } })).toEqual({ kind: 'desktop' });
    expect(chooseTestEditor({ ...fresh, platform: 'darwin', obstacle: 'macOS' })).toEqual({ kind: 'desktop' });
  });
});

describe('npm start', () => {
  it('answers a wrong flag with one sentence and status 2', () => {
    expect(parseStartArguments(['--no-open', '--browser'])).toMatchObject({ value: { open: false, browser: true } });
    const { status, stderr } = spawnSync(process.execPath, [start, '--nope'], { encoding: 'utf8' });
    expect(status).toBe(2);
    expect(stderr).toBe('npm start: unknown option "--nope"; "npm start -- --help" lists the options.\n');
  });

  it('explains its options', () => {
    const { status, stdout } = spawnSync(process.execPath, [start, '--help'], { encoding: 'utf8' });
    expect(status).toBe(0);
    expect(stdout).toContain('--browser');
  });

  let child: ChildProcess | undefined;
  afterEach(() => {
    child?.kill('SIGKILL');
  });

  // It needs the stand-in, which npm test, npm run test:vscode and npm start install.
  it.skipIf(!isInstalled() && process.env.GPULINT_REQUIRE_VSCODE !== '1')(
    'serves VS Code to the holder of the token only, and leaves nothing behind',
    async () => {
      child = spawn(process.execPath, [start, '--no-open', '--browser', '--no-build'], {
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const { pid } = child;
      const address = await new Promise<string>((resolve, reject) => {
        let output = '';
        const read = (chunk: Buffer) => {
          output += chunk.toString();
          const found = /http:\/\/127\.0\.0\.1:\d+\/\S+/.exec(output);
          if (found) resolve(found[0]);
        };
        child?.stdout?.on('data', read);
        child?.stderr?.on('data', read);
        child?.once('exit', () => reject(new Error(output)));
      });
      const url = new URL(address);
      expect(url.searchParams.get('folder')).toBe(path.join(root, 'examples'));
      expect(url.searchParams.get('tkn')).toMatch(/^[0-9a-f]{48}$/);

      const entered = await fetch(url, { redirect: 'manual' });
      expect(entered.status).toBe(302);
      const cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? '';
      const inside = await fetch(new URL(entered.headers.get('location') ?? '', url), { headers: { cookie } });
      expect(inside.status).toBe(200);
      expect(await inside.text()).toContain('workbench');

      const stranger = new URL(url);
      stranger.searchParams.delete('tkn');
      expect((await fetch(stranger, { redirect: 'manual' })).status).toBe(403);
      stranger.searchParams.set('tkn', '0'.repeat(48));
      expect((await fetch(stranger, { redirect: 'manual' })).status).toBe(403);

      const family = descendants(pid ?? 0);
      expect(family.length).toBeGreaterThan(0);
      const status = await new Promise((resolve) => {
        child?.once('exit', resolve);
        child?.kill('SIGINT');
      });
      expect(status).toBe(0);
      for (const one of family) expect(() => process.kill(one.pid, 0)).toThrow();
    },
    90_000,
  );
});
