import { expect, test } from 'vitest';
import { deploymentOf } from '../support/deployment.ts';
import { kustomizeProject } from './kustomize-project.ts';

const server = deploymentOf(`nodeSelector: {node.kubernetes.io/instance-type: g6.xlarge}
containers: [{name: serve, image: registry.example.com/serve:1, resources: {limits: {nvidia.com/gpu: 1}}}]
`);
const target = 'scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: chat}';
const autoscaler = (most: number) => `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: chat}
spec: {${target}, minReplicas: 1, maxReplicas: ${most}}
`;
const base = {
  'base/kustomization.yaml': 'resources: [server.yaml, scaler.yaml]\n',
  'base/server.yaml': server,
  'base/scaler.yaml': autoscaler(2),
};

/** From the fewest to the most dollars per hour. A g6.xlarge costs 0.8048. */
async function costs(path: string, files: Readonly<Record<string, string>>) {
  const file = await kustomizeProject({ ...base, ...files }).fileAt(path);
  return file.documents.flatMap(({ costed, costOf }) => costed.map((one) => costOf(one).cost?.hourly));
}

const inOverlay = (more: string, files: Readonly<Record<string, string>> = {}) =>
  costs('prod/kustomization.yaml', { 'prod/kustomization.yaml': `resources: [../base]\n${more}`, ...files });

const operation = `patches:
  - target: {kind: HorizontalPodAutoscaler, name: chat}
    patch: |-
      - {op: replace, path: /spec/maxReplicas, value: 5}
`;

test.each([
  ['an operation', operation, {}],
  ['a strategic patch', 'patches: [{path: more.yaml}]\n', { 'prod/more.yaml': autoscaler(5) }],
  ['an operation under new names', `namePrefix: prod-\nnamespace: prod\n${operation}`, {}],
])('an autoscaler has the bounds of %s in the overlay only', async (_, more, files) => {
  // 5 × 0.8048 and 2 × 0.8048.
  expect(await inOverlay(more, files)).toEqual([{ min: 0.8048, max: 4.024 }]);
  expect(await costs('base/kustomization.yaml', files)).toEqual([{ min: 0.8048, max: 1.6096 }]);
});

test('an overlay may delete the autoscaler, or say nothing of it', async () => {
  const deleted = `apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: chat}\n$patch: delete\n`;
  const without = { 'prod/none.yaml': deleted };
  expect(await inOverlay('patches: [{path: none.yaml}]\nreplicas: [{name: chat, count: 3}]\n', without)).toEqual([
    { min: 3 * 0.8048, max: 3 * 0.8048 },
  ]);
  expect(await inOverlay('')).toEqual([{ min: 0.8048, max: 1.6096 }]);
});

test('a ScaledObject that the overlay adds and patches', async () => {
  const scaled = `apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: chat}
spec: {scaleTargetRef: {name: chat}, minReplicaCount: 0, maxReplicaCount: 3, triggers: [{type: prometheus, metadata: {}}]}
`;
  const files = {
    'base/kustomization.yaml': 'resources: [server.yaml]\n',
    'base/scaler.yaml': '',
    'component/kustomization.yaml':
      'apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [s.yaml]\n',
    'component/s.yaml': scaled,
  };
  const more = `components: [../component]\npatches:
  - target: {kind: ScaledObject}
    patch: |-
      - {op: replace, path: /spec/maxReplicaCount, value: 4}
`;
  expect(await inOverlay(more, files)).toEqual([{ min: 0, max: 4 * 0.8048 }]);
});
