import { describe, expect, test } from 'vitest';
import { costs, mapped } from './installed-chart.ts';

describe('values of pods that a HelmRelease reads count once, in the release: 3 × 4.6016', () => {
  const values =
    'machine: g6.12xlarge\ncards: 4\nimage: {repository: a/b}\nreplicaCount: 7\nresources: {limits: {nvidia.com/gpu: 2}}\n';
  const map = `apiVersion: v1
kind: ConfigMap
metadata: {name: rank-values, namespace: search}
data:
  values.yaml: |
    ${values.trimEnd().replaceAll('\n', '\n    ')}
`;
  const generator =
    'configMapGenerator: [{name: rank-values, namespace: search, files: [values.yaml=rank.values.yaml]}]\n';
  const generated = { 'clusters/a/kustomization.yaml': generator, 'clusters/a/rank.values.yaml': values };
  const once = ['clusters/a/rank.yaml search 13.80'];

  test.each([
    ['its file', { 'clusters/a/rank.yaml': `${mapped()}---\n${map}` }],
    ['a file of its own', { 'clusters/a/rank.yaml': mapped(), 'clusters/a/values.yaml': map }],
    ['a kustomization', { 'clusters/a/rank.yaml': mapped(), ...generated }],
  ])('in %s', async (_, files) => {
    expect(await costs(files)).toEqual(once);
  });

  test('next to a Pod, which counts: 0.8048', async () => {
    const pod = `apiVersion: v1
kind: Pod
metadata: {name: a, namespace: search}
spec:
  nodeSelector: {node.kubernetes.io/instance-type: g6.xlarge}
  containers: [{name: a, image: a:1, resources: {limits: {nvidia.com/gpu: 1}}}]
`;
    expect(await costs({ 'clusters/a/rank.yaml': `${mapped()}---\n${map}---\n${pod}` })).toEqual([
      ...once,
      'clusters/a/rank.yaml search 0.80',
    ]);
  });
});
