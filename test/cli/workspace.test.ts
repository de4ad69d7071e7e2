import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { Report } from '../../server/src/cli/reports/report-schema.ts';
import { modelConfig, servedByRuntime, servedPod } from '../support/manifests.ts';
import { runCli, temporaryFolder } from './run-cli.ts';

const runtime = `apiVersion: serving.kserve.io/v1alpha1
kind: ServingRuntime
metadata: {name: vllm}
spec:
  nodeSelector: {nvidia.com/gpu.product: NVIDIA-L4}
  containers:
    - name: kserve-container
      image: registry.example/vllm:1.2
      resources: {limits: {nvidia.com/gpu: 4}}
`;

/** The number of GPUs of the services in the report for these paths. */
async function gpusOf(args: readonly string[], cwd: string): Promise<readonly (number | null)[]> {
  const { stdout } = await runCli(['check', '--format', 'json', ...args], { cwd });
  const report = JSON.parse(stdout) as Report;
  return report.files
    .flatMap(({ workloads }) => workloads)
    .filter(({ kind }) => kind === 'InferenceService')
    .map(({ gpus }) => gpus.min);
}

test('only the files of a run are analyzed together', async () => {
  const folder = temporaryFolder();
  mkdirSync(path.join(folder, 'platform'));
  writeFileSync(path.join(folder, 'chat.yaml'), servedByRuntime);
  writeFileSync(path.join(folder, 'platform/runtimes.yaml'), `\ufeff# the runtimes\n${runtime}`);
  expect(await gpusOf(['.'], folder)).toEqual([4]);
  expect(await gpusOf(['chat.yaml', 'platform/runtimes.yaml'], folder)).toEqual([4]);
  expect(await gpusOf(['chat.yaml'], folder)).toEqual([]);
  const { stdout } = await runCli(['check', '--format', 'json', '.'], { cwd: folder });
  expect(stdout).toContain('GPU count from ServingRuntime vllm in platform/runtimes.yaml');
});

test('a workload without an upper bound makes the sum open-ended', async () => {
  const folder = temporaryFolder();
  const endOf = async () => (await runCli(['check', '.'], { cwd: folder })).stdout;
  writeFileSync(path.join(folder, 'runtimes.yaml'), runtime);
  writeFileSync(path.join(folder, 'chat.yaml'), servedByRuntime);
  expect(await endOf()).toContain('1 workload, 1 definition, 4 GPUs, $');
  writeFileSync(path.join(folder, 'chat.yaml'), servedByRuntime.replace('    maxReplicas: 1\n', ''));
  expect(await endOf()).toContain('1 workload, 1 definition, 4 GPUs or more, from $');
});

test('a config.json in the folder of a model gives its shape', async () => {
  const folder = temporaryFolder();
  mkdirSync(path.join(folder, 'models/acme-chat'), { recursive: true });
  writeFileSync(path.join(folder, 'chat.yaml'), servedPod('./models/acme-chat'));
  const memory = async () => {
    const { stdout } = await runCli(['check', '--format', 'json', '.'], { cwd: folder });
    return (JSON.parse(stdout) as Report).files.flatMap((file) => file.workloads).flatMap((one) => one.memory);
  };
  expect(await memory()).toMatchObject([{ needGiB: null, unknown: 'no shape is known for ./models/acme-chat' }]);
  writeFileSync(path.join(folder, 'models/acme-chat/config.json'), modelConfig({}));
  expect(await memory()).toMatchObject([{ weightsGiB: 13.49, fits: true, unknown: null }]);
});
