import { describe, expect, test } from 'vitest';
import { project, root, total } from './project.ts';

const profile = (identifiers: string) => `apiVersion: infrastructure.opendatahub.io/v1
kind: HardwareProfile
metadata: {name: large, namespace: profiles}
spec:
  identifiers:
${identifiers}
  scheduling:
    type: Node
    node:
      nodeSelector: {nvidia.com/gpu.product: NVIDIA-L40S}
`;
const gpus = '    - {identifier: nvidia.com/gpu, minCount: 1, defaultCount: "2", maxCount: 4, displayName: GPU}';
const service = (resources = '') => `apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata:
  name: chat
  annotations:
    opendatahub.io/hardware-profile-name: large
    opendatahub.io/hardware-profile-namespace: profiles
spec:
  predictor:
    minReplicas: 3
    model:
      modelFormat: {name: vLLM}
${resources}`;
const totalOf = (object: string, identifiers = gpus) =>
  total(project({ 'a.yaml': object, 'profile.yaml': profile(identifiers) }).file(`${root}/a.yaml`));

describe('a hardware profile of OpenShift AI', () => {
  test('adds its default devices to each pod', () => {
    expect(totalOf(service())).toBe(3 * 2);
  });

  test('does not change what the object requests itself', () => {
    expect(totalOf(service('      resources: {limits: {nvidia.com/gpu: 1}}\n'))).toBe(3);
  });

  test('adds nothing if it has no accelerators', () => {
    expect(totalOf(service(), '    - {identifier: cpu, defaultCount: 4}')).toBe(0);
  });

  test('applies to notebooks', () => {
    const notebook = service()
      .replace('serving.kserve.io/v1beta1', 'kubeflow.org/v1')
      .replace('InferenceService', 'Notebook')
      .replace(
        / {2}predictor:[\s\S]*/,
        '  template: {spec: {containers: [{name: lab, image: "registry.example/lab:1"}]}}\n',
      );
    expect(totalOf(notebook)).toBe(2);
  });
});
