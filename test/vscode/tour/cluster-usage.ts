// The GPU Clusters view where a Prometheus of the cluster has measured the GPUs.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import type { KubeObject } from '../../support/api-server/server.ts';
import { dcgmDevice, dcgmLabels, type ExportedDevice, success, vectorOf } from '../../support/prometheus-server.ts';
import { prod } from './cluster-surroundings.ts';
import { connect, expand, message, openDashboard, row } from './clusters.ts';
import { violations } from './cost-report.ts';
import { caretBehind, hoverAtCaret, open, type Step, sees } from './stage.ts';

/** Its devices, of which the exporter says the same. */
function devices(namespace: string, pod: string, count: number, of: Parameters<typeof dcgmDevice>[1]) {
  return Array.from(
    { length: count },
    (_, index): ExportedDevice => dcgmDevice(dcgmLabels(namespace, pod, `GPU-${pod}-${index}`), of),
  );
}

const measured: readonly ExportedDevice[] = [
  ...devices('research', 'pretrain-worker-1', 8, { busy: 0.93, used: 71 }),
  ...devices('research', 'pretrain-worker-2', 8, { busy: 0.91, used: 70 }),
  ...devices('research', 'notebook-ada-0', 2, { busy: 0.01, used: 2.2, total: 40 }),
  ...devices('research', 'playground-0', 1, { busy: 0.07, used: 3.2, total: 40 }),
  ...devices('chat', 'llama-predictor-7d9f-x2x8c', 1, { busy: 0.35, used: 73 }),
  // It is 4 hours old.
  ...devices('chat', 'llama-predictor-7d9f-kq4wz', 1, { busy: 0.02, used: 73, steps: 24 }),
];

function pod(name: string, gpus: number): KubeObject {
  const limits = { 'nvidia.com/gpu': String(gpus) };
  const owner = {
    kind: 'StatefulSet',
    name: name.replace(/-0$/, ''),
    controller: true,
    uid: name,
    apiVersion: 'apps/v1',
  };
  return {
    metadata: {
      name,
      namespace: 'research',
      creationTimestamp: new Date(Date.now() - 200 * 3_600_000).toISOString(),
      ownerReferences: [owner],
    },
    spec: { nodeName: 'gke-a100-1', containers: [{ name: 'main', resources: { requests: limits, limits } }] },
    status: { phase: 'Running' },
  };
}

const manifest = `apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: playground
  namespace: research
spec:
  selector: {matchLabels: {app: playground}}
  template:
    metadata: {labels: {app: playground}}
    spec:
      containers:
        - name: main
          image: registry.example.com/playground:2.0.1
          resources:
            limits:
              nvidia.com/gpu: 1
`;

export const clusterUsage: readonly Step[] = [
  {
    feature: 'Measured idleness',
    shows: 'with GPU metrics in Prometheus, the view and a hover say how busy GPUs are and what idle ones cost',
    picture: 'clusters-usage',
    async run(stage) {
      const { page, workspace, shot } = stage;
      prod.proxied = (service, url) =>
        service === 'monitoring/prometheus-operated:9090'
          ? success(vectorOf(url.searchParams.get('query') ?? '', measured))
          : undefined;
      // An earlier step ends it.
      for (const [name, gpus] of [['notebook-ada-0', 2] as const, ['playground-0', 1] as const])
        prod.put('/api/v1/pods', pod(name, gpus));
      fs.writeFileSync(path.join(workspace, 'playground.yaml'), manifest);
      await connect(page, 'prod');
      await sees(page, message, /1 pod holds 2 GPUs under 5% for 6 h: \$[\d.]+\/h$/);
      await sees(page, row, /^h100.*84% busy · .*1,274 of 1,440 GiB/);
      await expand(page, /^a100/);
      await expand(page, /^gke-a100-1/);
      await sees(page, row, /^notebook-ada-0.*1% busy · 2 GPUs · up to 2\.2 of 40 GiB/);
      await open(stage, 'playground.yaml');
      await caretBehind(stage, 'playground.yaml', 'nvidia.com/gpu: 1');
      await hoverAtCaret(page, /Its pod uses 3\.2 of 40 GiB, 7% busy over 6 h: 1g\.5gb would be enough/);
      await shot();
      assert.ok(prod.requests.some((request) => request.includes('/services/prometheus-operated:9090/proxy/')));
    },
  },
  {
    feature: 'Measured idleness',
    shows: 'the dashboard lists the idle pods with their price, without accessibility problems',
    picture: 'clusters-usage-dashboard',
    async run({ page, shot }) {
      await sees(page, message, /1 pod holds 2 GPUs/);
      const dashboard = await openDashboard(page);
      await dashboard.locator('[data-table="idle"] tbody tr', { hasText: 'notebook-ada-0' }).waitFor();
      await dashboard.locator('figure', { hasText: 'Busy GPUs by pool' }).waitFor();
      await shot();
      assert.deepEqual(await violations(page), []);
    },
  },
];
