import { describe, expect, test } from 'vitest';
import { clusterMarkdown, poolYaml } from '../../server/src/features/cluster/cluster-text.ts';
import { clusterTree } from '../../server/src/features/cluster/cluster-tree.ts';
import { ageWords, deviceNumber, devicesWords, usageBar } from '../../server/src/features/cluster/cluster-words.ts';
import { dashboardPage } from '../../server/src/features/cluster/dashboard.ts';
import type { DrawnCluster } from '../../server/src/features/cluster/drawn-cluster.ts';
import { namespaceUse } from '../../server/src/features/cluster/namespace-use.ts';
import { viewMaker } from '../../server/src/fleet/view.ts';
import { clusterOf } from '../support/cluster-objects.ts';
import { largePool, sampleObjects } from '../support/sample-cluster.ts';

const now = Date.parse('2026-11-22T14:00:00Z');
const about = {
  context: 'prod',
  serverVersion: 'v1.36.2',
  state: { kind: 'current' },
  asOf: now,
  coverage: [],
} as const;

/** Every device costs $1 an hour. */
function drawn(objects: readonly unknown[], moment: object = {}): DrawnCluster {
  const make = viewMaker(({ devices }) =>
    devices === null
      ? { hourly: null, because: 'number of devices unknown' }
      : { hourly: { min: devices, max: devices }, basis: '$1 per device' },
  );
  return { ...make(clusterOf(objects), { ...about, ...moment }), now };
}

const sample = drawn(sampleObjects(now));
const rows = (parent: string | null, order: object = {}, cluster = sample) =>
  clusterTree(cluster, { kind: 'tree', parent, sort: 'free', filter: '', ...order });
const lines = (...args: Parameters<typeof rows>) =>
  rows(...args).map(({ label, description }) => `${label}: ${description}`);
const idOf = (label: string, parent: string | null = null, order: object = {}) =>
  rows(parent, order).find((row) => row.label === label)?.id ?? `no ${label}`;

describe('words', () => {
  test('a bar shows a part that is free, and a part that is not, however small', () => {
    const bars = [0, 1, 50, 99, 100].map((free) => usageBar({ total: 100, free }));
    expect(bars).toEqual(['▰▰▰▰▰', '▰▰▰▰▱', '▰▰▰▱▱', '▰▱▱▱▱', '▱▱▱▱▱']);
    expect(usageBar({ total: 0, free: 0 })).toBe('');
    expect(usageBar({ total: 4, free: 9 })).toBe('▱▱▱▱▱');
  });

  test('counts, devices and ages are short', () => {
    expect([0, 0.01, 2.571, 1024].map(deviceNumber)).toEqual(['0', '0.1', '2.6', '1,024']);
    expect(
      devicesWords([
        { resource: 'nvidia.com/gpu', count: 1 },
        { resource: 'nvidia.com/mig-1g.10gb', count: 2 },
        { resource: 'example.com/fpga', count: 3 },
      ]),
    ).toBe('1 GPU, 2 × mig-1g.10gb, 3 × example.com/fpga');
    const ages = [-5, 59, 3599, 7200, 172_799, 172_800].map((seconds) => ageWords(now - seconds * 1000, now));
    expect(ages).toEqual(['0 s', '59 s', '59 min', '2 h', '47 h', '2 d']);
  });
});

describe('the tree', () => {
  test('starts with pods that wait, then pools, workloads and problems', () => {
    expect(lines(null)).toEqual([
      'Pending: 3 pods · 20 GPUs',
      'a100: 14/16 free ▰▱▱▱▱ · $14/h idle · A100 40GB SXM',
      'h100: 6/24 free ▰▰▰▰▱ · $6.00/h idle · H100 80GB SXM',
      expect.stringMatching(/^l4-spot: 3\/12 free ▰▰▰▰▱ · 8 unavailable · .*1 node cordoned · L4/),
      'Workloads: 6',
      'Problems: 1',
    ]);
  });

  test('has nodes below pools, and pods below nodes', () => {
    const pool = idOf('h100');
    expect(lines(pool)).toEqual([
      'gke-h100-3: 6/8 free ▰▱▱▱▱ · $6.00/h idle',
      'gke-h100-1: 0/8 free ▰▰▰▰▰',
      'gke-h100-2: 0/8 free ▰▰▰▰▰',
    ]);
    expect(lines(idOf('gke-h100-3', pool))).toEqual([
      'llama-predictor-7d9f-kq4wz: 1 GPU · chat · InferenceService/llama · 4 h',
      'llama-predictor-7d9f-x2x8c: 1 GPU · chat · InferenceService/llama · 2 d',
    ]);
  });

  test('pods of a workload that wait for one reason are one row, with reason, way out and words below', () => {
    const pending = idOf('Pending');
    expect(lines(pending)).toEqual([
      expect.stringMatching(/^ablation-0: 4 GPUs · 2 h · .+ · team-b$/),
      expect.stringMatching(/^Job\/finetune: 2 pods · 8 GPUs each · 30 min · .+ · research$/),
    ]);
    const reasons = rows(idOf('Job/finetune', pending));
    expect(reasons.map(({ icon }) => icon)).toEqual(['info', 'lightbulb', 'comment']);
    expect(reasons.at(-1)?.label).toMatch(/^0\/8 nodes are available: 3 Insufficient nvidia\.com\/gpu/);
  });

  test('a workload has the pods that hold its devices, wherever they are', () => {
    const owners = idOf('Workloads');
    expect(rows(owners)[0]).toMatchObject({
      label: 'pretrain',
      description: '16 GPUs · $16.00/h · 2 pods · PyTorchJob · research',
    });
    expect(rows(owners).find(({ label }) => label === 'finetune')?.description).toBe('2 pending · Job · research');
    expect(lines(idOf('pretrain', owners))).toEqual([
      'pretrain-worker-1: 8 GPUs · research · PyTorchJob/pretrain · gke-h100-1 · 30 h',
      'pretrain-worker-2: 8 GPUs · research · PyTorchJob/pretrain · gke-h100-2 · 30 h',
    ]);
  });

  test('is sorted by idle cost or name', () => {
    const pools = (sort: string) => rows(null, { sort }).flatMap(({ kind, label }) => (kind === 'pool' ? label : []));
    expect(pools('name')).toEqual(['a100', 'h100', 'l4-spot']);
    expect(pools('idle')[0]).toBe('a100');
  });

  test('a filter keeps what has all words in its row or in one above it, open', () => {
    const order = { filter: 'H100 chat' };
    const roots = rows(null, order);
    expect(roots.map(({ label, children }) => [label, children])).toEqual([['h100', 'expanded']]);
    const nodes = rows(roots[0]?.id ?? '', order);
    expect(nodes.map(({ label }) => label)).toEqual(['gke-h100-3']);
    expect(rows(nodes[0]?.id ?? '', order)).toHaveLength(2);
    // Rows of a filtered tree are opened although they were closed before.
    expect(roots[0]?.id).not.toBe(idOf('h100'));
    expect(rows(null, { filter: 'nothing-like-this' })).toEqual([]);
  });

  test('the nodes of a large pool are in groups, so that no more than 200 rows are drawn at once', () => {
    const large = drawn(largePool(450, now));
    const pool = rows(null, {}, large)[0]?.id ?? '';
    const groups = rows(pool, {}, large);
    expect(groups.map(({ label, description }) => `${label}: ${description}`)).toEqual([
      'Nodes 1–100: 800 free',
      'Nodes 101–200: 800 free',
      'Nodes 201–300: 800 free',
      'Nodes 301–400: 800 free',
      'Nodes 401–450: 400 free',
    ]);
    expect(rows(groups[4]?.id ?? '', {}, large)).toHaveLength(50);
  });

  test('a row that is gone has nothing below it', () => {
    for (const id of ['pool\ngone', 'node\ngone\nn', 'owner\na\nb\nc', 'waiting\nx\ny', 'nodes\ngone\n1', '{}'])
      expect(rows(id)).toEqual([]);
  });

  test('a screen reader gets words instead of bars and units', () => {
    const spoken = rows(null).find(({ label }) => label === 'h100')?.spoken;
    expect(spoken).toBe('h100, 6 of 24 free, $6.00 an hour idle, H100 80GB SXM');
  });
});

describe('texts', () => {
  test('a pool as selector and tolerations', () => {
    const pool = sample.view.pools.find(({ name }) => name === 'a100');
    expect(poolYaml(sample.view, pool?.id ?? '')).toBe(`# The pool a100 of prod: for the spec of a pod.
nodeSelector:
  cloud.google.com/gke-nodepool: a100
tolerations:
  - key: nvidia.com/gpu
    operator: Equal
    value: present
    effect: NoSchedule
`);
  });

  test('Markdown has a table of pools and one of pods that wait', () => {
    const text = clusterMarkdown(sample.view);
    expect(text).toContain('| a100 | A100 40GB SXM | 2 | 16 | 2 | 14 | $16.00 | $14.00 |');
    expect(text).toContain('3 pending pods:');
  });
});

describe('the page', () => {
  const nonce = '0123456789abcdef';

  test('shows GPUs, cost and GPU-hours by namespace', () => {
    const uses = namespaceUse(sample).map(({ namespace, devices, hours }) => [namespace, devices, Math.round(hours)]);
    expect(new Map(uses.map(([name, ...rest]) => [name, rest]))).toEqual(
      new Map([
        ['research', [18, 880]],
        ['chat', [3, 65]],
      ]),
    );
    const page = dashboardPage(sample, nonce);
    expect(page.match(/<figure/g)).toHaveLength(5);
    expect(page).toContain(
      "default-src 'none'; style-src 'nonce-0123456789abcdef'; script-src 'nonce-0123456789abcdef'",
    );
  });

  test('says how old figures are after the connection is lost', () => {
    const state = { kind: 'unreachable', message: 'prod: the connection was closed' };
    const page = dashboardPage(drawn(sampleObjects(now), { state, asOf: now - 180_000 }), nonce);
    expect(page).toMatch(/role="status">.*the connection was closed.*3 min ago/);
  });

  test('escapes all text of the cluster', () => {
    const evil = '</script><img src=x onerror=alert(1)>"\'`';
    const hostile = JSON.parse(
      JSON.stringify(sampleObjects(now)).replaceAll('a100', JSON.stringify(evil).slice(1, -1)),
    );
    const page = dashboardPage(drawn(hostile), nonce);
    expect(page).toContain('&#60;img src=x onerror=alert(1)&#62;');
    expect(page).not.toContain('<img');
    expect(page.match(/<script/g)).toHaveLength(1);
  });
});
