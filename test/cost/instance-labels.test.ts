import { expect, test } from 'vitest';
import { isInstanceTypeLabel, nodeLabels } from '../../server/src/catalog/index.ts';
import { estimateCost } from '../../server/src/cost/estimate.ts';
import { formatHourly } from '../../server/src/cost/money.ts';
import { lowerDocument } from '../../server/src/model/lower.ts';
import { defaultModelOptions } from '../../server/src/model/options.ts';
import { parseYaml } from '../../server/src/yaml/parse.ts';

test('an instance type has the same price with every label', () => {
  const costs = nodeLabels()
    .filter(isInstanceTypeLabel)
    .map((label) => {
      const pod = `apiVersion: v1
kind: Pod
metadata: {name: llm}
spec:
  nodeSelector: {${label}: Standard_ND96isr_H100_v5}
  containers: [{name: llm, image: vllm, resources: {limits: {nvidia.com/gpu: 8}}}]
`;
      const [document] = parseYaml(pod).documents;
      const [workload] = document === undefined ? [] : lowerDocument(document, defaultModelOptions).workloads;
      const cost = workload && estimateCost(workload).cost;
      return cost && `${formatHourly(cost.hourly)} ${workload.podSets[0]?.placement.instanceType}`;
    });
  expect(costs.length).toBeGreaterThan(2);
  expect(new Set(costs)).toEqual(new Set(['$98.32/h Standard_ND96isr_H100_v5']));
});
