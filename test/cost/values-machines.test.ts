import { expect, test } from 'vitest';
import { analyse } from '../support/analyse.ts';

// Values of charts that select nodes outside the fields of a pod. Computed by hand: a g6e.12xlarge with 4 GPUs costs $10.49264/h, a g6e.xlarge $1.861/h.

test.each([
  ['one machine', ['g6e.12xlarge'], 3 * (1 / 4) * 10.49264],
  ['the cheapest machine', ['g6e.xlarge'], 3 * 1.861],
])('the pods of a chart run on %s that its terms name', (_, types, hourly) => {
  const text = `servingEngineSpec:
  modelSpec:
    - name: small
      repository: registry.example.com/engine
      modelURL: acme/small
      replicaCount: 3
      requestGPU: 1
      nodeSelectorTerms:
        - matchExpressions: [{key: node.kubernetes.io/instance-type, operator: In, values: [${types.join()}]}]
`;
  const [document] = analyse(text).documents;
  const [workload] = document?.workloads ?? [];
  expect(workload && document?.costOf(workload).cost?.hourly.max).toBeCloseTo(hourly);
});

const amountsOf = (text: string) =>
  analyse(text).documents.flatMap((document) =>
    document.workloads.map((workload) => {
      const hourly = document.costOf(workload).cost?.hourly;
      return [workload.name, hourly?.min, hourly?.max].map((value) =>
        typeof value === 'number' ? Number(value.toFixed(2)) : value,
      );
    }),
  );

const modelservice = (nodes: string, parallelism = '{tensor: 4}') => `modelArtifacts: {uri: 'hf://acme/chat'}
decode:
  replicas: 2
  parallelism: ${parallelism}
  ${nodes}
  containers: [{name: vllm, image: 'registry.example.com/llm-d:1'}]
`;

// 2 pods with all 4 GPUs of a g6.12xlarge, $4.6016: 9.20; on one of 4 H100 of a p5.48xlarge, $55.04: 2 × 27.52 = 55.04.
test.each([
  ['acceleratorTypes: {labelKey: node.kubernetes.io/instance-type, labelValues: [g6.12xlarge]}', 9.2],
  ['extraConfig: {nodeSelector: {node.kubernetes.io/instance-type: g6.12xlarge}}', 9.2],
  [
    'extraConfig: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: node.kubernetes.io/instance-type, operator: In, values: [p5.48xlarge]}]}]}}}}',
    55.04,
  ],
])('model servers of llm-d run on the nodes of %s', (nodes, hourly) => {
  expect(amountsOf(modelservice(nodes))).toEqual([['decode', hourly, hourly]]);
});

test('a model server of llm-d without a known label may run on any nodes', () => {
  expect(
    amountsOf(modelservice('acceleratorTypes: {labelKey: "{{ .Values.key }}", labelValues: [g6.12xlarge]}')),
  ).toEqual([['decode', undefined, undefined]]);
});

// Each replica of a NIM that spans nodes has so many pods: 2 × 3 × 55.04 = 330.24.
test('a NIM that spans nodes has all its pods', () => {
  const nim = (multiNode: string) => `image: {repository: nvcr.io/nim/acme/large}
replicaCount: 2
multiNode: ${multiNode}
resources: {limits: {nvidia.com/gpu: 8}}
nodeSelector: {node.kubernetes.io/instance-type: p5.48xlarge}
`;
  expect(amountsOf(nim('{enabled: true, workers: 3, gpusPerNode: 8}'))).toEqual([[null, 330.24, 330.24]]);
  expect(amountsOf(nim('{enabled: false, workers: 3}'))).toEqual([[null, 110.08, 110.08]]);
  expect(amountsOf(nim('{enabled: true}'))).toEqual([[null, undefined, undefined]]);
});

// A head, $0.8048, and 2 workers, $1.006 each: without autoscaling, the bounds of a group do not count.
test('a Ray cluster has one head, also if its values name no parameters of Ray', () => {
  const group = (type: string) =>
    `{resources: {limits: {nvidia.com/gpu: 1}}, nodeSelector: {node.kubernetes.io/instance-type: ${type}}`;
  const text = `head: ${group('g6.xlarge')}}\nworker: ${group('g5.xlarge')}, replicas: 2, minReplicas: 1, maxReplicas: 5}\n`;
  expect(amountsOf(text)).toEqual([
    ['head', 0.8, 0.8],
    ['worker', 2.01, 2.01],
  ]);
});
