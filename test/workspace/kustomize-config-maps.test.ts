import { expect, test } from 'vitest';
import { memoryRecords } from '../../server/src/features/memory-records.ts';
import { deploymentOf } from '../support/deployment.ts';
import { kustomizeProject } from './kustomize-project.ts';

const small = 'Qwen/Qwen2.5-0.5B-Instruct';
const large = 'Qwen/Qwen2.5-7B-Instruct';

const configMap = (name: string, model: string, namespace = '') =>
  `apiVersion: v1
kind: ConfigMap
metadata: {name: ${name}${namespace && `, namespace: ${namespace}`}}
data: {MODEL: ${model}}
`;

const server = (env: string) =>
  deploymentOf(`nodeSelector: {node.kubernetes.io/instance-type: g4dn.xlarge}
containers:
  - name: serve
    image: vllm/vllm-openai:v0.10.0
    args: [--model, $(MODEL), --max-model-len, "4096"]
    ${env}
    resources: {limits: {nvidia.com/gpu: 1}}
`);

const wholeMap = 'envFrom: [{configMapRef: {name: llm}}]';
const oneKey = 'env: [{name: MODEL, valueFrom: {configMapKeyRef: {name: llm, key: MODEL}}}]';
const base = {
  'base/kustomization.yaml': 'resources: [map.yaml, server.yaml]\n',
  'base/map.yaml': configMap('llm', small),
  'base/server.yaml': server(wholeMap),
};

async function modelsOf(path: string, files: Readonly<Record<string, string>>) {
  const file = await kustomizeProject({ ...base, ...files }).fileAt(path);
  return file.documents.flatMap(({ costed }) => costed).flatMap((one) => memoryRecords(one).map(({ model }) => model));
}

const inOverlay = async (kustomization: string, files: Readonly<Record<string, string>> = {}) =>
  modelsOf('prod/kustomization.yaml', {
    'prod/kustomization.yaml': `resources: [../base]\n${kustomization}`,
    ...files,
  });

const strategic = `patches: [{path: map.yaml}]\n`;
const operation = `patches:
  - target: {kind: ConfigMap, name: llm}
    patch: |-
      - {op: replace, path: /data/MODEL, value: ${large}}
`;
const json6902 = `patchesJson6902: [{target: {version: v1, kind: ConfigMap, name: llm}, path: map.yaml}]\n`;
const generator = (more: string) => `configMapGenerator: [{name: llm, ${more}}]\n`;

test.each([
  ['a strategic patch', strategic, { 'prod/map.yaml': configMap('llm', large) }],
  ['an operation', operation, {}],
  ['a file of operations', json6902, { 'prod/map.yaml': `- {op: add, path: /data/MODEL, value: ${large}}\n` }],
  ['a patch and a new name', `namePrefix: prod-\nnamespace: prod\n${operation}`, {}],
  ['a reference to one key', operation, { 'base/server.yaml': server(oneKey) }],
  ['a generator that merges', generator(`behavior: merge, literals: ['MODEL="${large}"']`), {}],
  ['a generator that replaces', generator(`behavior: replace, literals: [MODEL=${large}]`), {}],
])('%s of a ConfigMap counts in the overlay, and not in the base', async (_, kustomization, files) => {
  expect(await inOverlay(kustomization, files)).toEqual([large]);
  expect(await modelsOf('base/kustomization.yaml', files)).toEqual([small]);
  expect(await modelsOf('base/server.yaml', files)).toEqual([small]);
});

test.each([
  ['removes the key', operation.replace(/op: .*/, 'op: remove, path: /data/MODEL}'), {}],
  ['takes files', generator('behavior: merge, envs: [prod.env]'), {}],
  [
    'has two such ConfigMaps',
    '',
    { 'base/map.yaml': `${configMap('llm', small, 'a')}---\n${configMap('llm', large, 'b')}` },
  ],
])('the model is unknown if the overlay %s', async (_, kustomization, files) => {
  expect(await inOverlay(kustomization, files)).not.toContain(small);
});

test('a patch of another ConfigMap changes nothing', async () => {
  expect(await inOverlay(operation.replace('name: llm', 'name: other'))).toEqual([small]);
  expect(await inOverlay('')).toEqual([small]);
});

test('a patch of the workload reads the patched ConfigMap', async () => {
  const patch = `apiVersion: apps/v1
kind: Deployment
metadata: {name: chat}
spec: {template: {spec: {containers: [{name: serve, resources: {limits: {nvidia.com/gpu: 2}}}]}}}
`;
  const files = {
    'prod/kustomization.yaml': `resources: [../base]\n${operation}  - path: more.yaml\n`,
    'prod/more.yaml': patch,
  };
  expect(await modelsOf('prod/more.yaml', files)).toEqual([large]);
  // Patches of one file are not applied to each other's objects, so nothing is known.
  const both = {
    'prod/kustomization.yaml': 'resources: [../base]\npatches: [{path: more.yaml}]\n',
    'prod/more.yaml': `${configMap('llm', large)}---\n${patch}`,
  };
  expect(await modelsOf('prod/more.yaml', both)).not.toContain(small);
  expect(await modelsOf('prod/kustomization.yaml', both)).toEqual([large]);
});
