// The compiled code that the programs keep between runs: it makes a start faster, and can never make it wrong.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, inject, it } from 'vitest';

const cli = path.join(inject('programs'), 'cli.js');
let home = '';

beforeEach(() => {
  home = fs.mkdtempSync(path.join(os.tmpdir(), 'gpulint-code-'));
});
afterEach(() => fs.rmSync(home, { recursive: true, force: true }));

/** A run of the command line whose user has an empty home. */
function run(
  env: NodeJS.ProcessEnv = {},
  flags: readonly string[] = [],
): { readonly status: number | null; readonly stdout: string; readonly stderr: string } {
  const args = ['check', '-', '--format', 'json'];
  const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, cli, ...args], {
    cwd: home,
    encoding: 'utf8',
    input: 'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: b, image: c:1}]}\n',
    env: {
      PATH: process.env.PATH,
      HOME: home,
      XDG_CACHE_HOME: path.join(home, 'cache'),
      GPULINT_PRICES: 'none',
      ...env,
    },
  });
  return { status, stdout, stderr };
}

function kept(folder = path.join(home, 'cache/gpulint/code')): readonly string[] {
  return fs.existsSync(folder)
    ? fs
        .readdirSync(folder)
        .sort()
        .map((name) => path.join(folder, name))
    : [];
}

/** The code of the command line itself; that of the catalog's data is next to it. */
function keptCommands(): string {
  return kept().find((file) => path.basename(file).startsWith('commands-')) ?? '';
}

it('is kept in the cache of the user, whom alone it belongs to, and read by the next runs', () => {
  const first = run();
  expect(first.status).toBe(0);
  const files = kept();
  expect(files.map((file) => path.basename(file).replace(/[0-9a-f]{16}/, '#'))).toEqual([
    'catalog-#.code',
    'commands-#.code',
  ]);
  expect(files.map((file) => fs.statSync(file).mode & 0o777)).toEqual([0o600, 0o600]);
  // Four runs add what the first ones did not call; from then on the file stays as it is.
  for (let runs = 2; runs <= 4; runs++) expect(run()).toEqual(first);
  const learnt = files.map((file) => fs.statSync(file).mtimeMs);
  expect(run()).toEqual(first);
  expect(files.map((file) => fs.statSync(file).mtimeMs)).toEqual(learnt);
  expect(kept()).toEqual(files);
});

it('still has the code of the start after a long session', () => {
  const collect = path.join(home, 'collect.cjs');
  // V8 drops code after six collections that it starts itself.
  const fill =
    'for (let kept = [], times = 0; times < 300; times++) kept = [...kept.slice(-3), new Array(1e6).fill(0)];';
  fs.writeFileSync(collect, `process.on('exit', () => { ${fill} });`);
  const [short, long] = [[], ['--require', collect]].map((flags, index) => {
    const folder = path.join(home, String(index));
    expect(run({ NODE_COMPILE_CACHE: folder }, flags).status).toBe(0);
    return kept(folder).reduce((sum, file) => sum + fs.statSync(file).size, 0);
  });
  expect(long).toBeGreaterThan(0.98 * (short ?? Number.NaN));
});

it('is made again when it is damaged or cut off', () => {
  const first = run();
  const file = keptCommands();
  const code = fs.readFileSync(file);
  for (const damaged of [code.subarray(0, 1000), Buffer.from(code).fill(7, 5000, 5100), Buffer.alloc(0)]) {
    fs.writeFileSync(file, damaged);
    expect(run()).toEqual(first);
    expect(fs.readFileSync(file).length).toBeGreaterThan(code.length / 2);
    expect(fs.readFileSync(file).equals(damaged)).toBe(false);
  }
});

it('of another version is removed after a month', () => {
  run();
  const [catalog = ''] = kept();
  const file = keptCommands();
  const folder = path.dirname(file);
  const [month, week] = ['0123456789abcdef', 'fedcba9876543210'].map((hash) =>
    path.join(folder, `commands-${hash}.code`),
  );
  const notes = path.join(folder, 'commands-notes.txt');
  const now = Date.now() / 1000;
  for (const [other = '', days] of [
    [month, 31],
    [week, 7],
    [notes, 31],
  ] as const) {
    fs.writeFileSync(other, '');
    fs.utimesSync(other, now, now - days * 86_400);
  }
  run();
  expect(kept()).toEqual([catalog, file, week, notes].sort());
});

it('made with other flags of V8 is another one, and a run that changes them keeps nothing', () => {
  run();
  const files = kept();
  run({}, ['--expose-gc']);
  expect(kept()).toHaveLength(4);
  expect(kept()).toEqual(expect.arrayContaining([...files]));
  const change = path.join(home, 'change.cjs');
  fs.writeFileSync(change, "process.on('exit', () => require('node:v8').setFlagsFromString('--expose-gc'));");
  fs.rmSync(path.join(home, 'cache'), { recursive: true });
  expect(run({}, ['--require', change]).status).toBe(0);
  expect(kept()).toEqual([]);
});

it('is kept where NODE_COMPILE_CACHE says', () => {
  const folder = path.join(home, 'elsewhere');
  expect(run({ NODE_COMPILE_CACHE: folder }).status).toBe(0);
  expect(kept(folder).some((file) => file.endsWith('.code'))).toBe(true);
  expect(kept()).toEqual([]);
});

it('is neither kept nor read if NODE_DISABLE_COMPILE_CACHE is set', () => {
  expect(run({ NODE_DISABLE_COMPILE_CACHE: '1' }).status).toBe(0);
  expect(kept()).toEqual([]);
});

it.skipIf(process.platform === 'win32')('is neither kept nor read where others can write', () => {
  const folder = path.join(home, 'cache/gpulint/code');
  fs.mkdirSync(folder, { recursive: true });
  fs.chmodSync(folder, 0o777);
  expect(run().status).toBe(0);
  expect(kept()).toEqual([]);
});

it('a cache that cannot be written changes nothing', () => {
  fs.writeFileSync(path.join(home, 'cache'), 'a file where the folder would be');
  expect(run()).toMatchObject({ status: 0, stdout: expect.stringContaining('"version"'), stderr: '' });
});
