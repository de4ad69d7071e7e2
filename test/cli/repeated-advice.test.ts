import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { Report } from '../../server/src/cli/reports/report-schema.ts';
import { runCli, temporaryFolder } from './run-cli.ts';

const pod = (name: string) =>
  `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\nspec:\n  containers:\n    - {name: main, image: "registry.example/a:latest", resources: {limits: {nvidia.com/gpu: 1}}}\n`;

/** A folder with one pod per file, and how often its report speaks of the image. */
async function reports(pods: number, ...args: readonly string[]) {
  const cwd = temporaryFolder();
  mkdirSync(path.join(cwd, 'pods'));
  for (let index = 0; index < pods; index += 1)
    writeFileSync(path.join(cwd, 'pods', `${index}.yaml`), pod(`p${index}`));
  const { stdout, status } = await runCli(['check', 'pods', ...args], { cwd });
  return { stdout, status, lines: stdout.split('\n').filter((line) => line.includes('image-not-pinned')).length };
}

test('the same advice for many files is one line with a count', async () => {
  const { stdout, lines } = await reports(8);
  expect(lines).toBe(1);
  expect(stdout).toContain('and 7 more in 7 other files; --format full shows all');
  expect(stdout).toContain('8 info');
  expect(stdout).toContain('Pod/p7');
});

test('a few are listed', async () => {
  expect((await reports(5)).lines).toBe(5);
});

test('in one file, the count says so', async () => {
  const input = [0, 1, 2, 3, 4, 5].map((index) => pod(`p${index}`)).join('---\n');
  const { stdout } = await runCli(['check', '-'], { input });
  expect(stdout).toContain('and 5 more in this file');
});

test('all are listed if they decide the exit status, and in other reports', async () => {
  expect(await reports(8, '--fail-on', 'info')).toMatchObject({ lines: 8, status: 1 });
  const full = await reports(8, '--format', 'full');
  expect(full.lines).toBe(8);
  const { stdout } = await reports(8, '--format', 'json');
  const report = JSON.parse(stdout) as Report;
  expect(report.files.flatMap(({ findings }) => findings)).toHaveLength(8);
});

test('one example of a file says enough', async () => {
  const example = pod('p')
    .replace('registry.example/a:latest', 'busybox:1.37')
    .replace('{name: main,', '{name: main, command: [sleep, infinity],');
  const trainer = example.replace('busybox:1.37', 'registry.example/trainer:1.4');
  const { stdout } = await runCli(['check', '-', '--format', 'json'], {
    input: [example, example, trainer, trainer].join('---\n'),
  });
  const { files } = JSON.parse(stdout) as Report;
  expect(files.flatMap(({ findings }) => findings.map(({ severity }) => severity))).toEqual([
    'info',
    'warning',
    'warning',
  ]);
});
