import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Report, ReportFile } from '../../server/src/cli/reports/report-schema.ts';
import { canDropRights, giveAway, runCli, temporaryFolder } from './run-cli.ts';

const good = [
  'apiVersion: v1',
  'kind: Pod',
  'metadata: {name: good}',
  'spec:',
  '  containers:',
  '    - {name: main, image: example.com/a:1, resources: {requests: {nvidia.com/gpu: 1}}}',
  '',
].join('\n');

/** The files of the report by path, for a folder with these files and a good one. */
async function reportOf(
  files: Readonly<Record<string, string | Uint8Array>>,
): Promise<ReadonlyMap<string, ReportFile>> {
  const folder = temporaryFolder();
  for (const [name, content] of Object.entries({ 'good.yaml': good, ...files })) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), content);
  }
  const { stdout, stderr, status } = await runCli(['check', '--format', 'json', folder]);
  expect(stderr).toBe('');
  expect(status).toBe(1);
  const report = new Map((JSON.parse(stdout) as Report).files.map((file) => [file.path, file]));
  expect(report.get('good.yaml')).toMatchObject({ parse: 'ok', findings: [{ rule: 'gpu-limits-required' }] });
  return report;
}

describe('a folder with a hostile file', () => {
  test('50 MB', async () => {
    const report = await reportOf({ 'big.yaml': Buffer.alloc(50 * 1024 * 1024, 'nvidia.com/gpu: 1\n') });
    expect(report.get('big.yaml')).toMatchObject({
      parse: 'skipped',
      problem: 'too large: files over 5 MB are not read',
    });
  });

  test('a binary', async () => {
    const report = await reportOf({ 'binary.yaml': Uint8Array.from({ length: 4096 }, (_, index) => index % 256) });
    expect(report.get('binary.yaml')).toMatchObject({ parse: 'skipped', problem: 'a binary file' });
  });

  test('UTF-16', async () => {
    const report = await reportOf({ 'windows.yaml': Buffer.from(`\ufeff${good}`, 'utf16le') });
    expect(report.get('windows.yaml')).toMatchObject({ parse: 'skipped', problem: 'UTF-16 text; save it as UTF-8' });
  });

  test('an alias bomb', async () => {
    const lines = ['gpu: &a0 [x, x, x, x, x, x, x, x, x, x]'];
    for (let level = 1; level < 12; level += 1) {
      lines.push(
        `k${level}: &a${level} [${Array(10)
          .fill(`*a${level - 1}`)
          .join(', ')}]`,
      );
    }
    const report = await reportOf({ 'bomb.yaml': lines.join('\n') });
    expect(report.get('bomb.yaml')!.parse).not.toBe('ok');
    expect(report.get('bomb.yaml')!.problem).toBeTruthy();
  });

  test('10,000 brackets', async () => {
    const report = await reportOf({
      'deep.yaml': `gpu: ${'['.repeat(10_000)}`,
      'deep.json': `{"gpu": ${'['.repeat(10_000)}`,
    });
    for (const name of ['deep.yaml', 'deep.json']) {
      expect(['error', 'skipped']).toContain(report.get(name)!.parse);
      expect(report.get(name)!.problem).toBeTruthy();
    }
  });

  test('bytes that are not UTF-8', async () => {
    const latin1 = Buffer.from(`# caf\u00e9\n${good}`, 'latin1');
    const report = await reportOf({ 'latin1.yaml': latin1 });
    expect(report.get('latin1.yaml')).toMatchObject({
      parse: 'skipped',
      problem: 'line 1 is not valid UTF-8; save the file as UTF-8',
      findings: [],
    });
  });

  test('an empty file, and one with only comments', async () => {
    const report = await reportOf({ 'empty.yaml': '', 'comments.yaml': '# nothing\n', 'empty.json': '' });
    for (const name of ['empty.yaml', 'comments.yaml', 'empty.json']) {
      expect(report.get(name)).toMatchObject({ parse: 'ok', problem: null, findings: [] });
    }
  });

  test('a link to a parent folder', async () => {
    const folder = temporaryFolder();
    writeFileSync(path.join(folder, 'good.yaml'), good);
    symlinkSync('..', path.join(folder, 'loop'));
    const { stdout } = await runCli(['check', '--format', 'json', folder]);
    expect((JSON.parse(stdout) as Report).files.map((file) => file.path)).toEqual(['good.yaml']);
  });

  test.runIf(canDropRights)('a file and a folder without read permission', async () => {
    const folder = temporaryFolder();
    writeFileSync(path.join(folder, 'good.yaml'), good);
    writeFileSync(path.join(folder, 'secret.yaml'), good);
    mkdirSync(path.join(folder, 'closed'));
    chmodSync(path.join(folder, 'secret.yaml'), 0);
    chmodSync(path.join(folder, 'closed'), 0);
    giveAway(folder);
    const { stdout, status } = await runCli(['check', '--format', 'json', '.'], { cwd: folder, unprivileged: true });
    chmodSync(path.join(folder, 'closed'), 0o700);
    expect(status).toBe(1);
    expect((JSON.parse(stdout) as Report).files.map((file) => [file.path, file.problem])).toEqual([
      ['closed', 'cannot be read: permission denied'],
      ['good.yaml', null],
      ['secret.yaml', 'cannot be read: permission denied'],
    ]);
  });
});

test.runIf(canDropRights)('a home folder that belongs to another user', async () => {
  const home = temporaryFolder();
  chmodSync(home, 0o700);
  const folder = temporaryFolder();
  writeFileSync(path.join(folder, 'good.yaml'), good);
  giveAway(folder);
  const run = (env: Record<string, string>) =>
    runCli(['check', 'good.yaml'], {
      cwd: folder,
      unprivileged: true,
      env: { HOME: home, XDG_CACHE_HOME: '', ...env },
    });
  expect(await run({ GPULINT_PRICES: '' })).toMatchObject({ status: 1, stderr: '' });
  const sheet = path.join(home, 'prices.json');
  expect((await run({ GPULINT_PRICES: sheet })).stderr).toBe(
    `gpulint: the price sheet ${sheet} is ignored: permission denied; run "gpulint prices refresh" or "gpulint prices reset"\n`,
  );
});

describe('the files of a folder', () => {
  test('are YAML, JSON and templates of these, but not those of Git and npm', async () => {
    const names = [
      'a.yml',
      'b.json',
      'c.yaml.tmpl',
      'd.yaml-template',
      'e.yml.j2',
      'f.tpl',
      '.g.yaml',
      'sub/.h/i.yaml.template',
    ];
    const others = ['j.txt', 'k.py', 'l.yamlx', '.git/m.yaml', 'sub/node_modules/n/o.yaml', 'README.md'];
    const report = await reportOf(Object.fromEntries([...names, ...others].map((name) => [name, ''])));
    expect([...report.keys()]).toEqual([...names, 'good.yaml'].sort());
  });

  test('exclude ignored ones, however deep the check starts', async () => {
    const folder = temporaryFolder();
    const files = [
      'a.yaml',
      'generated/b.yaml',
      'deploy/c.yaml',
      'deploy/generated/d.yaml',
      'deploy/old/e.yaml',
      'old/f.yaml',
    ];
    for (const name of files) {
      mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
      writeFileSync(path.join(folder, name), '');
    }
    writeFileSync(path.join(folder, '.gpulint.yaml'), 'ignore: [generated/, /old, deploy/old/*.yaml]\n');
    const pathsOf = async (given: string) => {
      const { stdout } = await runCli(['check', '--format', 'json', given], { cwd: folder });
      return (JSON.parse(stdout) as Report).files.map((file) => file.path);
    };
    expect(await pathsOf('.')).toEqual(['a.yaml', 'deploy/c.yaml']);
    expect(await pathsOf('deploy')).toEqual(['c.yaml']);
    expect(await pathsOf('old/f.yaml')).toEqual(['old/f.yaml']);
  });
});
