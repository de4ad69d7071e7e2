import { expect, test } from 'vitest';
import { deploymentOf } from '../support/deployment.ts';
import { kustomizeProject } from './kustomize-project.ts';

const server = deploymentOf(`nodeSelector: {nvidia.com/gpu.product: NVIDIA-L4}
containers:
  - name: serve
    image: vllm/vllm-openai:v0.10.0
    args: [--model, Qwen/Qwen2.5-0.5B-Instruct]
`);
const base = { 'base/kustomization.yaml': 'resources: [server.yaml]\n', 'base/server.yaml': server };

const about = new Set(['cpu-pod-on-gpu-node', 'gpu-without-request']);
async function missingIn(files: Readonly<Record<string, string>>) {
  const file = await kustomizeProject({ ...base, ...files }).fileAt('base/server.yaml');
  return file.documents.flatMap(({ findings }) => findings.map(({ rule }) => rule)).filter((rule) => about.has(rule));
}

const limits = '{limits: {nvidia.com/gpu: 1}}';
const patch = (resources: string, name = 'chat') => `apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}}
spec: {template: {spec: {containers: [{name: serve, resources: ${resources}}]}}}
`;
const indented = (text: string) => text.replace(/^/gm, '      ');
const inline = (text: string, target = '') =>
  `resources: [../base]\npatches:\n  - ${target}patch: |-\n${indented(text)}`;
const operations = (path: string) =>
  `- op: add\n  path: /spec/template/spec/containers/0/resources\n  value: ${path}\n`;
const toChat = 'target: {kind: Deployment, name: chat}\n    ';
const pointer = '- op: add\n  path: /spec/template/spec/containers/0/resources/limits/nvidia.com~1gpu\n  value: 1\n';

test.each([
  [
    'a patch in a file',
    {
      'prod/kustomization.yaml': 'resources: [../base]\npatches: [{path: gpu.yaml}]\n',
      'prod/gpu.yaml': patch(limits),
    },
  ],
  ['an inline patch', { 'prod/kustomization.yaml': inline(patch(limits)) }],
  ['inline operations', { 'prod/kustomization.yaml': inline(operations(limits), toChat) }],
  ['a pointer to the resource', { 'prod/kustomization.yaml': inline(pointer, toChat) }],
  [
    'operations in a file',
    {
      'prod/kustomization.yaml': 'resources: [../base]\npatches: [{path: gpu.yaml, target: {kind: Deployment}}]\n',
      'prod/gpu.yaml': operations(limits),
    },
  ],
  [
    'an overlay of an overlay',
    {
      'mid/kustomization.yaml': 'bases: [../base/]\n',
      'prod/kustomization.yaml': inline(patch(limits)).replace('base', 'mid'),
    },
  ],
  [
    'a component of an overlay',
    {
      'prod/kustomization.yaml': 'resources:\n  - ../base\ncomponents:\n  - ../gpu\n',
      'gpu/kustomization.yaml': `kind: Component\n${inline(patch(limits)).replace('resources: [../base]\n', '')}`,
    },
  ],
])('%s adds what the base lacks', async (_, files) => {
  expect(await missingIn(files)).toEqual([]);
});

test.each([
  ['no overlay', {}],
  ['an overlay without the resource', { 'prod/kustomization.yaml': inline(patch('{limits: {memory: 8Gi}}')) }],
  ['a patch of another object', { 'prod/kustomization.yaml': inline(patch(limits, 'embed')) }],
  ['an overlay of another base', { 'prod/kustomization.yaml': inline(patch(limits)).replace('../base', '../other') }],
  ['a patch that no kustomization uses', { 'other/gpu.yaml': patch(limits) }],
  [
    'operations for another object',
    { 'prod/kustomization.yaml': inline(operations(limits), toChat.replace('chat', 'embed')) },
  ],
])('with %s the base is judged as it is', async (_, files) => {
  expect(await missingIn(files)).toContain('cpu-pod-on-gpu-node');
});

test('a Ray cluster whose overlay adds the GPUs has them', async () => {
  const pod = (name: string) =>
    `{spec: {containers: [{name: ${name}, image: "rayproject/ray:2.46.0-gpu", resources: {limits: {cpu: 4}}}]}}`;
  const cluster = `apiVersion: ray.io/v1
kind: RayService
metadata: {name: chat}
spec:
  serveConfigV2: |
    applications:
      - import_path: chat:app
        deployments: [{name: model, ray_actor_options: {num_gpus: 1}}]
  rayClusterConfig:
    headGroupSpec: {rayStartParams: {}, template: ${pod('head')}}
    workerGroupSpecs: [{groupName: gpu, replicas: 1, minReplicas: 1, maxReplicas: 1, rayStartParams: {}, template: ${pod('worker')}}]
`;
  const add = `- op: add
  path: /spec/rayClusterConfig/workerGroupSpecs/0/template/spec/containers/0/resources/limits/nvidia.com~1gpu
  value: 1
`;
  const rulesOf = async (overlay: string) => {
    const files = {
      'base/kustomization.yaml': 'resources: [ray.yaml]\n',
      'base/ray.yaml': cluster,
      'prod/kustomization.yaml': overlay,
    };
    const { documents } = await kustomizeProject(files).fileAt('base/ray.yaml');
    return documents.flatMap(({ findings }) => findings.map(({ rule }) => rule));
  };
  expect(await rulesOf('resources: [../base]\n')).toContain('ray-gpus-missing');
  expect(await rulesOf(inline(add, 'target: {kind: RayService}\n    '))).not.toContain('ray-gpus-missing');
});

test('an image whose tag a kustomization sets is pinned there', async () => {
  const pod =
    'containers:\n  - {name: serve, image: registry.example/serve, resources: {limits: {nvidia.com/gpu: 1}}}\n';
  const rulesAt = async (place: string, files: Readonly<Record<string, string>>) => {
    const all = { 'base/kustomization.yaml': 'resources: [server.yaml]\n', 'base/server.yaml': deploymentOf(pod) };
    const { documents } = await kustomizeProject({ ...all, ...files }).fileAt(place);
    return documents.flatMap(({ findings }) => findings.map(({ rule }) => rule));
  };
  const over = (fields: string) => ({ 'prod/kustomization.yaml': `resources: [../base]\nimages: [{${fields}}]\n` });
  const named = 'name: registry.example/serve';
  const place = 'base/server.yaml';
  expect(await rulesAt(place, over(`${named}, newTag: "1.4"`))).not.toContain('image-not-pinned');
  expect(await rulesAt(place, over(`${named}, newName: mirror.example/serve`))).toContain('image-not-pinned');
  expect(await rulesAt(place, over('name: registry.example/other, newTag: "1.4"'))).toContain('image-not-pinned');
  // The kustomization above the one whose patch adds the GPUs.
  const onCpu = deploymentOf('containers:\n  - {name: serve, image: registry.example/serve}\n');
  const between = {
    'base/server.yaml': onCpu,
    'gpu/kustomization.yaml': 'resources: [../base]\npatches: [{path: gpu.yaml}]\n',
    'gpu/gpu.yaml': patch(limits),
  };
  const above = `resources: [../gpu]\nimages: [{${named}, newTag: "1.4"}]\n`;
  expect(await rulesAt('gpu/gpu.yaml', between)).toContain('image-not-pinned');
  expect(await rulesAt('gpu/gpu.yaml', { ...between, 'prod/kustomization.yaml': above })).not.toContain(
    'image-not-pinned',
  );
});
