import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { type CheckRun, checkInTurns } from '../../server/src/cli/check-run.ts';
import { checkAllManifests } from '../../server/src/cli/check-threads.ts';
import type { CheckedFile } from '../../server/src/cli/reports/format.ts';
import type { ReportFile } from '../../server/src/cli/reports/report-schema.ts';
import { defaultConfig } from '../../server/src/config.ts';
import { type CliResult, runCli, temporaryFolder } from './run-cli.ts';

const runtime = `apiVersion: serving.kserve.io/v1alpha1
kind: ServingRuntime
metadata: {name: vllm}
spec:
  nodeSelector: {nvidia.com/gpu.product: NVIDIA-L4}
  containers:
    - {name: kserve-container, image: registry.example/vllm:1.2, resources: {limits: {nvidia.com/gpu: 4}}}
`;

function service(name: string, ofRuntime: string): string {
  return `apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: ${name}}
spec:
  predictor:
    model: {modelFormat: {name: huggingface}, runtime: ${ofRuntime}}
`;
}

function deployment(name: string): string {
  return `apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}}
spec:
  replicas: 2
  selector: {matchLabels: {app: ${name}}}
  template:
    metadata: {labels: {app: ${name}}}
    spec:
      tolerations: [{key: nvidia.com/gpu, operator: Exists, effect: NoShedule}]
      containers: [{name: server, image: "registry.example/server:1.2", resources: {requests: {nvidia.com/gpu: 1}}}]
`;
}

/** Teams whose services refer to a runtime, a name with a typo, a base in another folder; and files that cannot be checked. */
function project(): string {
  const folder = temporaryFolder();
  const write = (name: string, text: string | Buffer) => {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  };
  write('.gpulint.yaml', 'provider: gcp\noverrides:\n  - {files: ["team-3/**"], provider: aws}\n');
  write('runtimes.yaml', runtime);
  for (let team = 0; team < 12; team += 1) {
    write(`team-${team}/chat.yaml`, service(`chat-${team}`, team % 3 === 0 ? 'vllmm' : 'vllm'));
    write(`team-${team}/base/server.yaml`, deployment(`server-${team}`));
    write(`team-${team}/base/kustomization.yaml`, 'resources: [server.yaml]\n');
    write(
      `team-${team}/overlay/kustomization.yaml`,
      `resources: [../base]\nreplicas: [{name: server-${team}, count: 5}]\n`,
    );
  }
  write('team-1/broken.yaml', 'kind: [\n');
  write('team-2/chart/Chart.yaml', 'name: chart\n');
  write('team-2/chart/values.yaml', Buffer.from([0xff, 0xfe, 0x61, 0]));
  for (const name of ['a', 'b']) write(`team-2/chart/templates/${name}.yaml`, deployment(`{{ .Values.${name} }}`));
  return folder;
}

function checkWith(threads: number, args: readonly string[], cwd: string, nodeOptions = ''): Promise<CliResult> {
  return runCli(['check', '.', ...args], { cwd, env: { GPULINT_THREADS: String(threads), NODE_OPTIONS: nodeOptions } });
}

test.each(['json', 'text', 'full', 'sarif'])('the %s report of several threads is that of one', async (format) => {
  const folder = project();
  const alone = await checkWith(1, ['--format', format], folder);
  expect(alone.stdout).toContain('vllmm');
  expect(alone.stdout).toContain('NoShedule');
  expect(alone.stderr.match(/team-2\/chart\/values\.yaml is not read/g)).toHaveLength(1);
  for (const threads of [2, 3, 9]) expect(await checkWith(threads, ['--format', format], folder)).toEqual(alone);
});

test('a wrong config ends a run of several threads with one message', async () => {
  const folder = project();
  writeFileSync(path.join(folder, 'team-5', '.gpulint.yaml'), 'provider: 1\n');
  const alone = await checkWith(1, [], folder);
  expect(alone.status).toBe(2);
  expect(await checkWith(2, [], folder)).toEqual(alone);
});

test('the first thread checks the files of one that fails', async () => {
  const folder = project();
  const alone = await checkWith(1, ['--format', 'json'], folder);
  const preload = path.join(temporaryFolder(), 'fail.cjs');
  writeFileSync(preload, "if (!require('node:worker_threads').isMainThread) throw new Error('no memory');\n");
  const failing = await checkWith(2, ['--format', 'json'], folder, `--require ${preload}`);
  expect(failing.stdout).toBe(alone.stdout);
  expect(failing.stderr).toContain('a worker thread failed: no memory; another one checks its files');
});

/** A run whose check says which file it had, and counts how often each was checked. */
function fakeRun(count: number): { readonly run: CheckRun; readonly checked: Map<string, number> } {
  const checked = new Map<string, number>();
  const names = Array.from({ length: count }, (_, index) => `${index}.yaml`);
  const run: CheckRun = {
    manifests: names.map((name) => ({ input: { file: name, path: name, folder: '.' }, config: defaultConfig })),
    async check({ input }) {
      checked.set(input.path, (checked.get(input.path) ?? 0) + 1);
      return fakeResult(input.path);
    },
    lookAhead: async () => () => undefined,
    clusterView: () => undefined,
    terraformProblems: () => [],
    terraformPools: () => [],
    indexAgain: () => undefined,
    close: () => undefined,
  };
  return { run, checked };
}

function fakeResult(name: string): CheckedFile {
  const file: ReportFile = { path: name, parse: 'ok', problem: null, workloads: [], findings: [] };
  return { file, source: name, workloads: [], rows: [], pools: [], costs: [], outcome: 'checked' };
}

test('files are divided without overlap, and the order of the results is that of the files', async () => {
  const { run, checked } = fakeRun(50);
  const taken = new Int32Array(1);
  // The other thread fails after the first file of its first turn.
  const first = await checkInTurns(run, taken).next();
  const fromOther = first.done === true ? [] : [first.value];
  const shared = { taken, checked: async () => fromOther, stop: () => undefined };
  const results = await checkAllManifests(run, shared);
  const names = Array.from({ length: 50 }, (_, index) => `${index}.yaml`);
  expect(results.map(({ checked: { source } }) => source)).toEqual(names);
  expect(new Map(names.map((name) => [name, 1]))).toEqual(checked);
});
