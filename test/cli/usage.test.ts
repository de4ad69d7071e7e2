import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { version } from '../../package.json';
import { rules } from '../../server/src/rules/index.ts';
import { cli, fixtures, runCli, temporaryFolder } from './run-cli.ts';

describe('a usage error has one sentence and status 2', () => {
  test.each([
    [['check', '--formt', 'json'], "unknown option '--formt'; did you mean '--format'?"],
    [['check', '--everything'], "unknown option '--everything'; see 'gpulint check --help'"],
    [
      ['check', '--format', 'xml'],
      "option '--format <format>' argument 'xml' is invalid; allowed: text, full, json, sarif, github, gitlab, junit, markdown",
    ],
    [['check', '--fail-on'], "option '--fail-on <severity>' argument missing; see 'gpulint check --help'"],
    [['chekc'], "unknown command 'chekc'; did you mean 'check'?"],
    [['project'], "unknown command 'project'; to check a path run 'gpulint check project'"],
    [['explain'], "missing required argument 'rule'; see 'gpulint explain --help'"],
    [['explain', 'gpu-limit-required'], "no rule 'gpu-limit-required'; did you mean 'gpu-limits-required'?"],
    [['explain', 'zzz'], "no rule 'zzz'; 'gpulint rules' lists them"],
    [['check', 'project/missing.yaml'], 'project/missing.yaml: cannot be read: no such file or folder'],
    [['check', ''], "'' is not a path: name a file or folder"],
    [['check', '--config', 'no.yaml', 'project'], 'cannot read the config no.yaml: no such file or folder'],
    [['check', '--config', '.', 'project'], 'cannot read the config .: it is a folder'],
    [
      ['check', '--config', 'project/serving/chat.yaml', 'project'],
      'project/serving/chat.yaml is a manifest, not a config; use a file with settings, such as region: us-east-1',
    ],
    [['check', '--output=', 'project'], "'' is not a file: name one for the report"],
    [['check', '--output', '-', 'project'], "'-' is not a file: without a file, the report goes to standard output"],
    [
      ['check', '--stdin-filename', 'a.yaml', 'project'],
      '--stdin-filename requires the path -, which reads standard input',
    ],
    [['cost', '--max-increase', '5', 'project'], '--max-increase requires --base <revision> or --compare <report>'],
    [['cost', 'project/missing.yaml'], 'project/missing.yaml: cannot be read: no such file or folder'],
    [
      ['cost', '--max-hourly', 'low', 'project'],
      "option '--max-hourly <usd>' argument 'low' is invalid: must be an amount in US dollars per hour, such as 12.50; see 'gpulint cost --help'",
    ],
    [['prices', 'show'], "unknown command 'show' of 'prices'; see 'gpulint prices --help'"],
    [['prices', 'refrsh'], "unknown command 'refrsh' of 'prices'; did you mean 'refresh'?"],
    [['prices', 'refresh', '--region'], /; see 'gpulint prices refresh --help'\n$/],
    [['rules', 'shm-missing'], "'rules' lists all rules; to explain one run 'gpulint explain shm-missing'"],
    [['help', 'nope'], "unknown command 'nope'; see 'gpulint --help'"],
    [['help', 'chekc'], "unknown command 'chekc'; did you mean 'check'?"],
    [['help', 'prices', 'refrsh'], "unknown command 'refrsh' of 'prices'; did you mean 'refresh'?"],
    [['nope'], "unknown command 'nope'; see 'gpulint --help'"],
    [['lint', 'project'], "unknown command 'lint'; did you mean 'check'?"],
    [['version'], "unknown command 'version'; did you mean '--version'?"],
    [['check', '--json', 'project'], "unknown option '--json'; did you mean '--format json'?"],
    [['cost', '-o', 'csv', 'project'], "unknown option '-o'; did you mean '--format csv'?"],
    [['check', '-o', 'report', 'project'], "unknown option '-o'; see 'gpulint check --help'"],
    [
      ['check', '--cluster', 'project/plain'],
      "--cluster project/plain names a path, not a context; write 'gpulint check project/plain --cluster'",
    ],
  ])('%o', async (args, sentence) => {
    const stderr = typeof sentence === 'string' ? `gpulint: ${sentence}\n` : expect.stringMatching(sentence);
    expect(await runCli(args)).toEqual({ status: 2, stdout: '', stderr });
  });

  test('help prints the help, of gpulint or of a command', async () => {
    for (const command of [[], ['check'], ['cost'], ['prices', 'refresh']])
      expect(await runCli(['help', ...command])).toEqual(await runCli([...command, '--help']));
  });

  test('a missing path next to an existing one: the findings are still reported', async () => {
    const missing = 'projcet/: cannot be read: no such file or folder';
    const text = await runCli(['check', '-q', 'projcet/', 'project/serving/chat.yaml']);
    expect(text).toMatchObject({ status: 2, stderr: '' });
    expect(text.stdout).toContain('projcet/  skipped  cannot be read: no such file or folder\n');
    expect(text.stdout).toMatch(/chat\.yaml:\d+:\d+ +error /);
    const annotations = await runCli(['check', '--format', 'github', 'project/plain', 'projcet/']);
    expect(annotations).toMatchObject({ status: 2, stderr: `gpulint: ${missing}\n` });
    const never = await runCli(['check', '--fail-on', 'never', 'project/plain', 'projcet/']);
    expect(never.status).toBe(2);
  });

  test('a config with a misspelled key', async () => {
    const folder = temporaryFolder();
    writeFileSync(path.join(folder, '.gpulint.yaml'), 'provider: aws\ngpus: h100-80gb-sxm\nregions: us-east-1\n');
    writeFileSync(path.join(folder, 'pod.yaml'), '');
    expect(await runCli(['check'], { cwd: folder })).toEqual({
      status: 2,
      stdout: '',
      stderr:
        "gpulint: .gpulint.yaml:2:1: unknown key 'gpus'; did you mean 'gpu'?\n" +
        "gpulint: .gpulint.yaml:3:1: unknown key 'regions'; did you mean 'region'?\n",
    });
    expect((await runCli(['check', '--no-config'], { cwd: folder })).status).toBe(0);
    const keys = Array.from({ length: 30 }, (_, index) => `key${index}: 1`);
    writeFileSync(path.join(folder, '.gpulint.yaml'), keys.join('\n'));
    const lines = (await runCli(['check'], { cwd: folder })).stderr.trim().split('\n');
    expect(lines).toHaveLength(21);
    expect(lines.at(-1)).toBe('gpulint: .gpulint.yaml: 10 more');
  });
});

test('the nearest config applies, up to the root of the repository', async () => {
  const folder = temporaryFolder();
  mkdirSync(path.join(folder, 'repository/.git'), { recursive: true });
  mkdirSync(path.join(folder, 'repository/deploy'));
  writeFileSync(path.join(folder, '.gpulint.yaml'), 'nonsense: 1\n');
  expect((await runCli(['check', 'repository/deploy'], { cwd: folder })).status).toBe(0);
  writeFileSync(path.join(folder, 'repository/.gpulint.yaml'), 'nonsense: 1\n');
  expect((await runCli(['check', 'repository/deploy'], { cwd: folder })).stderr).toContain(
    'repository/.gpulint.yaml:1:1',
  );
});

const hasScript = process.platform === 'linux' && spawnSync('script', ['--version']).error === undefined;

test.skipIf(!hasScript)('the language server says on a terminal what it waits for', async () => {
  const child = spawn('script', ['-qec', `'${process.execPath}' '${cli}' lsp`, '/dev/null']);
  const first = await new Promise((resolve) => child.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString())));
  child.kill();
  expect(first).toContain('gpulint: the language server waits for an editor; press Ctrl+C to stop it');
});

test('a pipe that is closed early is not an error', async () => {
  const child = spawn(process.execPath, [cli, 'check', '--format', 'json', ...Array(50).fill('project/serving')], {
    cwd: fixtures,
  });
  child.stdout.destroy();
  const stderr: Buffer[] = [];
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
  const status = await new Promise((resolve) => child.on('close', resolve));
  expect(Buffer.concat(stderr).toString()).toBe('');
  expect(status).not.toBe(2);
});

test('--version, rules and explain', async () => {
  expect((await runCli(['--version'])).stdout).toBe(`${version}\n`);
  const listed = await runCli(['rules']);
  expect(listed.stdout.split('\n').filter(Boolean)).toHaveLength(rules.size);
  expect(listed.stdout).toMatch(/^gpu-limits-required +error {4}\S.*\S$/m);
  const page = await runCli(['explain', 'gpu-limits-required']);
  expect(page.status).toBe(0);
  expect(page.stdout).toMatch(/^# gpu-limits-required\n/);
});
