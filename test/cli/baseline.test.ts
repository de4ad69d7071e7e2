import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { podText, repository } from './ci-project.ts';
import { runCli } from './run-cli.ts';

const baseline = ['--baseline', '.gpulint-baseline.json'];

test('findings in the baseline are neither shown nor counted, even if lines move and from another folder', async () => {
  const cwd = repository();
  expect(await runCli(['check', ...baseline, '--write-baseline', '.'], { cwd })).toEqual({
    stdout: '.gpulint-baseline.json: 5 findings\n',
    stderr: '',
    status: 0,
  });
  const { stdout, status } = await runCli(['check', ...baseline, '.'], { cwd });
  expect(status).toBe(0);
  expect(stdout).toMatch(/: 5 in the baseline\n$/);
  expect(stdout).not.toContain('gpu-limits-required');

  const chat = path.join(cwd, 'deploy/serving/chat.yaml');
  writeFileSync(chat, `# moved\n\n${readFileSync(chat, 'utf8')}`);
  const inFolder = await runCli(['check', '--baseline', '../../.gpulint-baseline.json', 'chat.yaml'], {
    cwd: path.dirname(chat),
  });
  expect(inFolder.status).toBe(0);
  expect(inFolder.stdout).toMatch(/: 2 in the baseline\n$/);
});

test('a baseline without a named path is reported', async () => {
  const cwd = repository();
  expect(await runCli(['check', ...baseline, '--write-baseline', 'deploy', 'deplyo'], { cwd })).toEqual({
    stdout: expect.stringMatching(/^\.gpulint-baseline\.json: \d+ findings\n$/),
    stderr: 'gpulint: deplyo: cannot be read: no such file or folder\n',
    status: 2,
  });
});

test('new findings are reported', async () => {
  const cwd = repository();
  await runCli(['check', ...baseline, '--write-baseline', '.'], { cwd });
  writeFileSync(path.join(cwd, 'deploy/pod.yaml'), podText());
  const { stdout, status } = await runCli(['check', '--format', 'json', ...baseline, '.'], { cwd });
  const { summary, files } = JSON.parse(stdout);
  expect(status).toBe(1);
  expect(summary).toMatchObject({ findings: { error: 1, warning: 0, info: 0, hint: 0 }, baselined: 5 });
  expect(files.map(({ path: name }: { path: string }) => name)).not.toContain('.gpulint-baseline.json');
  expect(
    (await runCli(['check', '--format', 'sarif', ...baseline, '.'], { cwd })).stdout.match(/"ruleId"/g),
  ).toHaveLength(1);
});

test('a baseline has one finding per line in the order of the paths, and is deterministic', async () => {
  const cwd = repository();
  const file = path.join(cwd, '.gpulint-baseline.json');
  await runCli(['check', ...baseline, '--write-baseline', 'deploy/training', 'deploy/serving'], { cwd });
  const text = readFileSync(file, 'utf8');
  expect(text.split('\n').map((line) => /"path":"([^"]*)"/.exec(line)?.[1])).toEqual([
    undefined,
    'deploy/serving/chat.yaml',
    'deploy/serving/chat.yaml',
    'deploy/training/broken.yaml',
    'deploy/training/broken.yaml',
    'deploy/training/broken.yaml',
    undefined,
    undefined,
  ]);
  await runCli(['check', ...baseline, '--write-baseline', '.'], { cwd });
  expect(readFileSync(file, 'utf8')).toBe(text);
});

test.each([
  [['--write-baseline'], undefined, '--write-baseline requires --baseline <file>'],
  [
    ['--baseline', 'b.json'],
    undefined,
    'cannot read the baseline b.json: no such file or folder; --write-baseline creates one',
  ],
  [
    ['--baseline', 'b.json'],
    '{"version": 2, "findings": []}',
    'b.json is a baseline of version 2, which this gpulint does not read; --write-baseline creates a new one',
  ],
  [
    ['--baseline', 'b.json'],
    '{"version": 1, "findings": [\n<<<<<<< HEAD\n]}',
    'b.json:2:1: Unresolved merge conflict; choose one side and remove the marker lines',
  ],
  [['--baseline', 'b.json'], 'findings:', 'b.json is not a gpulint baseline; --write-baseline creates one'],
  [['--baseline', 'no/b.json', '--write-baseline'], undefined, 'cannot write no/b.json: no such file or folder'],
])('%o with %s fails with one sentence', async (args, text, sentence) => {
  const cwd = repository();
  if (text !== undefined) writeFileSync(path.join(cwd, 'b.json'), text);
  expect(await runCli(['check', ...args, 'deploy'], { cwd })).toEqual({
    status: 2,
    stdout: '',
    stderr: `gpulint: ${sentence}\n`,
  });
});
