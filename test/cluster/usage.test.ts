import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { liveEngine } from '../../server/src/cluster/live-engine.ts';
import { listPrices } from '../../server/src/cost/custom-prices.ts';
import type { ClusterDrawing } from '../../server/src/features/cluster/drawn.ts';
import { type ClusterLab, startClusterLab } from '../support/cluster-lab.ts';
import { fillCluster, gpuNode, gpuPod } from '../support/gpu-cluster.ts';
import {
  dcgmDevice,
  dcgmLabels,
  startPrometheus,
  success,
  type TestPrometheus,
  vectorOf,
} from '../support/prometheus-server.ts';

let lab: ClusterLab;
let prometheus: TestPrometheus;

/** Eight idle GPUs of the pod full, and four busy ones of the pod half. */
const devices = [
  ...Array.from({ length: 8 }, (_, index) =>
    dcgmDevice(dcgmLabels('team', 'full', `GPU-${index}`), { busy: 0.01, used: 4, total: 40 }),
  ),
  ...Array.from({ length: 4 }, (_, index) =>
    dcgmDevice(dcgmLabels('other', 'half', `GPU-1${index}`), { busy: 0.9, used: 30, total: 40 }),
  ),
];

beforeEach(async () => {
  lab = await startClusterLab({ engine: liveEngine('', listPrices) });
  prometheus = await startPrometheus(devices);
});

afterEach(async () => {
  await lab.close();
  await prometheus.close();
});

const usage = () => lab.status()?.view?.usage ?? null;

async function connected(url: string | null = prometheus.url): Promise<void> {
  lab.connect({ prometheus: { url, token: null } });
  await lab.until(() => usage() !== null && usage()?.state !== 'asking');
}

async function drawn(drawing: ClusterDrawing) {
  const before = lab.messages.length;
  lab.send({ kind: 'draw', id: 1, drawing });
  const found = () => lab.messages.slice(before).find((message) => message.kind === 'drawn');
  await lab.until(() => found() !== undefined);
  const message = found();
  if (message?.kind !== 'drawn' || message.drawn === null) throw new Error('nothing drawn');
  return message.drawn;
}

const tree = { kind: 'tree', sort: 'free', filter: '' } as const;

test('what pods use is part of the view, of the tree and of the answers', async () => {
  fillCluster(lab.server);
  await connected();
  expect(usage()).toMatchObject({
    state: 'measured',
    source: prometheus.url,
    pods: 2,
    measured: 2,
    idle: { pods: 1, devices: 8 },
  });
  const { text, nodes } = await drawn({ ...tree, parent: null });
  expect(text).toBe('16 GPUs, 4 free · $58.77/h · $14.69/h idle · 1 pod holds 8 GPUs under 5% for 6 h: $29.39/h');
  expect(nodes.find(({ kind }) => kind === 'pool')?.description).toMatch(
    /^4\/16 free · 31% busy · \$15\/h idle · ▰▰▰▰▱ · 152 of 480 GiB · /,
  );
  const { nodes: pods } = await drawn({ ...tree, parent: 'node\ngke/a100\nn1' });
  expect(pods[0]?.description).toMatch(/^1% busy · 8 GPUs · up to 4 of 40 GiB · team/);
  expect(pods[0]?.icon).toBe('circle-outline');
  expect(pods[0]?.tooltip).toContain('1% busy on average, at most 1% for 95% of the time');

  const template = { metadata: {}, spec: { containers: [] } };
  const owner = { kind: 'Job', name: 'train' };
  const groups = [{ name: 'main', template, count: 1 }];
  const question = { namespace: 'team', owner, groups, together: false, queue: null, claims: [] };
  lab.send({ kind: 'ask', key: 'q', question });
  const answers = () =>
    lab.messages.flatMap((message) => (message.kind === 'answered' ? message.answers.map(({ answer }) => answer) : []));
  await lab.until(() => answers().length > 0);
  expect(answers()[0]?.usage).toBe('its pod uses up to 4 of 40 GiB, 1% busy over 6 h');
});

test('the page has the idle pods, and says where the figures are from', async () => {
  fillCluster(lab.server);
  await connected();
  const { text } = await drawn({ kind: 'page', nonce: 'n' });
  expect(text).toContain('<h2 id="idle">1 pod holds 8 GPUs under 5% for 6 h: $29.39/h</h2>');
  expect(text).toContain(`measured over 6 h by Prometheus at `);
  expect(text).toContain(new URL(prometheus.url).port);
  expect(text).toContain('Busy GPUs by pool');
});

test('a server that fails is a state, and is asked again after a while, not before', async () => {
  fillCluster(lab.server);
  prometheus.fault = (_, response) => response.writeHead(503).end() !== undefined;
  await connected();
  const message = `Prometheus at ${prometheus.url} answered 503; usage is not shown`;
  expect(usage()).toMatchObject({ state: 'problem', message, idle: { pods: 0 } });
  expect(prometheus.queries).toHaveLength(1);
  expect((await drawn({ ...tree, parent: 'problems' })).nodes.map(({ label }) => label)).toContain(message);

  lab.server.put('/api/v1/nodes', gpuNode('n3', 'a100'));
  await lab.until(() => lab.status()?.view?.totals.nodes === 3);
  lab.clock.advance(200_000);
  expect(prometheus.queries).toHaveLength(1);

  prometheus.fault = undefined;
  lab.clock.advance(100_000);
  await lab.until(() => usage()?.state === 'measured');
});

test('without pods that hold devices, and without leave, nothing is asked', async () => {
  lab.server.put('/api/v1/nodes', gpuNode('n1', 'a100'));
  lab.connect({ prometheus: { url: prometheus.url, token: null } });
  await lab.until(() => lab.status()?.state === 'live' && usage() === null);
  fillCluster(lab.server);
  lab.connect();
  await lab.until(() => lab.status()?.view?.totals.nodes === 2);
  expect(prometheus.queries).toEqual([]);
  expect(lab.server.requests.filter((request) => request.includes('/proxy/'))).toEqual([]);
});

test('a well-known service is found through the API server, and stays', async () => {
  fillCluster(lab.server);
  const path = '/api/v1/namespaces/monitoring/services/prometheus-k8s:9090/proxy/api/v1/query';
  lab.server.fault = ({ url = '' }, response) => {
    const address = new URL(url, 'https://localhost');
    if (!address.pathname.includes('/proxy/')) return false;
    const query = address.searchParams.get('query') ?? '';
    if (address.pathname === path) response.end(success(vectorOf(query, devices)));
    else response.writeHead(403, { 'content-type': 'application/json' }).end('{"kind":"Status","code":403}');
    return true;
  };
  await connected(null);
  expect(usage()).toMatchObject({ state: 'measured', source: 'monitoring/prometheus-k8s', measured: 2 });
  const asked = () => lab.server.requests.filter((request) => request.includes('/proxy/'));
  const before = asked().length;
  lab.clock.advance(300_000);
  await lab.until(() => asked().length === before + 8);
  expect(
    asked()
      .slice(before)
      .every((request) => request.startsWith(path)),
  ).toBe(true);
});

test('without the right to reach services, nothing is said, and nothing is tried again soon', async () => {
  fillCluster(lab.server);
  lab.server.fault = ({ url = '' }, response) =>
    url.includes('/proxy/') && response.writeHead(403).end('{"kind":"Status","code":403}') !== undefined;
  const asked = () => lab.server.requests.filter((request) => request.includes('/proxy/')).length;
  lab.connect({ prometheus: { url: null, token: null } });
  await lab.until(() => lab.status()?.state === 'live' && usage() === null && asked() > 0);
  const before = asked();
  lab.clock.advance(1_800_000);
  lab.server.put('/api/v1/pods', gpuPod('more', 1, 'n2'));
  await lab.until(() => lab.status()?.view?.totals.devices.used === 13);
  expect(asked()).toBe(before);
});

test('after disconnecting, nothing is asked', async () => {
  fillCluster(lab.server);
  await connected();
  const before = prometheus.queries.length;
  lab.send({ kind: 'disconnect' });
  lab.clock.advance(600_000);
  const other = await startPrometheus();
  onTestFinished(() => other.close());
  expect(prometheus.queries).toHaveLength(before);
});
