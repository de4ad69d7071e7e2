import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { CostJson } from '../../server/src/cli/cost/cost-schema.ts';
import { deploymentOf } from '../support/deployment.ts';
import { runCli, temporaryFolder } from './run-cli.ts';

// Kustomizations of the project that Argo CD and Flux install with changes, with amounts computed by hand: a g6.xlarge is $0.8048/h.

const base = {
  'apps/rank/kustomization.yaml': 'resources: [rank.yaml]\n',
  'apps/rank/rank.yaml': deploymentOf(`nodeSelector: {node.kubernetes.io/instance-type: g6.xlarge}
containers: [{name: serve, image: registry.example.com/serve:1, resources: {limits: {nvidia.com/gpu: 1}}}]
`),
};

/** The rows of `gpulint cost` as `file namespace/name dollars`. */
async function costs(files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const cwd = temporaryFolder();
  for (const [name, text] of Object.entries({ ...base, ...files })) {
    mkdirSync(path.join(cwd, path.dirname(name)), { recursive: true });
    writeFileSync(path.join(cwd, name), text);
  }
  const { workloads } = JSON.parse((await runCli(['cost', '--format', 'json'], { cwd })).stdout) as CostJson;
  return workloads.map(
    ({ after, namespace, name }) => `${after?.path} ${namespace}/${name} ${after?.hourly?.max.toFixed(2)}`,
  );
}

const application = (kustomize: string, from = 'path: apps/rank') => `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: rank, namespace: argocd}
spec:
  destination: {namespace: search}
  source: {repoURL: https://git.example.com/platform.git, ${from}, kustomize: ${kustomize}}
`;

const flux = (more: string) => `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec:
  path: ./apps/rank
  sourceRef: {kind: GitRepository, name: platform}
${more}`;

const patches = (replicas: number) => `  patches:
    - target: {kind: Deployment, name: chat}
      patch: |-
        - {op: add, path: /spec/replicas, value: ${replicas}}
`;

test('Argo CD sets the replicas: 4 × 0.8048', async () => {
  const text = application('{replicas: [{name: chat, count: 4}]}');
  expect(await costs({ 'argo/rank.yaml': text })).toEqual(['argo/rank.yaml search/chat 3.22']);
});

test('Flux patches for each cluster: 2 and 3 × 0.8048', async () => {
  const files = { 'clusters/a/apps.yaml': flux(patches(2)), 'clusters/b/apps.yaml': flux(patches(3)) };
  expect(await costs(files)).toEqual(['clusters/a/apps.yaml null/chat 1.61', 'clusters/b/apps.yaml null/chat 2.41']);
});

test('a list of an ApplicationSet: 1 and 2 × 0.8048', async () => {
  const text = `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: rank}
spec:
  generators: [{list: {elements: [{env: dev, count: "1"}, {env: prod, count: "2"}]}}]
  template:
    metadata: {name: "rank-{{env}}"}
    spec:
      destination: {namespace: "{{env}}"}
      source: {repoURL: https://git.example.com/platform.git, path: apps/rank, kustomize: {replicas: [{name: chat, count: "{{count}}"}]}}
`;
  expect(await costs({ 'argo/set.yaml': text })).toEqual([
    'argo/set.yaml dev/chat 0.80',
    'argo/set.yaml prod/chat 1.61',
  ]);
});

test.each([
  ['a kustomization that is elsewhere', application('{replicas: [{name: chat, count: 4}]}', 'path: apps/other')],
  ['a number that is unknown', application('{replicas: [{name: chat, count: "{{count}}"}]}')],
  ['components, which may be anything', application('{replicas: [{name: chat, count: 4}], components: [../gpu]}')],
  ['other images', application('{images: ["registry.example.com/serve:2"]}')],
  ['nothing that is changed', flux('')],
])('%s leaves the kustomization as it is', async (_, text) => {
  expect(await costs({ 'argo/rank.yaml': text })).toEqual(['apps/rank/kustomization.yaml null/chat 0.80']);
});

test('an Application that changes nothing counts next to one that does: 1 and 4 × 0.8048', async () => {
  const files = {
    'argo/dev.yaml': application('{}'),
    'argo/prod.yaml': application('{replicas: [{name: chat, count: 4}]}'),
  };
  expect(await costs(files)).toEqual([
    'apps/rank/kustomization.yaml null/chat 0.80',
    'argo/prod.yaml search/chat 3.22',
  ]);
});

const withVariables = {
  'apps/rank/rank.yaml': base['apps/rank/rank.yaml']
    .replace('g6.xlarge', `\${CARD_MACHINE:=g6.12xlarge}`)
    .replace('spec:', `spec:\n  replicas: \${RANK_PODS}`),
};

test.each([
  ['as it states them', '{RANK_PODS: "3", CARD_MACHINE: g6.xlarge}', '2.41'],
  // A card of a g6.12xlarge is 4.6016 / 4.
  ['or by default', '{RANK_PODS: "3"}', '3.45'],
])('Flux replaces variables %s', async (_, substitute, amount) => {
  const text = flux(`  postBuild: {substitute: ${substitute}}\n`);
  const rows = await costs({ ...withVariables, 'clusters/a/apps.yaml': text });
  expect(rows).toEqual([`clusters/a/apps.yaml null/chat ${amount}`]);
});

const settings = (data: string, name = 'settings') => `apiVersion: v1
kind: ConfigMap
metadata: {name: ${name}, namespace: flux-system}
data: ${data}
`;

test.each([
  ['of a ConfigMap', '{substituteFrom: [{kind: ConfigMap, name: settings}]}', '2.41'],
  [
    'of its own before those',
    '{substitute: {RANK_PODS: "5"}, substituteFrom: [{kind: ConfigMap, name: settings}]}',
    '4.02',
  ],
  [
    'of the last ConfigMap',
    '{substituteFrom: [{kind: ConfigMap, name: settings}, {kind: ConfigMap, name: more}]}',
    '3.22',
  ],
])('Flux replaces variables %s', async (_, postBuild, amount) => {
  const files = {
    'clusters/a/apps.yaml': flux(`  postBuild: ${postBuild}\n`),
    'clusters/a/settings.yaml': settings('{RANK_PODS: "3", CARD_MACHINE: g6.xlarge}'),
    'clusters/more.yaml': settings('{RANK_PODS: "4"}', 'more'),
    'clusters/b/settings.yaml': settings('{RANK_PODS: "9"}'),
  };
  expect(await costs({ ...withVariables, ...files })).toEqual([`clusters/a/apps.yaml null/chat ${amount}`]);
});

test.each([
  ['of a ConfigMap that is elsewhere', withVariables, '{substituteFrom: [{kind: ConfigMap, name: settings}]}'],
  ['that may be in a Secret', withVariables, '{substitute: {OTHER: x}, substituteFrom: [{kind: Secret, name: s}]}'],
  [
    'of names',
    {
      'apps/rank/rank.yaml': base['apps/rank/rank.yaml'].replace(
        'metadata: {',
        `metadata: {labels: {team: "\${TEAM}"}, `,
      ),
    },
    '{substitute: {TEAM: x}}',
  ],
])('variables %s leave the kustomization as it is', async (_, files, postBuild) => {
  const [row = ''] = await costs({ ...files, 'clusters/a/apps.yaml': flux(`  postBuild: ${postBuild}\n`) });
  expect(row).toMatch(/^apps\/rank\//);
});
