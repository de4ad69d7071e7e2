import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { liveEngine } from '../../server/src/cluster/live-engine.ts';
import { resources } from '../../server/src/cluster/resources.ts';
import { listPrices } from '../../server/src/cost/custom-prices.ts';
import type { PolicyRule } from '../support/api-server/requests.ts';
import { type ClusterLab, startClusterLab } from '../support/cluster-lab.ts';
import { fillCluster } from '../support/gpu-cluster.ts';
import { dcgmDevice, dcgmLabels, success, vectorOf } from '../support/prometheus-server.ts';

// The ClusterRole in docs/cluster.md is what users bind: it must be enough, and no more than that.

const page = readFileSync(path.join(import.meta.dirname, '../../docs/cluster.md'), 'utf8');
const [role, usageRole] = [...page.matchAll(/```yaml\n(apiVersion: rbac[\s\S]*?)```/g)].map(
  ([, text = '']): {
    readonly metadata: { readonly namespace?: string };
    readonly rules: readonly PolicyRule[];
  } => parse(text),
);
if (role === undefined || usageRole === undefined) throw new Error('a role is missing');

const served = Object.values(resources).map(({ group, versions, name }) =>
  group === '' ? `/api/v1/${name}` : `/apis/${group}/${versions[0]}/${name}`,
);

let lab: ClusterLab;

beforeEach(async () => {
  lab = await startClusterLab();
  for (const collection of served) {
    lab.server.put(collection, { metadata: { name: 'some', namespace: 'team' } });
    lab.server.remove(collection, 'some', 'team');
  }
  fillCluster(lab.server);
});

afterEach(async () => {
  await lab.close();
});

const notRead = () => lab.status()?.view?.coverage.filter(({ state }) => state !== 'read') ?? [];

test('the role has every right that gpulint uses', async () => {
  lab.server.rights = { '*': role.rules };
  lab.connect();
  await lab.until(() => lab.status()?.state === 'live');
  expect(notRead()).toEqual([]);
  expect(lab.objects()?.pods).toHaveLength(3);
});

test.each(role.rules.flatMap((rule) => rule.resources.map((resource) => [resource, rule] as const)))(
  'without its right to list %s, something is missing',
  async (resource, rule) => {
    const less = { ...rule, resources: rule.resources.filter((one) => one !== resource) };
    lab.server.rights = { '*': [less, ...role.rules.filter((one) => one !== rule)] };
    lab.connect();
    const isMissing = () => lab.status()?.state === 'forbidden' || notRead().some(({ state }) => state === 'forbidden');
    await lab.until(() => isMissing() && lab.status()?.state !== 'loading');
    expect(lab.server.requests.some((request) => request.includes(`/${resource}`))).toBe(true);
  },
);

test('every request is a list or a watch of what the page names', async () => {
  lab.connect();
  await lab.until(() => lab.status()?.state === 'live');
  const named = role.rules.flatMap((rule) => rule.resources);
  const requested = lab.server.requests
    .map((request) => request.split('?')[0] ?? '')
    .filter((request) => request !== '/version' && request !== '/apis')
    .map((request) => request.split('/').at(-1) ?? '');
  expect([...new Set(requested)].sort()).toEqual([...named].sort());
});

test('the role for usage is enough to reach Prometheus through the API server, and optional', async () => {
  const measuring = await startClusterLab({ engine: liveEngine('', listPrices) });
  onTestFinished(() => measuring.close());
  const { server } = measuring;
  fillCluster(server);
  const device = dcgmDevice(dcgmLabels('other', 'half', 'GPU-1'), { busy: 0.5, used: 4 });
  server.proxied = (service, url) =>
    service === 'monitoring/prometheus-operated:9090'
      ? success(vectorOf(url.searchParams.get('query') ?? '', [device]))
      : undefined;
  const usage = () => measuring.status()?.view?.usage;

  server.rights = { '*': role.rules };
  measuring.connect({ prometheus: { url: null, token: null } });
  await measuring.until(() => usage() === null);
  expect(measuring.status()).toMatchObject({ state: 'live', message: null });

  server.rights = { '*': role.rules, [usageRole.metadata.namespace ?? '']: usageRole.rules };
  measuring.connect({ prometheus: { url: null, token: null } });
  await measuring.until(() => usage()?.state === 'measured');
  expect(usage()).toMatchObject({ source: 'monitoring/prometheus-operated', measured: 1, pods: 2 });
});
