import { expect, test } from 'vitest';
import { gpuPools, poolsOf } from '../../server/src/evidence/gpu-pools.ts';
import { lowerManifests } from '../../server/src/model/manifest.ts';
import { parseYaml } from '../../server/src/yaml/parse.ts';

const pools = (text: string) => parseYaml(text).documents.flatMap(lowerManifests).flatMap(poolsOf);

test('what a NodePool of Karpenter says of its nodes', () => {
  const text = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpus}
spec:
  limits: {nvidia.com/gpu: 16, cpu: "96"}
  template:
    metadata: {labels: {team: ml}}
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      taints: [{key: nvidia.com/gpu, effect: NoSchedule}]
      requirements:
        - {key: node.kubernetes.io/instance-type, operator: In, values: [p5.48xlarge]}
        - {key: karpenter.sh/capacity-type, operator: In, values: [spot]}
        - {key: topology.kubernetes.io/zone, operator: In, values: [us-east-1a, us-east-1b]}
`;
  const [pool] = pools(text);
  expect(pool).toMatchObject({
    name: 'gpus',
    gpu: 'h100-80gb-sxm',
    devices: 8,
    instanceType: 'p5.48xlarge',
    capacity: 'spot',
    zones: ['us-east-1a', 'us-east-1b'],
    limits: { 'nvidia.com/gpu': 16, cpu: 96 },
    taints: [{ key: 'nvidia.com/gpu', value: '', effect: 'NoSchedule' }],
    incomplete: false,
    toleratesRequested: true,
  });
  expect(pool?.labels).toMatchObject({ team: 'ml', 'karpenter.sh/nodepool': 'gpus' });
  // A machine that the catalogue lacks may have any GPU.
  expect(pools(text.replace('[p5.48xlarge]', '[p5.48xlarge, p9.48xlarge]'))).toMatchObject([
    { gpu: null, devices: null },
  ]);
  const mixed = text.replace('[p5.48xlarge]', '[p5.48xlarge, g6.xlarge]').replace('[spot]', '[spot, on-demand]');
  expect(pools(mixed)).toMatchObject([{ gpu: null, devices: null, instanceType: null, capacity: null }]);
});

test('what eksctl says of a node group', () => {
  const text = `apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: cluster}
managedNodeGroups:
  - {name: gpus, instanceType: g6.12xlarge, labels: {pool: gpu}, taints: {nvidia.com/gpu: "true:NoSchedule"}}
  - {name: web, instanceType: m5.large}
`;
  expect(pools(text)).toMatchObject([
    {
      name: 'gpus',
      gpu: 'l4',
      devices: 4,
      instanceType: 'g6.12xlarge',
      capacity: null,
      labels: { pool: 'gpu', 'eks.amazonaws.com/nodegroup': 'gpus' },
      taints: [{ key: 'nvidia.com/gpu', value: 'true', effect: 'NoSchedule' }],
    },
  ]);
});

test.each([
  ['instance-gpu-manufacturer', 'In', ['amd'], 'amd'],
  ['instance-accelerator-manufacturer', 'In', ['aws'], 'aws'],
  ['instance-accelerator-manufacturer', 'In', ['habana'], 'habana'],
  ['instance-gpu-manufacturer', 'In', ['amd', 'nvidia'], null],
  ['instance-accelerator-name', 'In', ['trainium'], 'aws'],
  ['instance-accelerator-count', 'In', ['1'], null],
  ['instance-accelerator-count', 'Gt', ['0'], null],
  ['instance-accelerator-name', 'Exists', [], null],
  ['instance-gpu-count', 'Gt', ['0'], 'nvidia'],
  ['instance-category', 'In', ['p', 'g'], 'nvidia'],
  ['instance-category', 'In', ['p', 'trn'], null],
])('the vendor of the nodes with %s %s %j is %s', (label, operator, values, vendor) => {
  const requirement = { key: `karpenter.k8s.aws/${label}`, operator, values };
  const text = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: pool}
spec: {template: {spec: {requirements: [${JSON.stringify(requirement)}]}}}
`;
  const found = parseYaml(text).documents.flatMap(lowerManifests).flatMap(gpuPools);
  expect(found.map((pool) => pool.vendor)).toEqual([vendor]);
});
