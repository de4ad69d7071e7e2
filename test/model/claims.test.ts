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

const request = (lines: string) => `apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: gpus}
spec: {spec: {devices: {requests: [${lines}]}}}
`;

describe('what a request takes', () => {
  const gpu = 'deviceClassName: gpu.nvidia.com';
  const a100 = `selectors: [{cel: {expression: "device.attributes['gpu.nvidia.com'].productName == 'NVIDIA A100-SXM4-80GB'"}}]`;
  test.each([
    ['one', `{name: a, exactly: {${gpu}}}`, 1, 1],
    ['several', `{name: a, exactly: {${gpu}, count: 2}}, {name: b, exactly: {${gpu}}}`, 3, 3],
    ['all of a node', `{name: a, exactly: {${gpu}, allocationMode: All}}`, null, null],
    ['a monitor', `{name: a, exactly: {${gpu}, adminAccess: true, allocationMode: All}}`, 0, 0],
    ['alternatives', `{name: a, firstAvailable: [{name: x, ${gpu}}, {name: y, ${gpu}, count: 2}]}`, 1, 2],
    [
      'equal alternatives',
      `{name: a, firstAvailable: [{name: x, ${gpu}}, {name: y, deviceClassName: gpu.amd.com}]}`,
      1,
      1,
    ],
    [
      'a GPU or a network card',
      `{name: a, firstAvailable: [{name: x, ${gpu}}, {name: y, deviceClassName: nic.example}]}`,
      0,
      1,
    ],
    ['a slice, of an unknown card', `{name: a, exactly: {deviceClassName: mig.nvidia.com}}`, null, null],
    ['a part of an unknown card', `{name: a, exactly: {${gpu}, capacity: {requests: {memory: 40Gi}}}}`, null, null],
    [
      'a part of a card',
      `{name: a, exactly: {${gpu}, ${a100}, capacity: {requests: {gpu.nvidia.com/memory: 40Gi}}}}`,
      0.5,
      0.5,
    ],
    ['a class with another name', `{name: a, exactly: {deviceClassName: team-h100}}`, 1, 1],
    ['another vendor', `{name: a, exactly: {deviceClassName: npu.rebellions.ai, count: 4}}`, 4, 4],
    ['a network', `{name: a, exactly: {deviceClassName: sriov.example}}`, 0, 0],
  ])('%s', (_, lines, min, max) => {
    const file = new Analysis({ strict: true }).setFile(
      'file:///claims.yaml',
      [request(lines), pod('user', 'resourceClaimTemplateName: gpus')].join('---\n'),
    );
    const workloads = file.documents
      .flatMap((document) => document.workloads)
      .filter(({ role }) => role !== 'definition');
    expect(workloads.map(gpusOf)).toEqual([{ min, max }]);
  });

  test('a pod that shares alternatives gets a part of each', () => {
    const lines = `{name: a, firstAvailable: [{name: x, ${gpu}, count: 4}, {name: y, ${gpu}, count: 8}]}`;
    const shared = request(lines).replace('Template', '').replace('{spec: {devices', '{devices').replace('}}}', '}}');
    const users = ['one', 'two'].map((name) => pod(name, 'resourceClaimName: gpus'));
    expect(devices(new Analysis({ strict: true }), [shared, ...users])).toEqual([2, 2]);
  });
});

function devices(analysis: Analysis, documents: readonly string[]): readonly (number | null)[] {
  const file = analysis.setFile('file:///claims.yaml', documents.join('---\n'));
  return file.documents
    .flatMap(({ workloads }) => workloads)
    .filter(({ role }) => role !== 'definition')
    .map((workload) => gpusOf(workload).min);
}

test('a claim that no file defines is one of accelerators if its name says so, and its name suggests the model', () => {
  const analysis = new Analysis({ strict: true });
  const text = `${pod('a', 'resourceClaimTemplateName: xl-trn2')}---\n${pod('b', 'resourceClaimTemplateName: nic-fast')}`;
  const { documents } = analysis.setFile('file:///a.yaml', text);
  const sets = documents.flatMap(({ workloads }) => workloads.flatMap(({ podSets }) => podSets));
  expect(
    sets.flatMap(({ accelerators }) =>
      accelerators.map(({ devices, candidates, modelFrom }) => ({ devices, candidates, modelFrom })),
    ),
  ).toEqual([{ devices: null, candidates: ['trainium2'], modelFrom: 'hint' }]);
});
