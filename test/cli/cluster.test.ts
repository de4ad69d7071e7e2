import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { startApiServer, type TestApiServer } from '../support/api-server/server.ts';
import { configText } from '../support/cluster-lab.ts';
import { fillCluster, gpuPod } from '../support/gpu-cluster.ts';
import { dcgmDevice, dcgmLabels, startPrometheus } from '../support/prometheus-server.ts';
import { cli, runCli } from './run-cli.ts';

let server: TestApiServer;
let folder: string;
let kubeconfig: string;

beforeEach(async () => {
  server = await startApiServer(...['nodes', 'pods', 'namespaces', 'events'].map((name) => `/api/v1/${name}`));
  folder = mkdtempSync(path.join(tmpdir(), 'gpulint-cli-cluster-'));
  kubeconfig = path.join(folder, 'config');
  writeFileSync(kubeconfig, configText(server.url, { token: 'first' }));
});

afterEach(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

test('the table has the pools, the pods that wait, and the basis of the prices', async () => {
  fillCluster(server);
  const { status, stdout, stderr } = await runCli(['cluster', '--kubeconfig', kubeconfig]);
  expect(stderr).toBe('');
  expect(stdout.replace(/(waits +8 GPUs +)\S+ \S+/, '$1AGE')).toMatchInlineSnapshot(`
    "test (v1.34.1): 16 GPUs, 4 free · $58.77/h · $14.69/h idle

    Pool  GPU            Nodes  GPUs  Used  Free  $/h     Idle $/h
    a100  A100 40GB SXM  2      16    12    4     $58.77  $14.69

    1 pending pod
    Pod         Requests  Since
    team/waits  8 GPUs    AGE
      0/2 nodes: 2 Insufficient nvidia.com/gpu (free 4, requests 8)
      To run: wait until pods in pool a100 finish

    Prices: a2-highgpu-8g on demand in us-central1 (2026-08-20)
    "
  `);
  expect(status).toBe(0);
});

test("a project's own prices apply", async () => {
  fillCluster(server);
  writeFileSync(path.join(folder, '.gpulint.yaml'), 'prices: { instanceTypes: { a2-highgpu-8g: 10 } }\n');
  const { stdout } = await runCli(['cluster', '--kubeconfig', kubeconfig], { cwd: folder });
  expect(stdout).toMatch(/^test \(v1\.34\.1\): 16 GPUs, 4 free · \$20(?:\.00)?\/h · \$5(?:\.00)?\/h idle$/m);
});

test('the JSON has the same numbers, with the nodes', async () => {
  fillCluster(server);
  const { stdout } = await runCli(['cluster', '--format', 'json', '--context', 'test'], {
    env: { KUBECONFIG: kubeconfig },
  });
  expect(JSON.parse(stdout)).toMatchObject({
    version: 1,
    context: 'test',
    serverVersion: 'v1.34.1',
    totals: { nodes: 2, devices: { total: 16, free: 4, used: 12 } },
    pools: [{ name: 'a100', platform: 'gke', nodeList: [{ name: 'n1' }, { name: 'n2', devices: { free: 4 } }] }],
    pending: [{ namespace: 'team', name: 'waits', owner: { kind: 'Job', name: 'train' } }],
  });
});

test('the table and the JSON have what Prometheus has measured', async () => {
  fillCluster(server);
  server.put('/api/v1/pods', gpuPod('idle', 1, 'n2'));
  const labels = dcgmLabels('team', 'idle', 'GPU-1');
  const prometheus = await startPrometheus([dcgmDevice(labels, { busy: 0.01, used: 3, total: 40 })]);
  onTestFinished(() => prometheus.close());
  const args = ['cluster', '--kubeconfig', kubeconfig, '--prometheus', prometheus.url];
  const { stdout, stderr } = await runCli(args);
  expect(stderr).toBe('');
  expect(stdout).toContain('idle · 1 pod holds 1 GPU under 5% for 6 h: $3.67/h\n');
  expect(stdout.slice(stdout.indexOf('1 idle pod'), stdout.indexOf('\n\nPrices'))).toMatchInlineSnapshot(`
    "1 idle pod, measured for 6 h
    Pod        Holds  Busy  Memory       W   $/h    Would fit in
    team/idle  1 GPU  1%    3 of 40 GiB  90  $3.67  1g.5gb"
  `);
  const { stdout: json } = await runCli([...args, '--format', 'json']);
  expect(JSON.parse(json)).toMatchObject({
    usage: { state: 'measured', pods: 3, measured: 1, idle: { pods: 1, devices: 1 } },
    idlePods: [{ name: 'idle', slice: '1g.5gb', usage: { busy: { mean: 0.01 } } }],
  });

  let sent: string | undefined;
  prometheus.fault = ({ headers: { authorization } }, response) => {
    sent = authorization;
    return response.writeHead(503).end() !== undefined;
  };
  const failed = await runCli(args, { env: { GPULINT_PROMETHEUS_TOKEN: 'secret' } });
  expect(failed.stdout).toContain(`\nPrometheus at ${prometheus.url} answered 503; usage is not shown\n`);
  expect(sent).toBe('Bearer secret');
  expect(failed.stdout + failed.stderr).not.toContain('secret');
});

test('without the right to read pods, what is used is unknown', async () => {
  fillCluster(server);
  const all = (resource: string) => ({ apiGroups: [''], resources: [resource], verbs: ['list', 'watch'] });
  server.rights = { '*': [all('nodes')] };
  const { stdout } = await runCli(['cluster', '--kubeconfig', kubeconfig]);
  expect(stdout).toContain('test (v1.34.1): 16 GPUs, use unknown · $58.77/h\n');
  expect(stdout).toMatch(/^a100 +A100 40GB SXM +2 +16 +\? +\? +\$58\.77$/m);
  expect(stdout).toContain(
    'No permission to read: pods, namespaces, resourcequotas, events, configmaps; docs/cluster.md has the ClusterRole\n',
  );
  const { stdout: json } = await runCli(['cluster', '--kubeconfig', kubeconfig, '--format', 'json']);
  expect(JSON.parse(json)).toMatchObject({
    totals: { devices: { total: 16, free: null, used: null }, cost: { idle: null } },
    pools: [
      {
        devices: { free: null },
        resources: [{ requested: null, free: null }],
        largestFit: null,
        fits: [],
        nodeList: [{ devices: { free: null } }, {}],
      },
    ],
  });
  server.rights = { '*': [all('nodes')], team: [all('pods')] };
  const { stdout: own } = await runCli(['cluster', '--kubeconfig', kubeconfig]);
  expect(own).toContain('test (v1.34.1): 16 GPUs, 8 free');
  expect(own).toContain('Only pods of team can be read\n');
});

test('pods of a workload that wait for the same reason are one row', async () => {
  fillCluster(server);
  for (const name of ['waits-too', 'waits-with-them']) server.put('/api/v1/pods', gpuPod(name, 8));
  const { stdout } = await runCli(['cluster', '--kubeconfig', kubeconfig]);
  expect(stdout).toMatch(/^team\/waits and 2 more +8 GPUs each +/m);
});

test.each([
  ['no kubeconfig', () => [], /^gpulint: No kubeconfig: .* not exist; name one with --kubeconfig, or set KUBECONFIG$/m],
  [
    'a context that does not exist',
    () => ['--context', 'other'],
    /^gpulint: The kubeconfig has no context other; it has test$/m,
  ],
])('%s is one sentence', async (_, args, message) => {
  const options = args().length === 0 ? [] : ['--kubeconfig', kubeconfig];
  const env = { KUBECONFIG: '', HOME: folder, USERPROFILE: folder };
  const { status, stdout, stderr } = await runCli(['cluster', ...options, ...args()], { env });
  expect(stderr).toMatch(message);
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
});

test('expired credentials, missing rights and a server that is gone are errors', async () => {
  const failure = async () => (await runCli(['cluster', '--kubeconfig', kubeconfig])).stderr;
  server.tokens = new Set(['second']);
  expect(await failure()).toMatch(/^gpulint: test: the API server rejects the credentials; log in again/);
  server.tokens = undefined;
  server.rights = {};
  expect(await failure()).toMatch(/^gpulint: The user of context test may not list nodes: bind the ClusterRole/);
  server.fault = (_, response) => response.destroy() !== undefined;
  expect(await failure()).toMatch(/^gpulint: test: the connection to the API server was closed/);
});

const job = (name: string, gpus: number) => `apiVersion: v1
kind: Pod
metadata: { name: ${name}, namespace: team }
spec:
  tolerations: [{ key: nvidia.com/gpu, operator: Exists }]
  containers:
    - { name: main, image: "nvcr.io/nvidia/pytorch:24.05-py3", resources: { limits: { nvidia.com/gpu: ${gpus} } } }
`;

test('check --cluster says whether workloads would run', async () => {
  fillCluster(server);
  writeFileSync(path.join(folder, '.gpulint.yaml'), 'prices: { instanceTypes: { a2-highgpu-8g: 10 } }\n');
  writeFileSync(path.join(folder, 'jobs.yaml'), `${job('small', 4)}---\n${job('large', 8)}`);
  const env = { KUBECONFIG: kubeconfig };
  const { stdout, stderr } = await runCli(['check', 'jobs.yaml', '--cluster'], { cwd: folder, env });
  expect(stderr).toBe('');
  expect(stdout).toContain('fits now in pool a100 (4 free)');
  expect(stdout).toContain('waits: ');
  expect(stdout).toMatch(
    /^Cluster test, as of \d\d:\d\d: 16 GPUs, 4 free · \$20\.00\/h · \$5\.00\/h idle \(a2-highgpu-8g at the price in the config\)$/m,
  );
  const { stdout: markdown } = await runCli(['check', 'jobs.yaml', '--cluster', '--format', 'markdown'], {
    cwd: folder,
    env,
  });
  expect(markdown).toMatch(/^Cluster test, as of .*16 GPUs, 4 free/m);
  expect(markdown).toMatch(/^\| Workload \| Requests \| Cost \| Would it run\? \| Location \|$/m);
  expect(markdown).toMatch(/\| fits now in pool a100 \(4 free\) \|/);
  const { stdout: json } = await runCli(['check', 'jobs.yaml', '--cluster', 'test', '--format', 'json'], {
    cwd: folder,
    env,
  });
  expect(JSON.parse(json).cluster).toEqual({
    context: 'test',
    serverVersion: 'v1.34.1',
    asOf: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    nodes: 2,
    devices: { total: 16, free: 4, used: 12, unavailable: 0 },
    hourly: { min: 20, max: 20 },
    idleHourly: { min: 5, max: 5 },
    unpricedNodes: 0,
    basis: ['a2-highgpu-8g at the price in the config'],
  });
  expect(JSON.parse(json).files[0].workloads).toMatchObject([
    { name: 'small', cluster: { context: 'test', outcome: 'fits', fitting: 1, pods: 1, words: null } },
    {
      name: 'large',
      cluster: { outcome: 'waits', fitting: 0, words: expect.stringMatching(/^0\/2 nodes are available: /) },
    },
  ]);
});

test('check --cluster without a cluster is an error, and check alone reads no kubeconfig', async () => {
  writeFileSync(path.join(folder, 'job.yaml'), job('small', 4));
  const env = { KUBECONFIG: path.join(folder, 'missing') };
  const failed = await runCli(['check', 'job.yaml', '--cluster'], { cwd: folder, env });
  expect(failed).toMatchObject({ status: 2, stderr: 'gpulint: None of the files in KUBECONFIG exist\n' });
  expect((await runCli(['check', 'job.yaml'], { cwd: folder, env })).stderr).toBe('');
  expect(server.requests).toEqual([]);
});

test('--watch prints again when a figure changes', async () => {
  fillCluster(server);
  const child: ChildProcess = spawn(process.execPath, [
    cli,
    'cluster',
    '--kubeconfig',
    kubeconfig,
    '--watch',
    '--format',
    'json',
  ]);
  onTestFinished(() => void child.kill());
  const lines: string[] = [];
  const frees = () => lines.map((line) => JSON.parse(line).totals.devices.free);
  let rest = '';
  const printed = new Promise<void>((resolve) => {
    child.stdout?.on('data', (part: Buffer) => {
      const all = (rest + part.toString()).split('\n');
      rest = all.pop() ?? '';
      lines.push(...all);
      if (lines.length > 0 && frees().at(-1) === 4) server.put('/api/v1/pods', gpuPod('new', 2, 'n2'));
      if (frees().at(-1) === 2) resolve();
    });
  });
  await printed;
  child.kill();
  await once(child, 'exit');
  expect(frees()).toContain(4);
});

test('--watch separates the tables in a pipe', async () => {
  fillCluster(server);
  const child = spawn(process.execPath, [cli, 'cluster', '--kubeconfig', kubeconfig, '--watch']);
  onTestFinished(() => void child.kill());
  let printed = '';
  await new Promise<void>((resolve) => {
    child.stdout.on('data', (part: Buffer) => {
      const isFirst = printed === '';
      printed += part.toString();
      if (isFirst) server.put('/api/v1/pods', gpuPod('new', 2, 'n2'));
      if (/16 GPUs, 2 free/.test(printed)) resolve();
    });
  });
  child.kill();
  await once(child, 'exit');
  const [first = '', ...others] = printed.split(/^(?=test )/m);
  expect(first).toMatch(/^test /);
  expect(others.length).toBeGreaterThan(0);
  for (const table of printed.split(/^(?=test )/m).slice(0, -1)) expect(table).toMatch(/[^\n]\n\n$/);
});
