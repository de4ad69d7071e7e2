import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { Report } from '../../server/src/cli/reports/report-schema.ts';
import { runCli, temporaryFolder } from './run-cli.ts';

const pod = `apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers:
    - name: a
      image: busybox:1.36
      resources: {limits: {nvidia.com/gpu: 1}}
`;

function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

test('each file of a monorepo has the config nearest to it, whatever path is given', async () => {
  const folder = temporaryFolder();
  write(folder, {
    '.git/HEAD': 'ref: refs/heads/main\n',
    '.gpulint.yaml': 'gpu: l4\noverrides: [{files: ["big-*"], gpu: b200}]\n',
    'a.yaml': pod,
    'big-one.yaml': pod,
    'team/.gpulint.yaml': 'gpu: t4\nignore: [old]\n',
    'team/deep/b.yaml': pod,
    'team/old/c.yaml': pod,
  });
  const gpusOf = async (...paths: string[]) => {
    const { stdout } = await runCli(['check', '--format', 'json', '--fail-on', 'never', ...paths], { cwd: folder });
    const { files }: Report = JSON.parse(stdout);
    return files.map(({ path: name, workloads }) => [
      path.basename(name),
      workloads[0]?.cost?.assumptions.find((line) => line.startsWith('GPU model')),
    ]);
  };
  const all = [
    ['a.yaml', 'GPU model L4 from the config'],
    ['big-one.yaml', 'GPU model B200 from the config'],
    ['b.yaml', 'GPU model T4 from the config'],
  ];
  expect(await gpusOf('.')).toEqual(all);
  expect(await gpusOf('team')).toEqual(all.slice(2));
  expect(await gpusOf('team/deep/b.yaml')).toEqual(all.slice(2));
  // A file that is named on the command line is always read.
  expect((await gpusOf('team/old/c.yaml')).length).toBe(1);
});

test('a mistake in a config further down is reported with its position', async () => {
  const folder = temporaryFolder();
  write(folder, { 'a.yaml': pod, 'team/.gpulint.yaml': 'capacity: spott\n', 'team/b.yaml': pod });
  const { status, stderr } = await runCli(['check', '.'], { cwd: folder });
  expect(status).toBe(2);
  expect(stderr).toContain("team/.gpulint.yaml:1:11: 'capacity' cannot be 'spott'");
});

test('a region without prices is reported with a suggestion, and stops nothing', async () => {
  const folder = temporaryFolder();
  write(folder, { '.gpulint.yaml': 'provider: aws\nregion: us-esat-1\ngpu: l4\n', 'a.yaml': pod, 'b.yaml': pod });
  const { stderr, status } = await runCli(['check', '--quiet', '.'], { cwd: folder });
  expect(stderr).toMatch(
    /^gpulint: \.gpulint\.yaml:2:9: No AWS prices for the region 'us-esat-1': prices of us-east-1 are used instead; did you mean 'us-east-1'.*\n$/,
  );
  expect(status).toBe(0);
});

test('a config with a wrong name and a likely typo are reported: neither changes the status', async () => {
  const folder = temporaryFolder();
  write(folder, { '.git/HEAD': '', '.gpulint.yml': 'gpu: l4\n', 'a.yaml': pod, 'b.yaml': pod });
  expect(await runCli(['check', '-q', '.'], { cwd: folder })).toEqual({
    status: 0,
    stdout: '',
    stderr: 'gpulint: .gpulint.yml is ignored: the config must be named .gpulint.yaml\n',
  });
  expect((await runCli(['check', '-q', '--no-config', '.'], { cwd: folder })).stderr).toBe('');
  const pools = ['p5.48xlrge', 'own.metal'].map((type) => `  - {name: a, labels: {}, instanceType: ${type}}\n`);
  write(folder, { '.gpulint.yaml': `nodePools:\n${pools.join('')}` });
  const { status, stderr } = await runCli(['check', '-q', '.'], { cwd: folder });
  expect({ status, lines: stderr.trim().split('\n') }).toEqual({
    status: 0,
    lines: [
      "gpulint: .gpulint.yaml:2:41: The catalog has no instance type 'p5.48xlrge', so only your own price in prices.instanceTypes applies; did you mean 'p5.48xlarge'?",
    ],
  });
});

test('a price file of OpenCost sets the prices, and a broken one ends the run', async () => {
  const folder = temporaryFolder();
  write(folder, {
    '.git/HEAD': 'ref: refs/heads/main\n',
    '.gpulint.yaml': 'gpu: l4\npriceFile: prices/default.json\n',
    'prices/default.json': '{"GPU": "0.95"}',
    'a.yaml': pod,
  });
  const check = () => runCli(['check', '--format', 'json', '--fail-on', 'never', '.'], { cwd: folder });
  const { files }: Report = JSON.parse((await check()).stdout);
  expect(files[0]?.workloads[0]?.cost?.hourly).toEqual({ min: 0.95, max: 0.95 });
  write(folder, { 'prices/default.json': '{\n  "GPU": "0.95",\n}\n' });
  const { status, stderr } = await check();
  expect(status).toBe(2);
  expect(stderr).toContain(
    '.gpulint.yaml:2:12: cannot read the price file prices/default.json: line 2: JSON has no trailing commas',
  );
  write(folder, { '.gpulint.yaml': '# prices\npriceFile: prices.json\n' });
  expect((await check()).stderr).toContain('.gpulint.yaml:2:12: cannot read the price file prices.json: no such file');
});

test('a config that is a link to nothing is an error, not an absent config', async () => {
  const folder = temporaryFolder();
  write(folder, { 'a.yaml': pod });
  symlinkSync('missing.yaml', path.join(folder, '.gpulint.yaml'));
  expect(await runCli(['check', 'a.yaml'], { cwd: folder })).toMatchObject({
    status: 2,
    stderr: 'gpulint: cannot read the config .gpulint.yaml: no such file or folder\n',
  });
});
