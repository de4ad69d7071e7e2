import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import Ajv2020 from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import type { Report } from '../../server/src/cli/reports/report-schema.ts';
import { podText } from './ci-project.ts';
import { fixtures, root, runCli, temporaryFolder } from './run-cli.ts';

describe('the text report', () => {
  test('matches the fixture', async () => {
    const { stdout, stderr } = await runCli(['check', 'project']);
    expect(stderr).toBe('');
    await expect(stdout).toMatchFileSnapshot(path.join(fixtures, 'project.txt'));
  });

  test('has only findings with --quiet', async () => {
    const { stdout, status } = await runCli(['check', '--quiet', 'project/serving/chat.yaml']);
    expect(status).toBe(1);
    expect(stdout.split('\n')[0]).toMatch(
      /^project\/serving\/chat\.yaml:\d+:\d+ {2}error {4}.* {2}gpu-limits-required$/,
    );
    expect(stdout).not.toContain('InferenceService/chat ');
    expect(stdout).not.toContain('1 file');
  });

  test('counts workloads that run, distinguishes memory from GPUs, and explains once how to set an unknown GPU model', async () => {
    const pods = ['nvidia.com/gpu: 1', 'amd.com/gpu: 1', 'aliyun.com/gpu-mem: 8'].map((limit, index) =>
      podText({ name: `pod-${index}`, resources: `limits: {${limit}}` }),
    );
    const claims =
      'apiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {name: one}\nspec:\n  spec:\n    devices:\n      requests:\n        - {name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}\n';
    const { stdout } = await runCli(['check', '-'], { input: [...pods, claims].join('---\n') });
    expect(stdout.match(/GPU model unknown for some workloads/g)).toHaveLength(1);
    expect(stdout).toContain('8 × aliyun.com/gpu-mem');
    expect(stdout).toContain('1 file, 3 workloads, 1 definition, ');
    const named = await runCli(['check', '-'], { input: pods[2] ?? '' });
    expect(named.stdout).not.toContain('GPU model unknown for some workloads');
  });

  test('does not ask for a GPU model if the manifest leaves a choice of cards, or if another file counts the workload', async () => {
    const hint = 'GPU model unknown for some workloads';
    const slice = podText({ name: 'slice', resources: 'limits: {nvidia.com/mig-1g.10gb: 1}' });
    const { stdout } = await runCli(['check', '-'], { input: slice });
    expect(stdout).toContain('1 × MIG 1g.10gb');
    expect(stdout).not.toContain(hint);

    const cwd = temporaryFolder();
    writeFileSync(path.join(cwd, 'pod.yaml'), podText({ name: 'chat', resources: 'limits: {nvidia.com/gpu: 1}' }));
    expect((await runCli(['check', '.'], { cwd })).stdout).toContain(hint);
    const patch =
      '{apiVersion: v1, kind: Pod, metadata: {name: chat}, spec: {nodeSelector: {nvidia.com/gpu.product: NVIDIA-L4}}}';
    writeFileSync(
      path.join(cwd, 'kustomization.yaml'),
      `resources: [pod.yaml]\npatches:\n  - patch: |\n      ${patch}\n`,
    );
    const counted = (await runCli(['check', '.'], { cwd })).stdout;
    expect(counted).toContain('counted in kustomization.yaml');
    expect(counted).not.toContain(hint);
  });

  test('omits files without accelerators', async () => {
    const { stdout, status } = await runCli(['check', 'project/plain']);
    expect(stdout).toBe('4 files, 0 workloads: no findings\n');
    expect(status).toBe(0);
  });

  test('shows the basis of its amounts in one line: providers, regions, the oldest and newest date', async () => {
    const gpu = (name: string, labels: string) =>
      podText({ name, resources: 'limits: {nvidia.com/gpu: 1}' }).replace(
        'spec:\n',
        `spec:\n  nodeSelector: {${labels}}\n`,
      );
    const region = 'topology.kubernetes.io/region';
    const pods = [
      gpu('a', `node.kubernetes.io/instance-type: g6.xlarge, ${region}: us-east-1`),
      gpu(
        'b',
        `cloud.google.com/gke-accelerator: nvidia-l4, cloud.google.com/gke-spot: "true", ${region}: us-central1`,
      ),
      gpu('c', `node.kubernetes.io/instance-type: g6.xlarge, ${region}: us-west-2`),
    ];
    const { stdout } = await runCli(['check', '-'], { input: pods.join('---\n') });
    expect(stdout.split('\n').at(-3)).toMatch(
      /^Prices: on demand at AWS us-east-1 and AWS us-west-2, spot at Google Cloud us-central1, as of [\d-]{10} to [\d-]{10}; 730 h per month; /,
    );
    expect((await runCli(['check', '--quiet', '-'], { input: pods.join('---\n') })).stdout).not.toContain('Prices');

    const cwd = temporaryFolder();
    const basisWith = async (config: string, pod: string) => {
      writeFileSync(path.join(cwd, '.gpulint.yaml'), config);
      writeFileSync(path.join(cwd, 'pod.yaml'), pod);
      return (await runCli(['check', '.'], { cwd })).stdout.split('\n').find((line) => line.startsWith('Prices'));
    };
    const [g6 = ''] = pods;
    expect(await basisWith('prices: {discountPercent: 50}\n', g6)).toContain(', minus your discount; ');
    expect(await basisWith('prices: {instanceTypes: {g6.xlarge: 1}}\n', g6)).toMatch(/^Prices: your prices; /);
    const onSpot = g6.replace('g6.xlarge', 'g6.xlarge, karpenter.sh/capacity-type: spot');
    expect(await basisWith('prices: {instanceTypes: {g6.xlarge: 1}}\n', onSpot)).toMatch(
      /^Prices: spot at AWS us-east-1, as of [\d-]{10}; /,
    );
  });

  test('makes control characters in files visible', async () => {
    const pod = podText({ name: '"a\\u001b]0;owned\\u0007b"', resources: 'requests: {nvidia.com/gpu: 1}' });
    const { stdout } = await runCli(['check', '-'], { input: pod });
    expect(stdout).toContain('Pod/a\\u001b]0;owned\\u0007b');
    expect(stdout).not.toContain('\u001b');
    expect(stdout).not.toContain('\u0007');
  });

  test.each([
    [{}, [], false],
    [{ FORCE_COLOR: '1' }, [], true],
    [{ FORCE_COLOR: '0' }, [], false],
    [{ NO_COLOR: '1', FORCE_COLOR: '1' }, [], false],
    [{ NO_COLOR: '1' }, ['--color'], true],
    [{ FORCE_COLOR: '1' }, ['--no-color'], false],
  ])('with %o and %o: color is %o', async (env, flags, coloured) => {
    const { stdout } = await runCli(['check', ...flags, 'project/serving'], { env });
    expect(stdout.includes('\u001b[')).toBe(coloured);
  });
});

describe('the JSON report', () => {
  test('matches its schema, with all files in the order of the paths', async () => {
    const { stdout, stderr } = await runCli(['check', '--format', 'json', 'project']);
    const report: Report = JSON.parse(stdout);
    const schema = JSON.parse(readFileSync(path.join(root, 'schemas/report.schema.json'), 'utf8'));
    const validate = new Ajv2020({ formats: { uri: true } }).compile(schema);
    validate(report);
    expect(validate.errors ?? []).toEqual([]);
    expect(stderr).toBe('');
    expect(report.files.map((file) => [file.path, file.parse])).toEqual([
      ['chart/templates/server.yaml.tpl', 'template'],
      ['plain/ci.yml', 'ok'],
      ['plain/package.json', 'ok'],
      // A comment as of JavaScript: neither JSON nor YAML.
      ['plain/tsconfig.json', 'error'],
      ['plain/values.yaml', 'ok'],
      ['serving/chat.yaml', 'ok'],
      ['training/broken.yaml', 'error'],
    ]);
  });

  test('contains a workload, its cost and its findings', async () => {
    const { stdout } = await runCli(['check', '--format', 'json', 'project/serving/chat.yaml']);
    const report: Report = JSON.parse(stdout);
    const [file] = report.files;
    expect(file).toMatchObject({ path: 'project/serving/chat.yaml', parse: 'ok', problem: null });
    expect(file).not.toHaveProperty('folder');
    expect(file!.workloads).toHaveLength(1);
    expect(file!.workloads[0]).toMatchObject({
      apiVersion: 'serving.kserve.io/v1beta1',
      kind: 'InferenceService',
      name: 'chat',
      namespace: null,
      line: 1,
      column: 1,
      role: 'serving',
      gpus: { min: 1, max: 3 },
      provider: 'aws',
      region: 'us-east-1',
      providerFrom: 'config',
      memory: [],
    });
    const { cost } = file!.workloads[0]!;
    expect(cost!.hourly.max).toBeCloseTo(3 * cost!.hourly.min, 6);
    expect(report.summary).toMatchObject({ files: 1, workloads: 1, gpus: { min: 1, max: 3 }, hourly: cost!.hourly });
    const limits = file!.findings.find(({ rule }) => rule === 'gpu-limits-required');
    expect(limits).toMatchObject({
      severity: 'error',
      topic: 'gpu-request',
      workload: 'InferenceService/chat',
      container: 'kserve-container',
      range: { start: { line: 16, column: 13 }, end: { line: 16, column: 27 } },
    });
  });

  test('keeps the other documents of a file with a broken one', async () => {
    const { stdout } = await runCli(['check', '--format', 'json', 'project/training/broken.yaml']);
    const [file] = (JSON.parse(stdout) as Report).files;
    expect(file!.parse).toBe('error');
    expect(file!.problem).toBeTruthy();
    expect(file!.workloads.map(({ name }) => name)).toEqual(expect.arrayContaining(['before', 'after']));
    const rules = file!.findings.map(({ rule, range }) => [rule, range.start.line]);
    expect(rules).toContainEqual(['gpu-limits-required', 14]);
    expect(rules.filter(([rule]) => rule === 'gpu-requests-equal-limits')).toHaveLength(1);
    expect(file!.findings.filter(({ topic }) => topic === 'syntax')).toHaveLength(1);
  });

  test('contains the folder that a path is relative to', async () => {
    const { stdout } = await runCli(['check', '--format', 'json', 'project/serving', 'project/training']);
    const { files } = JSON.parse(stdout) as Report;
    expect(files.map(({ folder, path }) => [folder, path])).toEqual([
      ['project/serving', 'chat.yaml'],
      ['project/training', 'broken.yaml'],
    ]);
  });

  test('contains a file once if two paths lead to it', async () => {
    const { stdout } = await runCli(['check', '--format', 'json', 'project/serving', 'project/serving/chat.yaml']);
    expect((JSON.parse(stdout) as Report).files).toHaveLength(1);
  });
});

describe('the exit status', () => {
  test.each([
    [['project/plain'], 0],
    [['project/serving'], 1],
    [['--fail-on', 'never', 'project/serving'], 0],
    [['--fail-on', 'warning', 'project/serving'], 1],
    [['--fail-on', 'hint', 'project/plain'], 0],
    [['project/missing.yaml'], 2],
    [['project/missing.yaml', 'project/serving'], 2],
    [['project/missing.yaml', 'project/plain'], 2],
  ])('of check %o is %i', async (args, expected) => {
    expect((await runCli(['check', ...args])).status).toBe(expected);
  });
});

describe('standard input', () => {
  test('is checked under the given name, with the config nearest to it', async () => {
    const input = readFileSync(path.join(fixtures, 'project/serving/chat.yaml'));
    const args = ['check', '--format', 'json', '-', '--stdin-filename', 'project/serving/other.yaml'];
    const { stdout, status } = await runCli(args, { input });
    const { files } = JSON.parse(stdout) as Report;
    expect(status).toBe(1);
    expect(files).toHaveLength(1);
    expect(files[0]!.path).toBe('project/serving/other.yaml');
    expect(files[0]!.workloads[0]!.provider).toBe('aws');
  });

  test('is not changed by --fix', async () => {
    const { status, stderr, stdout } = await runCli(['check', '--fix', '-'], { input: '{}' });
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toBe('gpulint: --fix cannot change standard input: name a file\n');
  });
});
