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
