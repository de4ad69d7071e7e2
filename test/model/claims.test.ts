import { describe, expect, test } from 'vitest';
import { Analysis } from '../../server/src/analysis.ts';
import { gpusOf } from '../../server/src/cost/estimate.ts';

// Claims are the only facts that documents in one file share, so a document's cached analysis depends on them.

const template = (count: number) => `apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata:
  name: gpus
spec:
  spec:
    devices:
      requests:
        - name: gpus
          exactly:
            deviceClassName: gpu.nvidia.com
            count: ${count}
`;

const pod = (name: string, reference: string) => `apiVersion: v1
kind: Pod
metadata:
  name: ${name}
spec:
  resourceClaims:
    - name: gpus
      ${reference}
  containers:
    - name: main
      image: registry.example.com/train:1
`;

const claim = template(1)
  .replace('ResourceClaimTemplate', 'ResourceClaim')
  .replace('  spec:\n    devices', '  devices');

describe('claims across the documents of a file', () => {
  test('a changed template changes the pods that use it, before or after it', () => {
    const analysis = new Analysis({ strict: true });
    const user = pod('user', 'resourceClaimTemplateName: gpus');
    expect(devices(analysis, [user, template(2)])).toEqual([2]);
    expect(devices(analysis, [user, template(4)])).toEqual([4]);
    expect(devices(analysis, [template(3), user])).toEqual([3]);
  });

  test('a document without claims keeps its analysis when a claim changes', () => {
    const analysis = new Analysis({ strict: true });
    const other = pod('other', 'x: y').replace(/ {2}resourceClaims:\n.*\n.*\n/, '');
    const before = analysis.setFile('file:///a.yaml', [other, template(1)].join('---\n')).documents[0]?.document;
    const after = analysis.setFile('file:///a.yaml', [other, template(2)].join('---\n')).documents[0]?.document;
    expect(before).toBeDefined();
    expect(after).toBe(before);
  });

  test('pods that reference one claim share its devices, and one more pod changes every share', () => {
    const analysis = new Analysis({ strict: true });
    const users = ['one', 'two'].map((name) => pod(name, 'resourceClaimName: gpus'));
    expect(devices(analysis, [claim, ...users])).toEqual([0.5, 0.5]);
    expect(devices(analysis, [claim, ...users.slice(0, 1)])).toEqual([1]);
  });

  test('a claim in another file is unknown, and a network is not an accelerator', () => {
    const analysis = new Analysis({ strict: true });
    expect(devices(analysis, [pod('user', 'resourceClaimTemplateName: other-gpus')])).toEqual([null]);
    expect(devices(analysis, [pod('user', 'resourceClaimTemplateName: all-netdev')])).toEqual([0]);
  });
});

function devices(analysis: Analysis, documents: readonly string[]): readonly (number | null)[] {
  const file = analysis.setFile('file:///claims.yaml', documents.join('---\n'));
  return file.documents
    .flatMap(({ workloads }) => workloads)
    .filter(({ role }) => role !== 'definition')
    .map((workload) => gpusOf(workload).min);
}
