import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { Report } from '../../server/src/cli/reports/report-schema.ts';
import { runCli, temporaryFolder } from './run-cli.ts';

const files = {
  'a-prod/kustomization.yaml': 'resources: [../base]\n',
  'base/kustomization.yaml': 'resources: [pod.yaml]\n',
  'base/pod.yaml': `apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {containers: [{name: c, resources: {limits: {nvidia.com/gpus: 1}}}]}
`,
  'serve/a-isvc.yaml': `apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: llama}
spec: {predictor: {minReplicas: 1, maxReplicas: 1, model: {modelFormat: {name: vllm}, runtime: vllm}}}
`,
  'serve/b-runtime.yaml': `apiVersion: serving.kserve.io/v1alpha1
kind: ServingRuntime
metadata: {name: vllm}
spec: {containers: [{name: kserve-container, resources: {limits: {nvidia.com/gpus: 2}}}]}
`,
};

test('files that depend on a fixed file are reported as they are after the fix', async () => {
  const cwd = temporaryFolder();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.join(cwd, path.dirname(name)), { recursive: true });
    writeFileSync(path.join(cwd, name), text);
  }
  const fix = async () => {
    const { stdout, stderr } = await runCli(['check', '--fix', '.', '--no-config', '--format', 'json'], { cwd });
    return { report: JSON.parse(stdout) as Report, stderr };
  };
  const first = await fix();
  expect(first.stderr.match(/fixed: .*/g)).toHaveLength(2);
  expect(first.report.summary.gpus).toEqual({ min: 3, max: 3 });
  const second = await fix();
  expect(second.stderr).toBe('');
  expect(first.report.files.map(({ fixed, ...file }) => file)).toEqual(second.report.files);
  expect(first.report.summary).toEqual(second.report.summary);
});
