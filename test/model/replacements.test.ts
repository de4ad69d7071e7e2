import { expect, test } from 'vitest';
import { buildObjects, collectFiles } from '../../server/src/model/kustomize/build.ts';
import type { YamlNode } from '../../server/src/yaml/node.ts';

const objects = `apiVersion: v1
kind: ConfigMap
metadata: {name: sizes}
data: {replicas: "3", machine: g6.xlarge, "a.b": "7"}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: chat}
spec:
  replicas: 1
  template:
    spec:
      nodeSelector: {node.kubernetes.io/instance-type: g6.4xlarge}
      containers: [{name: side, image: "a:1"}, {name: main, image: "b:1", resources: {limits: {nvidia.com/gpu: 1}}}]
`;

/** The spec of the Deployment that a kustomization builds. */
async function specWith(replacements: string): Promise<unknown> {
  const uri = 'file:///ws/kustomization.yaml';
  const texts = new Map([
    [uri, `resources: [objects.yaml]\nnamePrefix: prod-\nreplacements: ${replacements}\n`],
    ['file:///ws/objects.yaml', objects],
  ]);
  const files = await collectFiles(uri, async (file) => {
    const text = texts.get(file);
    return text === undefined ? undefined : { uri: file, text };
  });
  const deployment = files && buildObjects(uri, files).objects.find(({ kind }) => kind === 'Deployment');
  return deployment && (plain(deployment.root) as { spec: unknown }).spec;
}

function plain(node: YamlNode): unknown {
  if (node.kind === 'scalar') return node.value;
  if (node.kind === 'seq') return node.items.map(({ value }) => plain(value));
  return Object.fromEntries(node.entries.map(({ key, value }) => [key, plain(value)]));
}

const source = (field: string) => `source: {kind: ConfigMap, name: sizes, fieldPath: "${field}"}`;
const into = (field: string, more = '') =>
  `targets: [{select: {kind: Deployment, name: chat}, fieldPaths: ['${field}']${more}}]`;

test('replacements copy values to fields: a number, a key with dots, an item by its name', async () => {
  const all = [
    [source('data.replicas'), into('spec.replicas')],
    [source('data.machine'), into('spec.template.spec.nodeSelector.node\\.kubernetes\\.io/instance-type')],
    [source('data.a\\\\.b'), into('spec.template.spec.containers.[name=main].resources.limits.[nvidia.com/gpu]')],
  ];
  expect(await specWith(`[${all.map((one) => `{${one.join(', ')}}`).join(', ')}]`)).toMatchObject({
    replicas: 3,
    template: {
      spec: {
        nodeSelector: { 'node.kubernetes.io/instance-type': 'g6.xlarge' },
        containers: [{ image: 'a:1' }, { image: 'b:1', resources: { limits: { 'nvidia.com/gpu': 7 } } }],
      },
    },
  });
});

test('a text stays a text', async () => {
  const replacement = `{${source('data.replicas')}, ${into('spec.template.spec.containers.[name=side].image')}}`;
  expect(await specWith(`[${replacement}]`)).toMatchObject({
    template: { spec: { containers: [{ image: '3' }, { image: 'b:1' }] } },
  });
});

test.each([
  [
    'from a part of a text',
    `{${source('data.replicas').replace('}', ', options: {delimiter: "-"}}')}, ${into('spec.replicas')}}`,
  ],
  [
    'to other objects',
    `{${source('data.replicas')}, targets: [{select: {kind: StatefulSet}, fieldPaths: [spec.replicas]}]}`,
  ],
  ['to a part of a text', `{${source('data.replicas')}, ${into('spec.replicas', ', options: {delimiter: "-"}')}}`],
  ['with exceptions', `{${source('data.replicas')}, ${into('spec.replicas', ', reject: [{name: chat}]')}}`],
  [
    'to objects with a label',
    `{${source('data.replicas')}, targets: [{select: {kind: Deployment, labelSelector: "app=a"}, fieldPaths: [spec.replicas]}]}`,
  ],
  [
    'to objects of another namespace',
    `{${source('data.replicas')}, targets: [{select: {kind: Deployment, name: chat, namespace: other}, fieldPaths: [spec.replicas]}]}`,
  ],
  ['from nowhere', `{${source('data.pods')}, ${into('spec.replicas')}}`],
  ['in a file', '{path: more.yaml}'],
])('replacements %s leave the objects as they are', async (_, replacement) => {
  expect(await specWith(`[${replacement}]`)).toMatchObject({ replicas: 1 });
});
