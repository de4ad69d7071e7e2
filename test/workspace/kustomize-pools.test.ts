import { expect, test } from 'vitest';
import { deploymentOf } from '../support/deployment.ts';
import { kustomizeProject } from './kustomize-project.ts';

const server = (select: string) =>
  deploymentOf(`${select}
containers: [{name: serve, image: registry.example.com/serve:1, resources: {limits: {nvidia.com/gpu: 1}}}]
`);
const pool = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: cards}
spec:
  template:
    metadata: {labels: {room: cards}}
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: plain}
      requirements:
        - {key: node.kubernetes.io/instance-type, operator: In, values: [g6.2xlarge]}
        - {key: karpenter.sh/capacity-type, operator: In, values: [spot]}
`;
const base = {
  'base/kustomization.yaml': 'resources: [pool.yaml, server.yaml]\n',
  'base/pool.yaml': pool,
  'base/server.yaml': server('nodeSelector: {room: cards}'),
};

async function costs(path: string, files: Readonly<Record<string, string>>) {
  const file = await kustomizeProject({ ...base, ...files }).fileAt(path);
  return file.documents.flatMap(({ costed, costOf }) => costed.map((one) => costOf(one).cost?.hourly));
}

const patch = (path: number, value: string) => `patches:
  - target: {kind: NodePool}
    patch: |-
      - {op: replace, path: /spec/template/spec/requirements/${path}/values, value: [${value}]}
`;
const inOverlay = (more: string, files: Readonly<Record<string, string>> = {}) =>
  costs('prod/kustomization.yaml', { 'prod/kustomization.yaml': `resources: [../base]\n${more}`, ...files });

// A g6.2xlarge costs 0.5019 on spot and 0.9776 on demand, a g6.4xlarge 0.5976 on spot.
test('pods of an overlay land on its pools with its patches', async () => {
  expect(await inOverlay(patch(1, 'on-demand'))).toEqual([{ min: 0.9776, max: 0.9776 }]);
  expect(await inOverlay(patch(0, 'g6.4xlarge'))).toEqual([{ min: 0.5976, max: 0.5976 }]);
  expect(await inOverlay('')).toEqual([{ min: 0.5019, max: 0.5019 }]);
  expect(await costs('base/kustomization.yaml', {})).toEqual([{ min: 0.5019, max: 0.5019 }]);
});

test('pods that select nothing, too, and pods that select another pool do not', async () => {
  const unselected = { 'base/server.yaml': server('tolerations: []') };
  expect(await inOverlay(patch(1, 'on-demand'), unselected)).toEqual([{ min: 0.9776, max: 0.9776 }]);
  const other = {
    'base/server.yaml': server('nodeSelector: {room: others}'),
    'nodes/pool.yaml': pool.replace('g6.2xlarge', 'g6.4xlarge').replaceAll('cards', 'others'),
  };
  expect(await inOverlay(patch(1, 'on-demand'), other)).toEqual([{ min: 0.5976, max: 0.5976 }]);
});

test('pods of a base are not compared with machines that an overlay replaces', async () => {
  const two = base['base/server.yaml'].replace('nvidia.com/gpu: 1', 'nvidia.com/gpu: 4');
  const findings = async (files: Readonly<Record<string, string>>) => {
    const file = await kustomizeProject({ ...base, 'base/server.yaml': two, ...files }).fileAt('base/server.yaml');
    return file.documents.flatMap((document) => document.findings.map(({ rule }) => rule));
  };
  expect(await findings({})).toContain('gpus-exceed-node');
  const larger = {
    'prod/kustomization.yaml': 'resources: [../base]\npatches: [{path: pool.yaml}]\n',
    'prod/pool.yaml': `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: cards}
spec:
  template:
    spec:
      requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [g6.48xlarge]}]
`,
  };
  expect(await findings(larger)).not.toContain('gpus-exceed-node');
});
