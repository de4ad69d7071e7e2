import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { CostJson } from '../../server/src/cli/cost/cost-schema.ts';
import type { Report } from '../../server/src/cli/reports/report-schema.ts';
import { deploymentOf } from '../support/deployment.ts';
import { runCli, temporaryFolder } from './run-cli.ts';

// One H100 on p5.4xlarge is $6.88/h.
const place = '{node.kubernetes.io/instance-type: p5.4xlarge, topology.kubernetes.io/region: us-east-1}';
const resources = '{limits: {nvidia.com/gpu: 1}}';

const deployment = deploymentOf(
  `nodeSelector: ${place}
containers: [{name: server, image: 'vllm/vllm-openai:v0.11.0', resources: ${resources}}]
`,
  { spec: 'replicas: 1' },
);
const values = (replicas: number) => `replicaCount: ${replicas}
image: {repository: vllm/vllm-openai, tag: v0.11.0}
resources: ${resources}
nodeSelector: ${place}
`;
const template = deployment
  .replace('replicas: 1', 'replicas: {{ .Values.replicaCount }}')
  .replace(resources, '{{ toYaml .Values.resources }}');
const chart = { 'chart/Chart.yaml': 'apiVersion: v2\nname: chat\nversion: 1.0.0\n', 'chart/values.yaml': values(2) };

/** The rows of `gpulint cost` as `file dollars`, whose sum is the total, in both reports. */
async function costs(files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const cwd = temporaryFolder();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.join(cwd, path.dirname(name)), { recursive: true });
    writeFileSync(path.join(cwd, name), text);
  }
  const json = async (...args: string[]) => (await runCli([...args, '--format', 'json'], { cwd })).stdout;
  const { workloads, after } = JSON.parse(await json('cost')) as CostJson;
  const amounts = workloads.map((one) => one.after?.hourly ?? { min: 0, max: 0 });
  const sum = (end: 'min' | 'max') => Number(amounts.reduce((total, one) => total + one[end], 0).toFixed(6));
  expect(after.hourly).toEqual({ min: sum('min'), max: sum('max') });
  const report = await json('check');
  const { summary } = JSON.parse(report) as Report;
  expect(summary).toMatchObject({ hourly: after.hourly, gpus: after.gpus });
  expect(summary.unpriced ?? 0).toBe(after.unpriced);
  writeFileSync(path.join(cwd, 'report.txt'), report);
  const compared = JSON.parse(await json('cost', '--compare', 'report.txt')) as CostJson;
  expect(compared.before).toEqual(after);
  return workloads.map((one) => `${one.after?.path} ${one.after?.hourly?.max.toFixed(2)}`);
}

test('reports count the workloads that have no price', async () => {
  const unknown = deployment.replace(place, '{pool: a}');
  expect(await costs({ 'a.yaml': unknown, 'b.yaml': deployment })).toEqual(['a.yaml undefined', 'b.yaml 6.88']);
});

describe('totals count', () => {
  test('a base and its overlays once for each overlay', async () => {
    expect(
      await costs({
        'base/kustomization.yaml': 'resources: [chat.yaml]\n',
        'base/chat.yaml': deployment,
        'dev/kustomization.yaml': 'resources: [../base]\n',
        'prod/kustomization.yaml': 'resources: [../base]\nreplicas: [{name: chat, count: 3}]\n',
        'prod/patch.yaml': 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: chat}\n',
      }),
    ).toEqual(['dev/kustomization.yaml 6.88', 'prod/kustomization.yaml 20.64']);
  });

  test('what a patch with a selector changes', async () => {
    const labeled = (name: string, tier: string) =>
      deployment.replace('{name: chat}', `{name: ${name}, labels: {tier: ${tier}}}`);
    const files = (selector: string) => ({
      'base/kustomization.yaml': 'resources: [a.yaml, b.yaml]\n',
      'base/a.yaml': labeled('a', 'gold'),
      'base/b.yaml': labeled('b', 'tin'),
      'prod/kustomization.yaml': `resources: [../base]
patches:
  - target: {kind: Deployment, labelSelector: '${selector}'}
    patch: '[{op: replace, path: /spec/replicas, value: 3}]'
`,
    });
    expect(await costs(files('tier=gold'))).toEqual(['prod/kustomization.yaml 20.64', 'prod/kustomization.yaml 6.88']);
    expect(await costs(files('tier>gold'))).toEqual(['prod/kustomization.yaml 6.88', 'prod/kustomization.yaml 6.88']);
  });

  test("a template with its chart's values once", async () => {
    expect(await costs({ ...chart, 'chart/templates/chat.yaml': template })).toEqual([
      'chart/templates/chat.yaml 13.76',
    ]);
  });

  test('each release that overrides the values of a chart, instead of the chart', async () => {
    expect(
      await costs({
        ...chart,
        'chart/templates/chat.yaml': template,
        'chart/values-dev.yaml': values(1),
        'chart/values-prod.yaml': values(4),
      }),
    ).toEqual(['chart/values-dev.yaml 6.88', 'chart/values-prod.yaml 27.52']);
  });

  test('a release that sets some values, with the values of its chart and all of its templates', async () => {
    const files = { ...chart, 'chart/templates/chat.yaml': template, 'chart/templates/batch/more.yaml': template };
    const prod = { 'chart/values-prod.yaml': 'replicaCount: 5\n' };
    expect(await costs({ ...files, ...prod })).toEqual([
      'chart/values-prod.yaml 34.40',
      'chart/values-prod.yaml 34.40',
    ]);
    // Without a chart, nothing is known about what the values are for.
    expect(await costs({ 'values.yaml': values(2), 'values-prod.yaml': 'replicaCount: 5\n' })).toEqual([
      'values.yaml 13.76',
    ]);
  });

  test.each([
    ['a loop around documents', '{{- range .Values.models }}\n---\nTEMPLATE{{- end }}\n', '.replicas'],
    ['a variable of an earlier document', '{{- $all := .Values }}\n---\nTEMPLATE', '$all.count'],
    ['a block around documents', '{{- if .Values.isOn }}\n---\nTEMPLATE---\nTEMPLATE{{- end }}\n', '.Values.count'],
  ])('a release with %s', async (_, text, replicas) => {
    const each = deployment.replace('replicas: 1', `replicas: {{ ${replicas} }}`);
    const files = {
      ...chart,
      'chart/values.yaml': 'models: [{replicas: 1}]\ncount: 1\nisOn: true\n',
      'chart/templates/chat.yaml': text.replaceAll('TEMPLATE', each),
      'chart/values-prod.yaml': 'models: [{replicas: 2}, {replicas: 3}]\ncount: 5\n',
    };
    const rows = await costs(files);
    expect(new Set(rows.map((row) => row.split(' ')[0]))).toEqual(new Set(['chart/values-prod.yaml']));
    // 2 + 3 pods, or 5 of each document.
    const total = rows.reduce((sum, row) => sum + Number(row.split(' ')[1]), 0);
    expect(total.toFixed(2)).toBe(text.includes('isOn') ? '68.80' : '34.40');
  });

  test('values that change no GPU workload as a part of a release', async () => {
    expect(
      await costs({
        ...chart,
        'chart/templates/chat.yaml': template,
        'chart/values-ingress.yaml': 'ingress: {enabled: true}\n',
      }),
    ).toEqual(['chart/templates/chat.yaml 13.76']);
  });

  test('values that repeat those of the chart as a release', async () => {
    // One replica in dev, as in the chart, and three in prod; the values of the ingress are no release.
    expect(
      await costs({
        ...chart,
        'chart/values.yaml': values(1),
        'chart/templates/chat.yaml': template,
        'chart/values-dev.yaml': 'replicaCount: 1\n',
        'chart/values-prod.yaml': 'replicaCount: 3\n',
        'chart/values-ingress.yaml': 'ingress: {enabled: true}\n',
      }),
    ).toEqual(['chart/values-dev.yaml 6.88', 'chart/values-prod.yaml 20.64']);
  });

  test("a chart's values under its name in the values of the chart above, instead of its own", async () => {
    const engine = {
      'chart/charts/engine/Chart.yaml': 'apiVersion: v2\nname: engine\nversion: 1.0.0\n',
      'chart/charts/engine/values.yaml': values(2),
      'chart/charts/engine/templates/chat.yaml': template,
    };
    expect(await costs(engine)).toEqual(['chart/charts/engine/templates/chat.yaml 13.76']);
    const above = `engine:\n${values(3).replace(/^(?=.)/gm, '  ')}`;
    expect(await costs({ ...engine, 'chart/values.yaml': above })).toEqual(['chart/values.yaml 20.64']);
    expect(await costs({ ...engine, 'chart/values.yaml': above.replace('engine:', 'other:') })).toEqual([
      'chart/charts/engine/templates/chat.yaml 13.76',
      'chart/values.yaml 20.64',
    ]);
  });

  test('values without a readable template as one release, and without a written number one replica', async () => {
    expect(await costs(chart)).toEqual(['chart/values.yaml 13.76']);
    expect(await costs({ 'prod/values.yaml': values(2).replace('replicaCount: 2', '') })).toEqual([
      'prod/values.yaml 6.88',
    ]);
    expect(await costs({ 'values.yaml': `server:\n  enabled: false\n  resources: ${resources}\n` })).toEqual([]);
  });

  test('a definition only where it is used', async () => {
    const runtime = `apiVersion: serving.kserve.io/v1alpha1
kind: ServingRuntime
metadata: {name: vllm}
spec:
  supportedModelFormats: [{name: huggingface}]
  nodeSelector: ${place}
  containers: [{name: kserve-container, image: 'vllm/vllm-openai:v0.11.0', resources: ${resources}}]
`;
    const service = `apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: chat}
spec:
  predictor:
    minReplicas: 1
    maxReplicas: 1
    model: {modelFormat: {name: huggingface}, runtime: vllm, storageUri: 'hf://a/b'}
`;
    expect(await costs({ 'runtime.yaml': runtime })).toEqual([]);
    expect(await costs({ 'runtime.yaml': runtime, 'chat.yaml': service })).toEqual(['chat.yaml 6.88']);
  });

  test('a profile to choose from never', async () => {
    const profiles = `resourceProfiles:\n  h100:\n    limits: {nvidia.com/gpu: 1}\n    nodeSelector: ${place}\n`;
    expect(await costs({ 'values.yaml': profiles })).toEqual([]);
  });
});
