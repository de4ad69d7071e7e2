import { describe, expect, test } from 'vitest';
import { project, root, total } from './project.ts';

test('pods in several files that reference one claim share its devices', () => {
  const claim = `apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: shared}
spec: {devices: {requests: [{name: gpus, exactly: {deviceClassName: gpu.nvidia.com, count: 4}}]}}
`;
  const user = (name: string) => `apiVersion: v1
kind: Pod
metadata: {name: ${name}}
spec:
  resourceClaims: [{name: gpu, resourceClaimName: shared}]
  containers: [{name: main, image: "registry.example/a:1"}]
`;
  const analysis = project({ 'a/one.yaml': user('one'), 'a/two.yaml': user('two'), 'a/claim.yaml': claim });
  const totals = () => ['a/one.yaml', 'a/two.yaml'].map((name) => total(analysis.file(`${root}/${name}`)));
  expect(totals()).toEqual([2, 2]);
  // A claim of the same name in the same folder is a different one with its own users.
  analysis.setFile(`${root}/b/all.yaml`, `${claim}---\n${user('three')}`);
  expect(totals()).toEqual([2, 2]);
  expect(total(analysis.file(`${root}/b/all.yaml`))).toBe(4);
  analysis.setFile(`${root}/a/three.yaml`, `${user('three')}---\n${user('four')}`);
  expect(totals()).toEqual([1, 1]);
  analysis.removeFile(`${root}/a/two.yaml`);
  analysis.removeFile(`${root}/a/three.yaml`);
  expect(total(analysis.file(`${root}/a/one.yaml`))).toBe(4);
});

describe('taints of node pools', () => {
  const pod = (selector: string) => `apiVersion: v1
kind: Pod
metadata: {name: train}
spec:
  nodeSelector: {${selector}}
  containers: [{name: main, image: "registry.example/a:1", resources: {limits: {nvidia.com/gpu: 1}}}]
`;
  const messages = (pool: string, selector: string) =>
    project({ 'pool.yaml': pool, 'pod.yaml': pod(selector) })
      .file(`${root}/pod.yaml`)!
      .documents.flatMap((document) => document.findings)
      .filter(({ rule }) => rule === 'toleration-missing')
      .map(({ message }) => message);

  test('a GKE compute class: its own taints, except those that GKE tolerates', () => {
    const pool = (config: string) => `apiVersion: cloud.google.com/v1
kind: ComputeClass
metadata: {name: gpus}
spec:
  ${config}
  priorities: [{gpu: {type: nvidia-l4, count: 1}}]
`;
    const own = pool('nodePoolConfig: {taints: [{key: team, value: ml, effect: NoSchedule}]}');
    expect(messages(own, 'cloud.google.com/compute-class: gpus')).toEqual([
      'The pod does not tolerate the taint team=ml:NoSchedule of ComputeClass gpus (pool.yaml): it cannot run there',
    ]);
    expect(messages(own, 'cloud.google.com/compute-class: other')).toEqual([]);
    expect(messages(own, 'disk: ssd')).toEqual([]);
    const gke = pool('nodePoolConfig: {taints: [{key: nvidia.com/gpu, value: present, effect: NoSchedule}]}');
    expect(messages(gke, 'cloud.google.com/compute-class: gpus')).toEqual([]);
    expect(messages(pool('nodePoolAutoCreation: {enabled: true}'), 'cloud.google.com/compute-class: gpus')).toEqual([]);
    const byHand = own.replace('priorities: [', 'priorities: [{nodepools: [old]}, ');
    expect(messages(byHand, 'cloud.google.com/compute-class: gpus')).toEqual([]);
  });

  test('AKS node auto-provisioning, and eksctl', () => {
    const aks = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpus}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: default}
      taints: [{key: sku, value: gpu, effect: NoSchedule}, {key: nvidia.com/gpu, value: present, effect: NoSchedule}]
      requirements: [{key: karpenter.azure.com/sku-gpu-count, operator: Gt, values: ["0"]}]
`;
    expect(messages(aks, 'karpenter.sh/nodepool: gpus')).toEqual([
      'The pod does not tolerate the taint sku=gpu:NoSchedule of NodePool gpus (pool.yaml): it cannot run there',
    ]);
    const eks = `apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: cluster, region: us-west-2}
managedNodeGroups:
  - {name: gpus, instanceType: g6.xlarge, taints: [{key: team, value: ml, effect: NoSchedule}]}
`;
    expect(messages(eks, 'eks.amazonaws.com/nodegroup: gpus')).toEqual([
      'The pod does not tolerate the taint team=ml:NoSchedule of ClusterConfig cluster (pool.yaml): it cannot run there',
    ]);
  });

  test('a comment on another cloud changes nothing', () => {
    const aws = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpus}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      taints: [{key: team, value: ml, effect: NoSchedule}]
      requirements: [{key: karpenter.k8s.aws/instance-gpu-count, operator: Gt, values: ["0"]}]
`;
    expect(messages(aws, 'karpenter.sh/nodepool: gpus')).toHaveLength(1);
    expect(messages(`# moved here from azure\n${aws}`, 'karpenter.sh/nodepool: gpus')).toHaveLength(1);
  });
});
