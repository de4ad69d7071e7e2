import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { readNamed, readRegular } from '../../server/src/cli/read-file.ts';
import type { Report } from '../../server/src/cli/reports/report-schema.ts';
import { podText } from './ci-project.ts';
import { runCli, temporaryFolder } from './run-cli.ts';

const hasMkfifo = spawnSync('mkfifo', ['--version']).error === undefined;

/** A repository, and a folder next to it that must not be read. */
function repository(files: Readonly<Record<string, string>>): { readonly cwd: string; readonly outside: string } {
  const folder = temporaryFolder();
  const [cwd, outside] = [path.join(folder, 'repository'), path.join(folder, 'outside')];
  mkdirSync(path.join(cwd, '.git'), { recursive: true });
  mkdirSync(outside);
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(cwd, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  return { cwd, outside };
}

function pipe(folder: string, name: string): string {
  const file = path.join(folder, name);
  spawnSync('mkfifo', [file]);
  return file;
}

const leftOut = 'a symbolic link that leads outside the project; name it explicitly to check its target';

describe('a link outside the project', () => {
  test('is skipped and reported, unless the config ignores it', async () => {
    const { cwd, outside } = repository({
      'pod.yaml': podText(),
      '.gpulint.yaml': 'ignore: [ignored*]\n',
      'sub/a.yaml': 'a: 1\n',
    });
    writeFileSync(path.join(outside, 'secret.yaml'), podText({ name: 'secret' }));
    writeFileSync(path.join(outside, 'readme.txt'), '');
    for (const name of ['link.yaml', 'ignored.yaml', 'deep.json']) {
      symlinkSync('../outside/secret.yaml', path.join(cwd, name));
    }
    for (const name of ['linked', 'ignored', 'node_modules']) symlinkSync(outside, path.join(cwd, name));
    symlinkSync('../outside/readme.txt', path.join(cwd, 'readme.txt'));
    symlinkSync('sub', path.join(cwd, 'within'));
    symlinkSync('sub/a.yaml', path.join(cwd, 'within.yaml'));
    symlinkSync('../outside/nothing.yaml', path.join(cwd, 'broken.yaml'));
    // Nobody misses what is not a manifest, or a lock of Emacs.
    symlinkSync('nothing.txt', path.join(cwd, 'broken.txt'));
    symlinkSync('user@host.1234', path.join(cwd, '.#pod.yaml'));
    const { stdout, stderr, status } = await runCli(['check', '--format', 'json', '.'], { cwd });
    expect(stderr).toBe(`gpulint: linked is skipped: ${leftOut}\n`);
    expect(status).toBe(1);
    const { files } = JSON.parse(stdout) as Report;
    expect(files.map(({ path: name, problem }) => [name, problem])).toEqual([
      ['broken.yaml', 'a symbolic link whose target does not exist'],
      ['deep.json', leftOut],
      ['link.yaml', leftOut],
      ['pod.yaml', null],
      ['sub/a.yaml', null],
    ]);
    expect(stdout).not.toContain('secret');
  });

  test('is read if it is named: a file, a folder', async () => {
    const { cwd, outside } = repository({});
    writeFileSync(path.join(outside, 'pod.yaml'), podText());
    symlinkSync(outside, path.join(cwd, 'linked'));
    symlinkSync('../outside/pod.yaml', path.join(cwd, 'link.yaml'));
    for (const given of ['link.yaml', 'linked', 'linked/pod.yaml', '../outside']) {
      const { stderr, status } = await runCli(['check', given], { cwd });
      expect({ given, stderr, status }).toEqual({ given, stderr: '', status: 1 });
    }
  });

  test('to a config is not read, and the config above still applies', async () => {
    const { cwd, outside } = repository({ '.gpulint.yaml': 'gpu: l4\n', 'team/pod.yaml': podText() });
    writeFileSync(path.join(outside, 'config.yaml'), 'gpu: b200\n');
    symlinkSync('../../outside/config.yaml', path.join(cwd, 'team/.gpulint.yaml'));
    const { stdout, stderr } = await runCli(['check', '.'], { cwd });
    expect(stderr).toBe(
      'gpulint: team/.gpulint.yaml is ignored: it is outside the project; use --config to select a config\n',
    );
    expect(stdout).toContain('1 × L4');
    const named = await runCli(['check', '--config', '../outside/config.yaml', '.'], { cwd });
    expect(named.stderr).toBe('');
    expect(named.stdout).toContain('1 × B200');
  });

  test('no config above the named path is read without a repository', async () => {
    const folder = temporaryFolder();
    mkdirSync(path.join(folder, 'deploy/sub'), { recursive: true });
    writeFileSync(path.join(folder, '.gpulint.yaml'), 'gpu: l4\n');
    writeFileSync(path.join(folder, 'deploy/pod.yaml'), podText());
    const warning = `gpulint: ${path.join(folder, '.gpulint.yaml')} is ignored: it is outside the project; use --config to select a config\n`;
    const above = await runCli(['check', '.'], { cwd: path.join(folder, 'deploy') });
    expect(above.stderr).toBe(warning);
    expect(above.stdout).not.toContain('L4');
    const other = await runCli(['check', '../pod.yaml'], { cwd: path.join(folder, 'deploy/sub') });
    expect(other.stderr).toBe(warning);
    // Without a repository, the current folder is the project.
    const below = await runCli(['check', 'deploy'], { cwd: folder });
    expect(below.stderr).toBe('');
    expect(below.stdout).toContain('1 × L4');
  });

  test("to a chart's values is not read", async () => {
    const { cwd, outside } = repository({
      'chart/Chart.yaml': 'apiVersion: v2\nname: chart\nversion: 1.0.0\n',
      'chart/templates/a.yaml': podText(),
      'chart/templates/b.yaml': podText({ name: 'b' }),
    });
    writeFileSync(path.join(outside, 'values.yaml'), 'replicas: 3\n');
    symlinkSync('../../outside/values.yaml', path.join(cwd, 'chart/values.yaml'));
    const { stderr, status } = await runCli(['check', 'chart/templates'], { cwd });
    expect(stderr).toBe(
      'gpulint: chart/values.yaml is not read: it is outside the project; the templates of its chart are checked without it\n',
    );
    expect(status).toBe(1);
  });
});

describe.runIf(hasMkfifo)('a pipe', () => {
  test('as a config is an error, as chart values it is skipped', async () => {
    const { cwd } = repository({ 'chart/templates/a.yaml': podText() });
    pipe(cwd, '.gpulint.yaml');
    expect(await runCli(['check', '.'], { cwd })).toEqual({
      status: 2,
      stdout: '',
      stderr: 'gpulint: cannot read the config .gpulint.yaml: it is not a regular file\n',
    });
    pipe(path.join(cwd, 'chart'), 'Chart.yaml');
    pipe(path.join(cwd, 'chart'), 'values.yaml');
    pipe(path.join(cwd, 'chart'), 'other.yaml');
    pipe(path.join(cwd, 'chart'), 'other');
    const { stderr, stdout, status } = await runCli(['check', '--no-config', '.'], { cwd });
    expect(stderr).toBe(
      'gpulint: chart/Chart.yaml is not read: it is not a regular file; the templates of its chart are checked without it\n',
    );
    for (const name of ['Chart', 'values', 'other']) {
      expect(stdout).toContain(`chart/${name}.yaml  skipped  it is not a regular file\n`);
    }
    expect(stdout).not.toContain('chart/other  ');
    expect(status).toBe(1);
  });

  test('is read if it is named: a file, a config, a baseline', async () => {
    const { cwd } = repository({ 'pod.yaml': podText() });
    const run = (text: string, name: string, ...args: string[]) => {
      const file = pipe(cwd, name);
      const running = runCli(['check', ...args], { cwd });
      // This blocks until the other end is open.
      writeFileSync(file, text);
      return running;
    };
    expect((await run(podText(), 'a', 'a')).stdout).toContain('gpu-limits-required');
    expect((await run('gpu: l4\n', 'b', '--config', 'b', 'pod.yaml')).stdout).toContain('1 × L4');
    await runCli(['check', '--baseline', 'known.json', '--write-baseline', 'pod.yaml'], { cwd });
    const known = readFileSync(path.join(cwd, 'known.json'), 'utf8');
    expect((await run(known, 'c', '--baseline', 'c', 'pod.yaml')).stdout).toContain(' in the baseline');
  });

  test('without a writer times out', async () => {
    const name = pipe(temporaryFolder(), 'pipe.yaml');
    const wait = { writer: 10, next: 10, end: 10_000 };
    await expect(readNamed(name, 100, wait)).rejects.toThrow('the pipe delivered no data for 0.01 seconds');
  });

  test('is not a regular file', () => {
    expect(() => readRegular(pipe(temporaryFolder(), 'pipe.yaml'), 100)).toThrow('it is not a regular file');
    expect(() => readRegular('/dev/null', 100)).toThrow('it is not a regular file');
    expect(() => readRegular(temporaryFolder(), 100)).toThrow('it is not a regular file');
  });
});

test('an endless file is read up to the limit', async () => {
  expect(await readNamed('/dev/zero', 100_000)).toHaveLength(100_001);
  expect((await runCli(['check', '/dev/zero'])).stdout).toContain('too large: files over 5 MB are not read');
  expect((await runCli(['check', '--config', '/dev/zero', '.'])).stderr).toBe(
    'gpulint: cannot read the config /dev/zero: too large: files over 1 MB are not read\n',
  );
});

test('a config that is too large is not read', async () => {
  const { cwd } = repository({ '.gpulint.yaml': '#'.repeat(1024 * 1024 + 1), 'a.yaml': '' });
  expect(await runCli(['check', '.'], { cwd })).toEqual({
    status: 2,
    stdout: '',
    stderr: 'gpulint: cannot read the config .gpulint.yaml: too large: files over 1 MB are not read\n',
  });
});

test('virtual folders of the kernel are not checked', async () => {
  for (const given of ['/proc', '/sys', '/dev'].filter((name) => existsSync(name))) {
    expect((await runCli(['check', given])).stderr).toBe(
      `gpulint: ${given}: cannot be read: it is a system directory\n`,
    );
  }
});

test('a link to itself is reported as unreadable, not as an internal error', async () => {
  const { cwd } = repository({ 'b.yaml': '' });
  symlinkSync('a.yaml', path.join(cwd, 'a.yaml'));
  const { status, stderr } = await runCli(['check', 'a.yaml', 'b.yaml'], { cwd });
  expect({ status, bug: stderr.includes('bug') }).toEqual({ status: 2, bug: false });
});
