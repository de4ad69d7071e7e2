import { expect, test } from 'vitest';
import { Analysis } from '../../server/src/analysis.ts';
import { parseConfig } from '../../server/src/config.ts';

const config = `
nodePools:
  - name: big
    labels: {pool: big, team: a}
    instanceType: p5.48xlarge
    capacity: spot
    taints: [{key: big, effect: NoSchedule}]
  - name: small
    labels: {pool: small, team: a}
    gpu: l4
taints: [{key: gpus, effect: NoSchedule}]
gpu: t4
`;

function findings(selector: string): readonly string[] {
  const text = `apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  nodeSelector: {${selector}}
  containers:
    - {name: a, image: "registry.example/a:1.0", resources: {limits: {nvidia.com/gpu: 1}}}
`;
  const { config: read, problems } = parseConfig(config);
  expect(problems).toEqual([]);
  const file = new Analysis({ strict: true }).setFile('file:///a.yaml', text, 0, read);
  const [document] = file.documents;
  const [podSet] = document?.workloads[0]?.podSets ?? [];
  const [accelerator] = podSet?.accelerators ?? [];
  const missing = document?.findings.find(({ rule }) => rule === 'toleration-missing')?.message ?? '';
  const { nodePool, capacity, instanceType } = podSet?.placement ?? {};
  const taint = /taint (\S+)/.exec(missing)?.[1] ?? 'none';
  return [`${nodePool}`, `${accelerator?.model}`, `${capacity}`, `${instanceType}`, taint];
}

test.each([
  ['pool: big', ['big', 'h100-80gb-sxm', 'spot', 'p5.48xlarge', 'big:NoSchedule']],
  ['pool: small', ['small', 'l4', 'unknown', 'null', 'gpus:NoSchedule']],
  // Both pools have the label, so the pool is unknown.
  ['team: a', ['null', 't4', 'unknown', 'null', 'gpus:NoSchedule']],
  ['pool: small, team: b', ['null', 't4', 'unknown', 'null', 'gpus:NoSchedule']],
  ['disk: ssd', ['null', 't4', 'unknown', 'null', 'gpus:NoSchedule']],
  // The pod's own selectors take precedence over the pool.
  ['pool: big, node.kubernetes.io/instance-type: g6.xlarge', ['big', 'l4', 'spot', 'g6.xlarge', 'big:NoSchedule']],
])('a pod that selects %s', (selector, expected) => {
  expect(findings(selector)).toEqual(expected);
});
