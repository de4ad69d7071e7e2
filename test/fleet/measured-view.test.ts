import { expect, test } from 'vitest';
import type { PodUsage } from '../../server/src/fleet/device-usage.ts';
import { podsWithDevices, withUsage } from '../../server/src/fleet/measured-view.ts';
import { viewMaker } from '../../server/src/fleet/view.ts';
import { clusterOf } from '../support/cluster-objects.ts';
import { gpuNode, gpuPod } from '../support/gpu-cluster.ts';

const now = Date.parse('2026-08-01T00:00:00Z');
const GiB = 2 ** 30;

/** Every node costs $8 an hour. */
function viewOf(...objects: readonly unknown[]) {
  const make = viewMaker(() => ({ hourly: { min: 8, max: 8 }, basis: 'test' }));
  const about = { context: 'test', serverVersion: null, state: { kind: 'current' }, asOf: now, coverage: [] } as const;
  return make(clusterOf(objects), about);
}

function usage(pod: string, of: Partial<PodUsage> = {}): PodUsage {
  const memory = { used: 4 * GiB, total: 40 * GiB };
  return {
    ...{ namespace: 'team', pod, devices: 1, busy: { mean: 0.01, p95: 0.02 }, memory, allMemory: memory, watts: 60 },
    ...{ profile: null, isWhole: true, seconds: 21_600, isShared: false },
    ...of,
  };
}

const measured = (...pods: readonly PodUsage[]) =>
  ({ state: 'measured', message: null, source: 'here', hours: 6, pods }) as const;

/** What is said of the pod `p` on the node `n`. */
function saidOf(objects: readonly unknown[], of: Partial<PodUsage> = {}) {
  const { view, nodesOf } = withUsage(viewOf(...objects), measured(usage('p', of)));
  const pods = view.pools.flatMap(({ id }) => nodesOf(id).flatMap((node) => node.pods));
  return { said: pods[0]?.usage ?? null, idle: view.usage?.idle, slice: view.idlePods[0]?.slice };
}

const labeled = (labels: object, amounts: object = { 'nvidia.com/gpu': '8' }) => {
  const node = gpuNode('n', 'a100');
  const metadata = { ...node.metadata, labels: { ...(node.metadata.labels as object), ...labels } };
  const status = { ...(node.status as object), capacity: { cpu: '8', pods: '9', ...amounts } };
  return { ...node, metadata, status: { ...status, allocatable: status.capacity } };
};

const requesting = (requests: object) => {
  const pod = gpuPod('p', 1, 'n');
  const spec = pod.spec as object;
  return { ...pod, spec: { ...spec, containers: [{ name: 'main', resources: { requests, limits: requests } }] } };
};

test('the pods with devices are those that can be asked about', () => {
  const view = viewOf(gpuNode('n', 'a100'), gpuPod('p', 1, 'n'), gpuPod('waits', 1), requesting({ cpu: '1' }));
  expect([...podsWithDevices(view).values()]).toEqual([[{ namespace: 'team', name: 'p', node: 'n' }]]);
});

test('an idle pod with its price and a slice that would hold it', () => {
  const { said, idle, slice } = saidOf([gpuNode('n', 'a100'), gpuPod('p', 1, 'n')]);
  expect(said).toEqual(usage('p'));
  expect(idle).toEqual({ pods: 1, devices: 1, hourly: { min: 1, max: 1 } });
  expect(slice).toBe('1g.5gb');
});

const young = (minutes: number) => {
  const pod = gpuPod('p', 1, 'n');
  const creationTimestamp = new Date(now - minutes * 60_000).toISOString();
  return { ...pod, metadata: { ...pod.metadata, creationTimestamp } };
};

test('a pod that is younger than the window is not idle', () => {
  expect(saidOf([gpuNode('n', 'a100'), young(50)], { seconds: 3000 })).toMatchObject({
    said: { isWhole: false, busy: { mean: 0.01 } },
    idle: { pods: 0, devices: 0, hourly: null },
  });
});

test.each<readonly [string, readonly unknown[], Partial<PodUsage>]>([
  ['the metrics of an earlier pod with its name', [gpuNode('n', 'a100'), young(50)], {}],
  ['more devices than it holds', [gpuNode('n', 'a100'), gpuPod('p', 1, 'n')], { devices: 2 }],
  [
    'the card of its slice',
    [labeled({}, { 'nvidia.com/mig-1g.5gb': '7' }), requesting({ 'nvidia.com/mig-1g.5gb': '1' })],
    { busy: { mean: 0, p95: 0 } },
  ],
  [
    'the card of its slice, under the single strategy',
    [labeled({ 'nvidia.com/gpu.product': 'NVIDIA-A100-SXM4-40GB-MIG-1g.5gb' }), gpuPod('p', 1, 'n')],
    {},
  ],
])('figures of %s are not those of the pod', (_, objects, of) => {
  expect(saidOf(objects, of)).toMatchObject({ said: null, idle: { pods: 0 } });
});

test('a slice with the label of its profile is measured, and costs its part', () => {
  const objects = [labeled({}, { 'nvidia.com/mig-1g.5gb': '7' }), requesting({ 'nvidia.com/mig-1g.5gb': '1' })];
  const { said, idle, slice } = saidOf(objects, { profile: '1g.5gb' });
  expect(said?.busy?.mean).toBe(0.01);
  expect(idle?.pods).toBe(1);
  expect(idle?.devices).toBeLessThan(0.2);
  expect(slice).toBeNull();
});

test('a pod with fewer measured devices than it holds is not judged', () => {
  expect(saidOf([gpuNode('n', 'a100'), gpuPod('p', 4, 'n')])).toMatchObject({
    said: { isWhole: false },
    idle: { pods: 0 },
  });
});

test('figures of a time-sliced card are those of the card', () => {
  const { said, idle, slice } = saidOf([labeled({ 'nvidia.com/gpu.replicas': '4' }), gpuPod('p', 1, 'n')]);
  expect(said).toMatchObject({ isShared: true, watts: null });
  // The card is idle, so whoever shares it is; the pod holds a quarter of it.
  expect(idle).toMatchObject({ pods: 1, devices: 0.25 });
  expect(slice).toBeNull();
});

test('an unknown price makes the price of all idle pods unknown', () => {
  const make = viewMaker(({ instanceType }) =>
    instanceType === 'other' ? { hourly: null, because: 'test' } : { hourly: { min: 8, max: 8 }, basis: 'test' },
  );
  const about = { context: 'test', serverVersion: null, state: { kind: 'current' }, asOf: now, coverage: [] } as const;
  const unpriced = labeled({ 'node.kubernetes.io/instance-type': 'other' });
  const objects = [gpuNode('a', 'x'), unpriced, gpuPod('p', 1, 'a'), gpuPod('q', 1, 'n')];
  const view = make(clusterOf(objects), about);
  expect(withUsage(view, measured(usage('p'))).view.usage?.idle.hourly).toEqual({ min: 1, max: 1 });
  expect(withUsage(view, measured(usage('p'), usage('q'))).view.usage?.idle).toMatchObject({ pods: 2, hourly: null });
});

test('pools and workloads have the sums of their pods', () => {
  const objects = [gpuNode('n', 'a100'), gpuPod('p', 1, 'n'), gpuPod('q', 3, 'n'), gpuPod('r', 1, 'n')];
  const busy = { mean: 0.5, p95: 0.9 };
  const memory = { used: 30 * GiB, total: 120 * GiB };
  const { view, usageOf } = withUsage(
    viewOf(...objects),
    measured(usage('p', { busy: { mean: 0.1, p95: 0.1 } }), usage('q', { devices: 3, busy, allMemory: memory })),
  );
  const sum = { measured: 2, pods: 3, busy: (0.1 + 3 * 0.5) / 4, memory: { used: 34 * GiB, total: 160 * GiB } };
  expect(view.pools[0]?.usage).toEqual(sum);
  expect(view.owners[0]?.usage).toEqual(sum);
  expect(view.usage).toMatchObject({ pods: 3, measured: 2 });
  expect(usageOf('team', 'Job', 'train')).toMatchObject({ pods: 3, usages: [{}, {}] });
  expect(usageOf('team', 'Job', 'other')).toBeUndefined();
});

test('without measurements, the view is as before', () => {
  const view = viewOf(gpuNode('n', 'a100'), gpuPod('p', 1, 'n'));
  expect(withUsage(view, null).view).toBe(view.view);
});

test.each<readonly [string, readonly unknown[], Partial<PodUsage>]>([
  ['more devices than the machine has', [labeled({}, { 'nvidia.com/gpu': '32' }), gpuPod('p', 1, 'n')], {}],
  ['a device that other pods use', [gpuNode('n', 'a100'), gpuPod('p', 1, 'n')], { isShared: true }],
  ['a slice that no resource names', [gpuNode('n', 'a100'), gpuPod('p', 1, 'n')], { profile: '1g.5gb' }],
])('how much of the GPUs an idle pod holds is unknown: %s', (_, objects, of) => {
  expect(saidOf(objects, of)).toMatchObject({ said: { isWhole: false }, idle: { pods: 0 } });
});
