import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { CostJson } from '../../server/src/cli/cost/cost-schema.ts';
import { runCli, temporaryFolder } from './run-cli.ts';

// A chart, and the objects of Flux that install it. A g6.xlarge is $0.8048/h, a g6.12xlarge $4.6016/h.

export const chart = {
  'charts/rank/Chart.yaml': 'apiVersion: v2\nname: rank\nversion: 1.0.0\n',
  'charts/rank/values.yaml': 'replicas: 1\ncards: 1\nmachine: g6.xlarge\n',
  'charts/rank/templates/rank.yaml': `apiVersion: apps/v1
kind: Deployment
metadata: {name: rank}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: rank}}
  template:
    metadata: {labels: {app: rank}}
    spec:
      nodeSelector:
        node.kubernetes.io/instance-type: {{ .Values.machine }}
      containers:
        - name: server
          image: registry.example.com/rank:1
          resources: {limits: {nvidia.com/gpu: {{ .Values.cards }}}}
`,
};

/** The rows of `gpulint cost` as `file namespace dollars`. */
export async function costs(files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  return (await rows(files)).map((one) => `${one.after?.path} ${one.namespace} ${one.after?.hourly?.max.toFixed(2)}`);
}

export async function rows(files: Readonly<Record<string, string>>): Promise<CostJson['workloads']> {
  const cwd = temporaryFolder();
  for (const [name, text] of Object.entries({ ...chart, ...files })) {
    mkdirSync(path.join(cwd, path.dirname(name)), { recursive: true });
    writeFileSync(path.join(cwd, name), text);
  }
  return (JSON.parse((await runCli(['cost', '--format', 'json'], { cwd })).stdout) as CostJson).workloads;
}

export const release = (values: string, ref = 'GitRepository') => `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: rank, namespace: search}
spec:
  chart: {spec: {chart: ./charts/rank, sourceRef: {kind: ${ref}, name: platform}}}
${values}`;

export const mapped = (more = '') =>
  release(`  valuesFrom: [{kind: ConfigMap, name: rank-values${more}}]
  values: {replicas: 3}
`);
