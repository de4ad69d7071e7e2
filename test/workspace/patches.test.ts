import { expect, test } from 'vitest';
import { Analysis } from '../../server/src/analysis.ts';
import { defaultConfig } from '../../server/src/config.ts';
import { noRelatedFiles } from '../../server/src/model/related-files.ts';
import { createRelatedFiles } from '../../server/src/workspace/find-related-files.ts';

const uri = 'file:///w/prod/patch.yaml';

/** The errors of a file next to a kustomization. */
async function errorsOf(patch: string, kustomization: string): Promise<readonly string[]> {
  const files = new Map([
    [uri, patch],
    ['file:///w/prod/kustomization.yaml', kustomization],
  ]);
  const source = createRelatedFiles({ read: async (one) => files.get(one), reaches: () => true });
  const file = new Analysis({ strict: true }).peek(uri, patch, defaultConfig, await source.of(uri));
  return file.documents.flatMap(({ findings }) =>
    findings.filter(({ severity }) => severity === 'error').map(({ rule }) => rule),
  );
}

const listed = 'resources: ["https://example.com/base?ref=v1"]\npatches: [{path: patch.yaml}]\n';
const strategic = 'resources: [../base]\npatchesStrategicMerge: [patch.yaml]\n';
const included = 'resources: [patch.yaml]\n';

const parts = [
  [
    'a CronJob without its schedule',
    `apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly}
spec:
  jobTemplate:
    spec:
      template:
        spec:
          containers: [{name: main, image: "registry.example/a:2", resources: {limits: {nvidia.com/gpu: 2}}}]
`,
    ['api-field', 'restart-policy-invalid'],
  ],
  [
    'an autoscaler without its target',
    `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: chat}
spec:
  metrics: [{type: External, external: {metric: {name: gpu_busy}, target: {type: Value, value: "3"}}}]
`,
    ['api-field'],
  ],
  [
    'a mount without its volume',
    `apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  containers:
    - name: main
      image: registry.example/a:2
      resources: {limits: {nvidia.com/gpu: 1}}
      volumeMounts: [{name: models, mountPath: /models}]
`,
    ['object-reference'],
  ],
  [
    'the workers of a Ray cluster',
    `apiVersion: ray.io/v1
kind: RayCluster
metadata: {name: ray}
spec:
  workerGroupSpecs:
    - groupName: gpu
      template: {spec: {containers: [{name: main, image: "rayproject/ray:2.40.0", resources: {limits: {nvidia.com/gpu: 1}}}]}}
`,
    ['api-field'],
  ],
  [
    'a constraint of a claim',
    `apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: pair}
spec: {devices: {constraints: [{requests: [gpu], matchAttribute: gpu.nvidia.com/parent}]}}
`,
    ['device-claim-invalid'],
  ],
] as const;

test.each(parts)('%s is no error in a patch, with or without its base', async (_, text, errors) => {
  expect(await errorsOf(text, listed)).toEqual([]);
  expect(await errorsOf(text, strategic)).toEqual([]);
  expect(await errorsOf(text, included)).toEqual(expect.arrayContaining([...errors]));
});

test('what a patch says is judged', async () => {
  const patch = `apiVersion: apps/v1
kind: Deployment
metadata: {name: chat}
spec:
  replicas: "2"
  template:
    spec:
      toleration: []
      containers: [{name: main, resources: {limits: {nvidia.com/gpu: 0.5}}}]
`;
  expect([...(await errorsOf(patch, listed))].sort()).toEqual(['api-field', 'api-field', 'gpu-quantity-whole']);
});

test('the same text is read anew if the kustomization no longer lists it', () => {
  const analysis = new Analysis({ strict: true });
  const [, text] = parts[1];
  const count = (isPatch: boolean) => {
    const related = isPatch ? ({ isPatch: true } as const) : noRelatedFiles;
    return analysis.peek(uri, text, defaultConfig, related).documents.flatMap(({ findings }) => findings).length;
  };
  expect([count(true), count(false), count(true)]).toEqual([0, 1, 0]);
});
