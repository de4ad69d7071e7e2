import { describe, expect, test } from 'vitest';
import type { ClusterView, DeviceSum, LivePool } from '../../server/src/fleet/cluster-view.ts';
import { type ComputedView, viewMaker } from '../../server/src/fleet/view.ts';
import { clusterFrom } from '../support/cluster-objects.ts';

const asOf = Date.parse('2026-11-22T14:02:00Z');
const about = { context: 'prod', serverVersion: 'v1.36.2', state: { kind: 'current' }, asOf, coverage: [] } as const;

/** Every device costs $1 an hour, if the number of devices is known. */
const computed: ComputedView = viewMaker(({ devices }) =>
  devices === null
    ? { hourly: null, because: 'number of devices unknown' }
    : { hourly: { min: devices, max: devices }, basis: '$1 per device' },
)(clusterFrom('platforms.yaml'), about);
const { view } = computed;

describe('pools by the names that their platforms give them', () => {
  // [id, model, devices: total = used + free + unavailable, nodes, $ per hour and idle]
  const expected: readonly (readonly string[])[] = [
    ['gke/a100-pool', 'A100 40GB SXM', '8 = 5 + 3 + 0', '2 of 2 ready', '$8, $3 idle'],
    ['eks/train-p5', 'H100 80GB SXM', '24 = 0 + 8 + 16', '2 of 3 ready', '$24, $24 idle'],
    ['karpenter/gpu-spot', 'L4', '1 = 1 + 0 + 0', '1 of 1 ready', '$1, $0 idle'],
    ['aks/mig', 'A100 80GB PCIe', '1 = 0.428571 + 0.571429 + 0', '1 of 1 ready', '$1, $0.571429 idle'],
    [
      'oke/ocid1.nodepool.oc1.us-chicago-1.aaaaaaaaexamplepool',
      'MI300X',
      '8 = 8 + 0 + 0',
      '1 of 1 ready',
      '$8, $0 idle',
    ],
    ['coreweave/h100', 'H100 80GB SXM', '8 = 0 + 8 + 0', '1 of 1 ready', '$8, $8 idle'],
    ['doks/gpu-pool', 'H100 80GB SXM', '1 = 0 + 0 + 1', '1 of 1 ready', '$1, $1 idle'],
    ['openshift/prod-x7f2p-gpu-us-east-1a', 'A10G', '1 = 0.25 + 0.75 + 0', '1 of 1 ready', '$1, $0.75 idle'],
    ['similar-nodes/H200 141GB SXM', 'H200 141GB SXM', '16 = 0 + 8 + 8', '2 of 2 ready', '$16, $16 idle'],
    ['eks/trn', 'Trainium1', '16 = 4 + 12 + 0', '1 of 1 ready', '$16, $12 idle'],
    ['gke/tpu', 'TPU v5e', '4 = 0 + 4 + 0', '1 of 1 ready', '$4, $4 idle'],
    ['other/gaudi', 'Gaudi1', '8 = 0 + 8 + 0', '1 of 1 ready', '$8, $8 idle'],
    ['other/slices', 'A100 80GB SXM', '2 = 0.714286 + 1.285714 + 0', '1 of 1 ready', '$2, $1.285714 idle'],
    ['other/dra', 'L4', '3 = 2 + 1 + 0', '1 of 1 ready', '$3, $1 idle'],
  ];
  test.each(expected.map((row) => [row[0] ?? '', row] as const))('%s', (id, row) => {
    const pool = poolOf(id);
    expect([
      pool.id,
      pool.model?.name,
      sumText(pool.devices),
      `${pool.readyNodes} of ${pool.nodes} ready`,
      costText(pool.cost),
    ]).toEqual(row);
  });

  test('are all of the pools: a node without accelerators is in none', () => {
    expect(view.pools.map(({ id }) => id).sort()).toEqual(expected.map(([id]) => id).sort());
    expect(view.totals.nodes).toBe(18);
    expect(sumText(view.totals.devices)).toBe('101 = 21.392857 + 54.607143 + 25');
  });
});

describe('what a pool says of its nodes', () => {
  test('taints and labels that all nodes have, without those of their state', () => {
    expect(poolOf('gke/a100-pool').taints).toEqual([{ key: 'nvidia.com/gpu', value: 'present', effect: 'NoSchedule' }]);
    expect(poolOf('eks/train-p5').taints).toEqual([]);
    expect(poolOf('gke/a100-pool').labels.map(({ key }) => key)).not.toContain('topology.kubernetes.io/zone');
    expect(poolOf('gke/a100-pool').label).toEqual({ key: 'cloud.google.com/gke-nodepool', value: 'a100-pool' });
    expect(poolOf('gke/a100-pool').zones).toEqual(['us-central1-a', 'us-central1-b']);
  });

  test('capacity types, tolerations of the platform and the bounds of an autoscaler', () => {
    expect(view.pools.map(({ id, capacity }) => `${id} ${capacity}`)).toEqual(
      expect.arrayContaining([
        'gke/a100-pool spot',
        'gke/tpu on-demand',
        'eks/trn spot',
        'karpenter/gpu-spot spot',
        'other/dra null',
      ]),
    );
    expect(poolOf('gke/a100-pool').toleratesRequested).toBe(true);
    expect(poolOf('eks/train-p5').toleratesRequested).toBe(true);
    expect(poolOf('karpenter/gpu-spot').growth).toEqual({
      by: 'Karpenter NodePool gpu-spot',
      min: null,
      max: null,
      limits: [
        { resource: 'nvidia.com/gpu', limit: 4, used: 1 },
        { resource: 'cpu', limit: 64_000, used: 4000 },
      ],
    });
  });

  test('the largest pod, pods by size, and devices next to other pods', () => {
    const { largestFit, fits, scattered } = poolOf('gke/a100-pool');
    expect(largestFit).toEqual({
      resource: 'nvidia.com/gpu',
      devices: 2,
      cpu: 39.81,
      memory: (330 - 64) * 2 ** 30,
      node: 'gke-prod-a100-pool-1a2b3c4d-aaaa',
    });
    expect(fits).toEqual([
      { devices: 1, pods: 3 },
      { devices: 2, pods: 1 },
      { devices: 4, pods: 0 },
    ]);
    expect(scattered).toBe(3);
    expect(poolOf('eks/train-p5').largestFit?.devices).toBe(8);
  });

  test('layouts of slices and time slices', () => {
    const [mig] = computed.nodesOf('aks/mig');
    expect(mig?.mig).toEqual({
      strategy: 'mixed',
      config: 'all-1g.10gb',
      profiles: [{ profile: '1g.10gb', total: 7, free: 4 }],
    });
    const [single] = computed.nodesOf('other/slices');
    expect(single?.mig).toEqual({
      strategy: 'single',
      config: null,
      profiles: [{ profile: '1g.10gb', total: 14, free: 9 }],
    });
    const [shared] = computed.nodesOf('openshift/prod-x7f2p-gpu-us-east-1a');
    expect(shared?.sharing).toEqual({ replicas: 4, strategy: 'time-slicing' });
    expect(computed.nodesOf('other/dra')[0]?.dra).toEqual([
      { driver: 'gpu.nvidia.com', total: 3, allocated: 2, product: 'NVIDIA L4' },
    ]);
  });
});

describe('who holds the devices', () => {
  test.each([
    ['serving/Deployment/chat', '2 × nvidia.com/gpu'],
    ['serving/Pod/leaving', '3 × nvidia.com/gpu'],
    ['search/LeaderWorkerSet/embed', '1 × nvidia.com/gpu'],
    ['research/PyTorchJob/pretrain', '8 × amd.com/gpu'],
    ['lab/Pod/notebook', '3 × nvidia.com/mig-1g.10gb'],
    ['lab/Pod/render', '1 × gpu.nvidia.com'],
  ])('%s: %s', (name, devices) => {
    const use = view.owners.find(({ namespace, owner }) => `${namespace}/${owner.kind}/${owner.name}` === name);
    expect(use?.devices.map(({ resource, count }) => `${count} × ${resource}`).join()).toBe(devices);
  });

  test('the most devices first, with their part of the price', () => {
    const [first] = view.owners;
    expect(first).toMatchObject({ owner: { name: 'pretrain' }, deviceSum: 8, hourly: { min: 8, max: 8 } });
    const notebook = view.owners.find(({ owner }) => owner.name === 'notebook');
    expect(notebook?.hourly?.min).toBeCloseTo(3 / 7);
  });

  test('states of pods', () => {
    const nodes = view.pools.flatMap(({ id }) => computed.nodesOf(id));
    const states = nodes.flatMap(({ pods }) => pods.map(({ name, state }) => `${name} ${state}`));
    expect(states).toEqual(expect.arrayContaining(['leaving terminating', 'embed-0 starting', 'dev running']));
    expect(states.join()).not.toContain('done');
  });
});

test('nodes without the devices that their labels promise, and devices that nobody uses', () => {
  expect(view.problems).toEqual([
    { node: 'gpu-pool-e8x2k', pool: 'doks/gpu-pool', message: '1 of 1 nvidia.com/gpu unhealthy' },
    { node: 'dgx-2', pool: 'similar-nodes/H200 141GB SXM', message: 'no devices: driver or device plugin not running' },
  ]);
  expect(view.leaked).toEqual([{ namespace: 'lab', name: 'forgotten', devices: 1, node: 'dra-1' }]);
});

test('a view passes between threads and to JSON unchanged', () => {
  expect(structuredClone(view)).toEqual(view);
  expect(JSON.parse(JSON.stringify(view))).toEqual(view);
});

function poolOf(id: string): LivePool {
  const pool = view.pools.find((one) => one.id === id);
  if (pool === undefined) throw new Error(`no pool ${id}`);
  return pool;
}

function sumText({ total, used, free, unavailable }: DeviceSum): string {
  return `${total} = ${used} + ${free} + ${unavailable}`;
}

function costText({ hourly, idle }: ClusterView['totals']['cost']): string {
  const text = (amount: number | undefined) => (amount === undefined ? '?' : String(Math.round(amount * 1e6) / 1e6));
  return `$${text(hourly?.min)}, $${text(idle?.max)} idle`;
}
