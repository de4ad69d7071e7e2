import { expect, test } from 'vitest';
import { defaultModelOptions } from '../../server/src/model/options.ts';
import { platformOf } from '../../server/src/model/platform.ts';
import { analyse } from '../support/analyse.ts';

function platform(spec: string, provider: string | null = null, configured: string | null = null): string {
  const text = `apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {${spec}, containers: [{name: a, image: "b:1", resources: {limits: {nvidia.com/gpu: 1}}}]}\n`;
  const podSet = analyse(text).documents[0]?.workloads[0]?.podSets[0];
  if (podSet === undefined) throw new Error('no pod set');
  const found = platformOf(podSet, { ...defaultModelOptions, provider, platform: configured });
  return found === undefined ? 'none' : `${found.facts.id} ${found.confidence}`;
}

test('labels and taints that only one platform has are certain', () => {
  expect(platform('nodeSelector: {cloud.google.com/gke-nodepool: gpu}')).toBe('gke-standard certain');
  expect(platform('nodeSelector: {karpenter.k8s.aws/instance-gpu-name: h100}')).toBe('eks-karpenter certain');
  expect(platform('nodeSelector: {eks.amazonaws.com/instance-gpu-name: h100}')).toBe('eks-auto-mode certain');
  expect(platform('nodeSelector: {eks.amazonaws.com/nodegroup: gpu}')).toBe('eks-managed-node-group certain');
  expect(platform('tolerations: [{key: kubernetes.azure.com/scalesetpriority, operator: Exists}]')).toBe('aks certain');
  expect(platform('nodeSelector: {gpu.nvidia.com/class: H100}')).toBe('coreweave certain');
});

test('a certain mark takes precedence over one that exists elsewhere', () => {
  expect(platform('nodeSelector: {nvidia.com/gpu.product: Tesla-T4}')).toBe('vanilla-gpu-operator likely');
  expect(platform('nodeSelector: {nvidia.com/gpu.product: Tesla-T4, eks.amazonaws.com/nodegroup: gpu}')).toBe(
    'eks-managed-node-group certain',
  );
  expect(platform('nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}')).toBe('gke-standard likely');
});

test('the instance type and the config name only the provider', () => {
  expect(platform('nodeSelector: {node.kubernetes.io/instance-type: g5.xlarge}')).toBe('eks-karpenter likely');
  expect(platform('priority: 0', 'azure')).toBe('aks likely');
  expect(platform('priority: 0')).toBe('none');
});

test('the platform of the config is certain unless labels belong to another cloud', () => {
  expect(platform('priority: 0', 'azure', 'aks')).toBe('aks certain');
  expect(platform('nodeSelector: {nvidia.com/gpu.product: Tesla-T4}', 'aws', 'eks-auto-mode')).toBe(
    'eks-auto-mode certain',
  );
  expect(platform('nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}', 'gcp', 'gke-autopilot')).toBe(
    'gke-autopilot certain',
  );
  expect(platform('nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}', 'aws', 'eks-karpenter')).toBe(
    'gke-standard likely',
  );
  expect(platform('nodeSelector: {node.kubernetes.io/instance-type: g5.xlarge}', 'azure', 'aks')).toBe(
    'eks-karpenter likely',
  );
  expect(platform('nodeSelector: {node.kubernetes.io/instance-type: g5.xlarge}', null, 'vanilla-gpu-operator')).toBe(
    'vanilla-gpu-operator certain',
  );
  expect(platform('nodeSelector: {eks.amazonaws.com/nodegroup: gpu}', 'aws', 'eks-karpenter')).toBe(
    'eks-managed-node-group certain',
  );
});
