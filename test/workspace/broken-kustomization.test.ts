import { expect, test } from 'vitest';
import { kustomizeProject } from './kustomize-project.ts';

// A kustomization that names no accelerators matters for what it builds, also while it is broken.

const podWith = (limits: string) => `apiVersion: v1
kind: Pod
metadata: {name: main}
spec:
  containers:
    - name: main
      image: registry.example/trainer:1.4
      resources: {limits: {${limits}}}
`;
const base = (pod = podWith('nvidia.com/gpu: 1')) => ({
  'base/kustomization.yaml': 'resources: [pod.yaml]\n',
  'base/pod.yaml': pod,
});

async function seen(kustomization: string, pod?: string) {
  const project = kustomizeProject({ ...base(pod), 'prod/kustomization.yaml': kustomization });
  const { documents } = await project.fileAt('prod/kustomization.yaml');
  return {
    findings: documents.flatMap(({ findings }) => findings.map(({ rule }) => rule)),
    workloads: documents.flatMap(({ costed }) => costed.map(({ kind }) => kind)),
  };
}

test.each([
  ['a tab', 'resources:\n\t- ../base\n', ['yaml-syntax']],
  ['one path instead of a list', 'resources: ../base\n', ['kustomization-invalid']],
  ['a misspelled field', 'resource:\n  - ../base\n', ['kustomization-invalid']],
  ['a dash', 'resources:\n  - ../base\n  -\n', ['kustomization-invalid']],
  [
    'a patch that is not YAML',
    'resources: [../base]\npatches:\n  - patch: |-\n      apiVersion: v1\n      kind: Pod\n      metadata:\n        name: main\n       labels: {}\n',
    ['kustomization-invalid'],
  ],
  ['its own folder', 'resources: [../base, ../prod/]\n', ['kustomization-invalid']],
  ['a folder above it', 'resources: [../base]\ncomponents: [..]\n', ['kustomization-invalid']],
  ['a folder whose name begins as its own', 'resources: [../base, ../pro]\n', []],
  ['nothing', 'resources: [../base]\n', []],
])('with %s, it is reported and builds the rest', async (_, text, findings) => {
  expect(await seen(text)).toEqual({ findings, workloads: ['Pod'] });
});

test.each([
  ['a conflict', 'resources:\n<<<<<<< HEAD\n  - ../base\n=======\n  - ../other\n>>>>>>> b\n', ['yaml-syntax']],
  ['a mapping instead of a list', 'resources:\n  base: ../base\n', ['kustomization-invalid']],
  ['only remote resources', 'resources: ["https://git.example/lab//gpu"]\n', []],
])('with %s, it builds nothing, and is checked', async (_, text, findings) => {
  expect(await seen(text)).toEqual({ findings, workloads: [] });
});

test('without accelerators, it is not checked', async () => {
  expect(await seen('resource: [../base]\n', podWith('cpu: 1'))).toEqual({
    findings: [],
    workloads: [],
  });
});
