import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { CostJson } from '../../server/src/cli/cost/cost-schema.ts';
import { deploymentOf } from '../support/deployment.ts';
import { runCli, temporaryFolder } from './run-cli.ts';

// Pools that charts and kustomizations complete, with amounts computed by hand: a g5.2xlarge is $1.212/h, a g5.4xlarge $1.624, a g6.2xlarge $0.9776 on
// demand and $0.5019 on spot.

/** The rows and the pools of `gpulint cost`, as `file name from–to` and `file name node limit`. */
async function costs(files: Readonly<Record<string, string>>) {
  const cwd = temporaryFolder();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.join(cwd, path.dirname(name)), { recursive: true });
    writeFileSync(path.join(cwd, name), text);
  }
  const { workloads, nodePools } = JSON.parse((await runCli(['cost', '--format', 'json'], { cwd })).stdout) as CostJson;
  const words = (range: { min: number; max: number } | null | undefined) =>
    range ? [...new Set([range.min.toFixed(2), range.max.toFixed(2)])].join('–') : 'unknown';
  return {
    rows: workloads.map(({ after, name }) => `${after?.path} ${name} ${words(after?.hourly)}`),
    pools: (nodePools ?? []).map(
      ({ path: file, name, nodeHourly, limitHourly }) => `${file} ${name} ${words(nodeHourly)} ${words(limitHourly)}`,
    ),
  };
}

const nodePool = (types: string, capacity = 'on-demand', name = 'cards') => `apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: ${name}
spec:
  limits:
    nvidia.com/gpu: 2
  template:
    metadata:
      labels: {room: cards}
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: plain}
      requirements:
        - key: karpenter.sh/capacity-type
          operator: In
          values: [${capacity}]
        - key: node.kubernetes.io/instance-type
          operator: In
          values: ${types}
`;
const server = (select: string) =>
  deploymentOf(`${select}
containers: [{name: serve, image: registry.example.com/serve:1, resources: {limits: {nvidia.com/gpu: 1}}}]
`);
const chart = {
  'talk/Chart.yaml': 'apiVersion: v2\nname: talk\nversion: 0.1.0\n',
  'talk/values.yaml': 'pool: {enabled: true, types: [g5.2xlarge, g5.4xlarge]}\n',
  'talk/templates/pool.yaml': `{{- if .Values.pool.enabled }}
${nodePool('\n            {{- toYaml .Values.pool.types | nindent 12 }}', 'on-demand', '{{ .Release.Name }}-cards')}{{- end }}
`,
  'talk/templates/server.yaml': server('tolerations: []').replace(
    'name: chat',
    'name: {{ .Values.name | default "chat" }}',
  ),
};

test('pods of a chart run on the pool that its values complete, which is listed', async () => {
  expect(await costs(chart)).toEqual({
    rows: ['talk/templates/server.yaml chat 1.21–1.62'],
    pools: ['talk/templates/pool.yaml {{ .Release.Name }}-cards 1.21–1.62 2.42–3.25'],
  });
});

test('a release that changes the pool counts with its machines, and lists it instead', async () => {
  expect(await costs({ ...chart, 'talk/values-prod.yaml': 'pool: {types: [g6.2xlarge]}\n' })).toEqual({
    rows: ['talk/values-prod.yaml chat 0.98'],
    pools: ['talk/values-prod.yaml {{ .Release.Name }}-cards 0.98 1.96'],
  });
});

test('a pool that the values turn off has no pods', async () => {
  const { rows } = await costs({ ...chart, 'talk/values.yaml': 'pool: {enabled: false, types: [g5.2xlarge]}\n' });
  expect(rows).toEqual(['talk/templates/server.yaml chat unknown']);
});

test('only the name of a pool may be left to a release', async () => {
  const pool = nodePool('[g5.2xlarge]', 'on-demand', '{{ .Release.Name }}-cards');
  const { rows } = await costs({ ...chart, 'talk/templates/pool.yaml': pool });
  expect(rows).toEqual(['talk/templates/server.yaml chat 1.21']);
});

const kustomized = {
  'base/kustomization.yaml': 'resources: [pool.yaml, server.yaml]\n',
  'base/pool.yaml': nodePool('[g6.2xlarge]', 'spot'),
  'base/server.yaml': server('nodeSelector: {room: cards}'),
};
const onDemand = `resources: [../base]
patches:
  - target: {kind: NodePool}
    patch: |-
      - {op: replace, path: /spec/template/spec/requirements/0/values, value: [on-demand]}
`;

test('an overlay that patches a pool lists it instead of the base', async () => {
  expect(await costs({ ...kustomized, 'prod/kustomization.yaml': onDemand })).toEqual({
    rows: ['prod/kustomization.yaml chat 0.98'],
    pools: ['prod/kustomization.yaml cards 0.98 1.96'],
  });
});

test('another overlay that leaves the pool as it is keeps it in the list', async () => {
  const both = { 'dev/kustomization.yaml': 'resources: [../base]\n', 'prod/kustomization.yaml': onDemand };
  expect((await costs({ ...kustomized, ...both })).pools).toEqual([
    'base/pool.yaml cards 0.50 1.00',
    'prod/kustomization.yaml cards 0.98 1.96',
  ]);
});
