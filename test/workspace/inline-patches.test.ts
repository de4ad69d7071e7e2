import { expect, test } from 'vitest';
import { deploymentOf } from '../support/deployment.ts';
import { kustomizeProject } from './kustomize-project.ts';

const server = deploymentOf(
  `containers:
  - name: serve
    image: registry.example/serve:1
    resources: {limits: {nvidia.com/gpu: 1}}
`,
  { spec: 'replicas: 1' },
);

/** An inline patch of a Deployment. */
const inline = (name: string, before = '', key = 'patches') => `${key}:
  - ${before}${key === 'patches' ? 'patch: ' : ''}|-
      apiVersion: apps/v1
      kind: Deployment
      metadata:
        name: ${name}
      spec:
        template:
          spec:
            containers:
              - name: serve
                resources:
                  limits:
                    nvidia.com/gpu: 2
`;

async function listed(kustomization: string) {
  const files = {
    'base/kustomization.yaml': 'resources: [server.yaml]\n',
    'base/server.yaml': server,
    'prod/kustomization.yaml': kustomization,
  };
  const file = await kustomizeProject(files).fileAt('prod/kustomization.yaml');
  return file.documents
    .flatMap(({ costed }) => costed)
    .map(({ name, readWith = '', podSets }) => [name, readWith, podSets[0]?.containers[0]?.accelerators[0]?.count]);
}

test.each([
  ['that names its object', inline('chat')],
  ['with a target', inline('any', 'target: {kind: Deployment, name: chat}\n    ')],
  ['in the former field', inline('chat', '', 'patchesStrategicMerge')],
])('an inline patch %s is counted in what is built', async (_, patch) => {
  expect(await listed(`resources: [../base]\n${patch}`)).toEqual([['chat', 'server.yaml', 2]]);
});

test('an inline patch of an object that is not here is listed as it is', async () => {
  expect(await listed(`resources: [../base]\n${inline('embed')}`)).toEqual([
    ['embed', '', 2],
    ['chat', 'server.yaml', 1],
  ]);
  expect(await listed(`resources: ["https://registry.example/base"]\n${inline('chat')}`)).toEqual([['chat', '', 2]]);
});
