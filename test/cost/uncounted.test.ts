import { expect, test } from 'vitest';
import { missingFor } from '../../server/src/cost/no-estimate.ts';
import { noEstimateWords } from '../../server/src/cost/no-estimate-words.ts';
import { analyse } from '../support/analyse.ts';

test.each([
  ['1Ei', 'nvidia.com/gpu 1Ei is more than any node has'],
  ['1e400', 'nvidia.com/gpu 1e400 is more than any node has'],
  ['.nan', 'nvidia.com/gpu .nan is not a valid count'],
  ['-1', 'nvidia.com/gpu -1 is not a valid count'],
])('a request for %s has no price, but a reason', (count, problem) => {
  const text = `apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  containers:
    - name: main
      image: registry.example/a:1
      resources: {limits: {nvidia.com/gpu: ${count}}}
`;
  const [document] = analyse(text).documents;
  const results = document?.workloads.map((workload) => document.costOf(workload));
  expect(results?.map(({ unknown }) => unknown && [noEstimateWords(unknown), missingFor(unknown)])).toEqual([
    [problem, 'count'],
  ]);
});

test('more pods than any cluster runs have no price: the amount would be as wrong as the count', () => {
  const text = `apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec:
  replicas: 2147483647
  template:
    spec:
      nodeSelector: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}
      containers:
        - name: main
          image: registry.example/a:1
          resources: {limits: {nvidia.com/gpu: 100}}
`;
  const [document] = analyse(text).documents;
  const results = document?.workloads.map((workload) => document.costOf(workload));
  expect(results).toMatchObject([{ cost: null, unknown: expect.anything() }]);
});

test('a named template runs nothing: the templates that include it do', () => {
  const text = `{{- define "app.pod" -}}
nodeSelector: {node.kubernetes.io/instance-type: g6.xlarge}
containers:
  - name: main
    image: registry.example/a:1
    resources: {limits: {nvidia.com/gpu: 1}}
{{- end }}
`;
  const roles = (one: string) => analyse(one).documents.flatMap(({ workloads }) => workloads.map(({ role }) => role));
  expect(roles(text)).toEqual(['definition']);
  expect(roles(text.replace(/\{\{.*\}\}\n/g, ''))).toEqual(['unknown']);
});

test('a template next to a valid count is the reason, not the count', () => {
  const text = `apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  containers:
    - name: main
      resources: {limits: {nvidia.com/gpu: '{{ .Values.gpus }}'}}
    - name: helper
      resources: {limits: {nvidia.com/gpu: 1}}
`;
  const [document] = analyse(text).documents;
  const results = document?.workloads.map((workload) => document.costOf(workload));
  expect(results?.map(({ unknown }) => unknown && noEstimateWords(unknown))).toEqual([
    'Number of devices unknown: a template sets it to {{ .Values.gpus }} (nvidia.com/gpu)',
  ]);
});

test('a count that an alias without its anchor sets has no text to show', () => {
  const text = `apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  containers:
    - name: main
      resources:
        limits:
          nvidia.com/gpu: *none
`;
  const [document] = analyse(text).documents;
  const results = document?.workloads.map((workload) => document.costOf(workload));
  expect(results?.map(({ unknown }) => unknown && noEstimateWords(unknown))).toEqual([
    'Number of devices unknown (nvidia.com/gpu)',
  ]);
});
