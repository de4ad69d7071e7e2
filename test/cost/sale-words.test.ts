import { expect, test } from 'vitest';
import { noEstimateWords } from '../../server/src/cost/no-estimate-words.ts';
import { analyse } from '../support/analyse.ts';

test.each([
  ['node.kubernetes.io/instance-type', 'Standard_NC6s_v3', 1, 'Azure retired Standard_NC6s_v3 on 2025-09-30'],
  [
    'node.kubernetes.io/instance-type',
    'BM.GPU.H100.8',
    8,
    'BM.GPU.H100.8 has no on-demand price: Oracle Cloud sells it with a commitment',
  ],
  [
    'node.kubernetes.io/instance-type',
    'p5e.48xlarge',
    8,
    'p5e.48xlarge has no on-demand price: AWS sells it in capacity blocks',
  ],
  [
    'cloud.google.com/gke-accelerator',
    'nvidia-b200',
    8,
    'a4-highgpu-8g (B200) has no on-demand price: Google Cloud sells it by reservation, as spot or with flex-start; $39.63/h per pod on spot in us-central1, as of 2026-09-05',
  ],
  [
    'cloud.google.com/gke-accelerator',
    'nvidia-b200',
    9,
    'Price unknown: no machine has more than 8 × B200, and a pod requests 9',
  ],
])('%s: %s with %i devices has no price on demand, and the reason', (label, value, count, words) => {
  const text = `apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  nodeSelector: {${label}: ${value}}
  containers:
    - name: main
      image: registry.example/a:1
      resources: {limits: {nvidia.com/gpu: ${count}}}
`;
  const [document] = analyse(text).documents;
  const results = document?.workloads.map((workload) => document.costOf(workload));
  expect(results?.map(({ unknown }) => unknown && noEstimateWords(unknown))).toEqual([words]);
});
