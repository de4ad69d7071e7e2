import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { at, list } from '../../server/src/fleet/json.ts';
import { administrator, narrowUser, type Rule, throwawayNamespaces, unique } from './cluster.ts';

// The worker as a whole, as `gpulint cluster` runs it, with the rights that docs/cluster.md names.

const admin = administrator();
const namespaces = throwawayNamespaces(admin);
const page = readFileSync(path.join(import.meta.dirname, '../../docs/cluster.md'), 'utf8');
const role: { readonly rules: readonly Rule[] } = parse(/```yaml\n(apiVersion: rbac[\s\S]*?)```/.exec(page)?.[1] ?? '');
const node = unique('h100');
let namespace = '';
let token = '';

beforeAll(async () => {
  namespace = await namespaces.create(unique('command'));
  const allocatable = { cpu: '96', memory: '1Ti', pods: '110', 'nvidia.com/gpu': '8' };
  const labels = { 'nvidia.com/gpu.product': 'NVIDIA-H100-80GB-HBM3', 'cloud.google.com/gke-nodepool': 'h100' };
  const conditions = [{ type: 'Ready', status: 'True' }];
  await admin.create('/api/v1/nodes', {
    metadata: { name: node, labels },
    status: { allocatable, capacity: allocatable, conditions },
  });
  await admin.patch(`/api/v1/nodes/${node}`, { spec: { taints: null } });
  await createPod('holds', 3, node);
  token = (await narrowUser(admin, namespace, role.rules, 'cluster')).token;
});

afterAll(async () => {
  await admin.remove(`/api/v1/namespaces/${namespace}/pods/holds`);
  await admin.remove(`/api/v1/namespaces/${namespace}/pods/waits`);
  await admin.remove(`/api/v1/nodes/${node}`);
  await namespaces.remove();
});

describe('gpulint cluster', () => {
  test('shows pools, free devices and pods that wait, with the rights that the page names', async () => {
    await createPod('waits', 6);
    const output = await run(token);
    const view: unknown = JSON.parse(output.stdout);
    const [pool] = list(at(view, 'pools'));
    expect([at(pool, 'name'), at(pool, 'devices', 'total'), at(pool, 'devices', 'free')]).toEqual(['h100', 8, 5]);
    const own = list(at(view, 'pending')).filter((pod) => at(pod, 'namespace') === namespace);
    expect(own.map((pod) => at(pod, 'name'))).toEqual(['waits']);
    expect(list(at(view, 'coverage')).filter((each) => at(each, 'state') === 'forbidden')).toEqual([]);
  });

  test('says that the nodes may not be read', async () => {
    const pods: readonly Rule[] = [{ apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'] }];
    const { status, stderr } = await run((await narrowUser(admin, namespace, pods)).token);
    expect(status).toBe(2);
    expect(stderr).toMatch(/nodes/);
  });

  test('says that the credentials are not valid', async () => {
    const { status, stderr } = await run('no-such-token');
    expect(status).toBe(2);
    expect(stderr).not.toContain('no-such-token');
  });
});

async function createPod(name: string, gpus: number, nodeName?: string): Promise<void> {
  const limits = { 'nvidia.com/gpu': String(gpus) };
  await admin.create(`/api/v1/namespaces/${namespace}/pods`, {
    metadata: { name },
    spec: {
      ...(nodeName !== undefined && { nodeName }),
      automountServiceAccountToken: false,
      containers: [{ name: 'x', image: 'x', resources: { limits } }],
    },
  });
}

/** Runs the command line as the user with this token. */
async function run(user: string) {
  const config = new KubeConfig();
  config.loadFromFile(inject('kubeconfig'));
  const cluster = config.getCurrentCluster();
  const other = new KubeConfig();
  if (cluster !== null) other.loadFromClusterAndUser(cluster, { name: 'other', token: user });
  const folder = mkdtempSync(path.join(tmpdir(), 'gpulint-command-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const kubeconfig = path.join(folder, 'config');
  writeFileSync(kubeconfig, other.exportConfig());
  const child = spawn(process.execPath, [path.join(inject('programs'), 'cli.js'), 'cluster', '--format', 'json'], {
    env: { PATH: process.env.PATH, GPULINT_PRICES: 'none', KUBECONFIG: kubeconfig },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const status = new Promise<number | null>((resolve) => child.on('close', resolve));
  const [stdout = '', stderr = ''] = await Promise.all([child.stdout, child.stderr].map(textOf));
  return { stdout, stderr, status: await status };
}

async function textOf(stream: AsyncIterable<unknown>): Promise<string> {
  const parts: string[] = [];
  for await (const part of stream) parts.push(String(part));
  return parts.join('');
}
