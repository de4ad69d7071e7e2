import { expect, test } from 'vitest';
import { kustomizeProject } from './kustomize-project.ts';

const deployment = (resources: string, more = '') => `apiVersion: apps/v1
kind: Deployment
metadata: {name: speech}
spec:
  selector: {matchLabels: {app: speech}}
  template:
    metadata: {labels: {app: speech}}
    spec:
      containers:
        - name: server
          image: registry.example/speech-server:1.4
          ports: [{containerPort: 8000}]
          resources: ${resources}
${more}`;
const onCpu = deployment('{requests: {cpu: "1"}}');
const onGpu = deployment('{requests: {cpu: "1"}, limits: {nvidia.com/gpu: 1}}');

const scaler = (metric: string) => `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: speech}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: speech}
  maxReplicas: 4
  metrics:
    - ${metric}
`;
const cpu = 'resource: {name: cpu, target: {type: Utilization, averageUtilization: 70}}\n      type: Resource';
const queue = 'pods: {metric: {name: waiting}, target: {type: AverageValue, averageValue: "4"}}\n      type: Pods';
const metricPatch = (metric: string) =>
  `apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: speech}\nspec:\n  metrics:\n    - ${metric}\n`;
const gpuPatch = `apiVersion: apps/v1
kind: Deployment
metadata: {name: speech}
spec:
  template:
    spec:
      containers:
        - name: server
          resources: {limits: {nvidia.com/gpu: 1}}
`;
const operations = `- op: add
  path: /spec/template/spec/containers/0/resources/limits
  value: {nvidia.com/gpu: 1}
`;
const indented = (text: string) => text.replace(/^(?=.)/gm, '      ');

/** The findings of a file of the overlay: the rule and the text. */
async function foundIn(
  file: string,
  base: Readonly<Record<string, string>>,
  overlay: Readonly<Record<string, string>>,
) {
  const files = {
    'base/kustomization.yaml': `resources: [${Object.keys(base).join(', ')}]\n`,
    ...Object.fromEntries(Object.entries(base).map(([name, text]) => [`base/${name}`, text])),
    ...Object.fromEntries(Object.entries(overlay).map(([name, text]) => [`gpu/${name}`, text])),
  };
  const { documents, text } = await kustomizeProject(files).fileAt(`gpu/${file}`);
  return documents.flatMap(({ findings, base: offset }) =>
    findings
      .filter(({ severity }) => severity === 'error' || severity === 'warning')
      .map(({ rule, span }) => `${rule}: ${text.slice(offset + span.start, offset + span.end)}`),
  );
}

const patches = (...names: readonly string[]) => `patches: [${names.map((name) => `{path: ${name}}`).join(', ')}]\n`;
const withCpu = { 'app.yaml': onCpu, 'hpa.yaml': scaler(cpu) };
const kustomization = (rest: string) => ({ 'kustomization.yaml': `resources: [../base]\n${rest}` });

test('a patch that gives GPUs to what scales on CPU is wrong at its request', async () => {
  const wrong = [expect.stringMatching(/^cpu-metric-for-gpu: nvidia/)];
  const merged = { ...kustomization(patches('gpu.yaml')), 'gpu.yaml': gpuPatch };
  expect(await foundIn('gpu.yaml', withCpu, merged)).toEqual(wrong);
  const renamed = kustomization(`namePrefix: gpu-\n${patches('gpu.yaml')}`);
  expect(await foundIn('gpu.yaml', withCpu, { ...merged, ...renamed })).toEqual(wrong);
  const added = { 'kustomization.yaml': `resources: [../base, hpa.yaml]\n${patches('gpu.yaml')}` };
  const own = { ...merged, ...added, 'hpa.yaml': scaler(cpu) };
  expect(await foundIn('gpu.yaml', { 'app.yaml': onCpu }, own)).toEqual(wrong);
  const inline = kustomization(`patches:\n  - patch: |-\n${indented(gpuPatch)}`);
  expect(await foundIn('kustomization.yaml', withCpu, inline)).toEqual(wrong);
  const target = 'target: {kind: Deployment, name: speech}';
  const changed = kustomization(`patches:\n  - ${target}\n    patch: |-\n${indented(operations)}`);
  expect(await foundIn('kustomization.yaml', withCpu, changed)).toEqual(wrong);
  const file = { ...kustomization(`patches: [{path: ops.yaml, ${target}}]\n`), 'ops.yaml': operations };
  expect(await foundIn('ops.yaml', withCpu, file)).toEqual(wrong);
});

test('a patch that scales GPUs on CPU is wrong at its metric, and only there', async () => {
  const both = {
    ...kustomization(patches('gpu.yaml', 'hpa.yaml')),
    'gpu.yaml': gpuPatch,
    'hpa.yaml': metricPatch(cpu.replace('70', '85')),
  };
  expect(await foundIn('hpa.yaml', withCpu, both)).toEqual(['cpu-metric-for-gpu: cpu']);
  expect(await foundIn('gpu.yaml', withCpu, both)).toEqual([]);
  const alone = { ...kustomization(patches('hpa.yaml')), 'hpa.yaml': metricPatch(cpu) };
  const onQueue = { 'app.yaml': onGpu, 'hpa.yaml': scaler(queue) };
  expect(await foundIn('hpa.yaml', onQueue, alone)).toEqual(['cpu-metric-for-gpu: cpu']);
  const target = 'target: {kind: HorizontalPodAutoscaler}';
  const values = `- op: replace\n  path: /spec/metrics\n  value:\n    - ${cpu.replace('      type', '      type')}\n`;
  const inline = kustomization(`patches:\n  - ${target}\n    patch: |-\n${indented(values)}`);
  expect(await foundIn('kustomization.yaml', onQueue, inline)).toEqual(['cpu-metric-for-gpu: cpu']);
});

test('nothing is wrong without GPUs, with another metric, or if the base has the problem', async () => {
  const hpa = { ...kustomization(patches('hpa.yaml')), 'hpa.yaml': metricPatch(cpu.replace('70', '85')) };
  expect(await foundIn('hpa.yaml', withCpu, hpa)).toEqual([]);
  expect(await foundIn('hpa.yaml', { 'app.yaml': onGpu, 'hpa.yaml': scaler(cpu) }, hpa)).toEqual([]);
  const both = {
    ...kustomization(patches('gpu.yaml', 'hpa.yaml')),
    'gpu.yaml': gpuPatch,
    'hpa.yaml': metricPatch(queue),
  };
  expect(await foundIn('gpu.yaml', withCpu, both)).toEqual([]);
  expect(await foundIn('hpa.yaml', withCpu, both)).toEqual([]);
  const deleted = { ...both, 'hpa.yaml': `$patch: delete\n${metricPatch(cpu)}` };
  expect(await foundIn('gpu.yaml', withCpu, deleted)).toEqual([]);
  const more = { ...kustomization(patches('gpu.yaml')), 'gpu.yaml': gpuPatch.replace('gpu: 1', 'gpu: 2') };
  expect(await foundIn('gpu.yaml', { 'app.yaml': onGpu, 'hpa.yaml': scaler(cpu) }, more)).toEqual([]);
  const silenced = scaler(cpu).replace('speech}', 'speech, annotations: {gpulint.dev/disable: cpu-metric-for-gpu}}');
  const one = { ...kustomization(patches('gpu.yaml')), 'gpu.yaml': gpuPatch };
  expect(await foundIn('gpu.yaml', { 'app.yaml': onCpu, 'hpa.yaml': silenced }, one)).toEqual([]);
});

test('pods that share a volume of one node are wrong where they get GPUs', async () => {
  const volumes = '      volumes: [{name: models, persistentVolumeClaim: {claimName: models}}]\n';
  const claim = (mode: string) =>
    `apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: models}\nspec:\n  accessModes: [${mode}]\n  resources: {requests: {storage: 50Gi}}\n`;
  const base = (mode: string) => ({
    'app.yaml': deployment('{requests: {cpu: "1"}}', volumes),
    'hpa.yaml': scaler(queue),
    'claim.yaml': claim(mode),
  });
  const overlay = { ...kustomization(patches('gpu.yaml')), 'gpu.yaml': gpuPatch };
  expect(await foundIn('gpu.yaml', base('ReadWriteOnce'), overlay)).toEqual([
    expect.stringMatching(/^rwo-many-replicas: nvidia/),
  ]);
  expect(await foundIn('gpu.yaml', base('ReadWriteMany'), overlay)).toEqual([]);
});
