import { describe, expect, test } from 'vitest';
import type { PodUsage } from '../../server/src/fleet/device-usage.ts';
import { isIdle, podUsage, smallerSlice } from '../../server/src/fleet/usage.ts';
import { devicePods, podFinder } from '../../server/src/fleet/usage-labels.ts';
import {
  availableMetrics,
  availableQuery,
  readVector,
  type UsageAnswer,
  usageQueries,
} from '../../server/src/fleet/usage-metrics.ts';
import { dcgmDevice, dcgmLabels, type ExportedDevice, vectorOf } from '../support/prometheus-server.ts';

const GiB = 2 ** 30;
const pods = devicePods(
  [
    ['ml', 'train-0', 'n1'],
    ['ml', 'train-1', 'n1'],
    ['dev', 'train-1', 'n2'],
  ].map(([namespace = '', name = '', node = '']) => ({ namespace, name, node })),
);

/** What the exporters have said, as Prometheus answers. */
function answersOf(devices: readonly ExportedDevice[]): readonly UsageAnswer[] {
  const read = (query: string) => {
    const result = readVector({ status: 'success', data: { resultType: 'vector', result: vectorOf(query, devices) } });
    if ('problem' in result) throw new Error(result.problem);
    return result;
  };
  return usageQueries(availableMetrics(read(availableQuery)), 6).map(({ query, ...asked }) => ({
    ...asked,
    series: read(query),
  }));
}

const usageOf = (...devices: readonly ExportedDevice[]) => podUsage(answersOf(devices), pods, 6);
const labels = dcgmLabels('ml', 'train-0', 'GPU-1');
const light = { busy: 0.07, used: 11 };

describe('usage by pod', () => {
  test('has busy time, memory and power over the window', () => {
    expect(usageOf(dcgmDevice(labels, light))).toEqual([
      {
        namespace: 'ml',
        pod: 'train-0',
        devices: 1,
        busy: { mean: 0.07, p95: 0.07 },
        memory: { used: 11 * GiB, total: 80 * GiB },
        allMemory: { used: 11 * GiB, total: 80 * GiB },
        watts: 90,
        profile: null,
        isWhole: true,
        seconds: 21_600,
        isShared: false,
      },
    ]);
  });

  test('of several devices the busiest and the fullest decide, and the rest is added', () => {
    const second = dcgmDevice(dcgmLabels('ml', 'train-0', 'GPU-2'), { busy: 0.21, used: 33 });
    const [pod] = usageOf(dcgmDevice(labels, light), second);
    expect(pod).toMatchObject({ devices: 2, memory: { used: 33 * GiB }, allMemory: { used: 44 * GiB }, watts: 180 });
    expect(pod?.busy?.p95).toBe(0.21);
    expect(pod?.busy?.mean).toBeCloseTo(0.14);
  });

  test('slices of one card are devices of their own, without power', () => {
    const slice = (id: string) => dcgmDevice({ ...labels, GPU_I_ID: id, GPU_I_PROFILE: '1g.10gb' }, light);
    expect(usageOf(slice('7'), slice('8'))).toMatchObject([{ devices: 2, profile: '1g.10gb', watts: null }]);
  });

  test('the figure that is 0 for every slice is not its busy time', () => {
    const slice = { ...labels, GPU_I_ID: '7', GPU_I_PROFILE: '1g.10gb' };
    const values = { DCGM_FI_DEV_GPU_UTIL: 0, DCGM_FI_DEV_FB_USED: 1, DCGM_FI_DEV_FB_FREE: 1 };
    expect(usageOf({ labels: slice, values })).toMatchObject([{ busy: null, isWhole: false }]);
  });

  test('the engine’s activity takes precedence over the older figure', () => {
    const device = dcgmDevice(labels, light);
    const both = { ...device, values: { ...device.values, DCGM_FI_DEV_GPU_UTIL: 100 } };
    expect(usageOf(both)[0]?.busy).toEqual({ mean: 0.07, p95: 0.07 });
    expect(usageOf({ labels, values: { DCGM_FI_DEV_GPU_UTIL: 30 } })[0]?.busy?.mean).toBeCloseTo(0.3);
  });

  test('of copies of a series, the one with the most use counts', () => {
    const copy = (replica: string, busy: number) => dcgmDevice({ ...labels, replica }, { busy, used: busy * 10 });
    expect(usageOf(copy('a', 0.01), copy('b', 0.5))).toMatchObject([
      { devices: 1, busy: { p95: 0.5 }, memory: { used: 5 * GiB } },
    ]);
  });

  test('pods with series of the same device share it', () => {
    const copy = (pod: string, vgpu: string) => dcgmDevice({ ...dcgmLabels('ml', pod, 'GPU-1'), vgpu }, light);
    expect(usageOf(copy('train-0', '0'), copy('train-1', '1')).map(({ isShared }) => isShared)).toEqual([true, true]);
  });

  test('a device without a metric makes the amount of its pod unknown', () => {
    const other = { labels: dcgmLabels('ml', 'train-0', 'GPU-2'), values: { DCGM_FI_DEV_POWER_USAGE: 50 } };
    const [pod] = usageOf(dcgmDevice(labels, light), other);
    expect(pod).toMatchObject({ devices: 2, busy: null, memory: null, watts: 140, isWhole: false });
  });

  test.each([
    ['samples are missing', { steps: 20, before: 0 }],
    ['it began after the window', { steps: 36 }],
    ['nobody knows its samples', { before: 0 }],
  ])('it is not whole if %s', (_, of) => {
    const values = { DCGM_FI_PROF_GR_ENGINE_ACTIVE: { mean: 0, p95: 0, ...of } };
    expect(usageOf({ labels, values })).toMatchObject([{ isWhole: false, busy: { p95: 0 } }]);
  });

  test('reads AMD and Neuron metrics', () => {
    const amd = { namespace: 'ml', pod: 'train-0', gpu_uuid: 'a', hostname: 'n1' };
    const neuron = { pod_name: 'train-1', namespace: 'ml', neuroncore: '0' };
    const values = { gpu_gfx_activity: 30, gpu_used_vram: 1024, gpu_total_vram: 196_608 };
    const [one, two] = usageOf(
      { labels: amd, values },
      { labels: neuron, values: { neuroncore_utilization_ratio: 0.5 } },
    );
    expect(one).toMatchObject({ busy: { p95: 0.3 }, memory: { used: GiB, total: 192 * GiB }, isWhole: true });
    expect(two).toMatchObject({ pod: 'train-1', busy: { p95: 0.5 }, memory: null, isWhole: true });
  });

  test('values that are not numbers are not measurements', () => {
    const values = { DCGM_FI_DEV_GPU_UTIL: Number.NaN };
    expect(usageOf({ labels, values })).toMatchObject([{ busy: null, isWhole: false }]);
  });
});

describe('the pod of a series', () => {
  test.each([
    ['renamed by the scrape', { exported_namespace: 'ml', exported_pod: 'train-0', namespace: 'mon', pod: 'dcgm-x' }],
    ['as the exporter says', { namespace: 'ml', pod: 'train-0' }],
    ['renamed by a user', { pod_namespace: 'ml', pod_name: 'train-0', namespace: 'mon', pod: 'dcgm-x' }],
    ['from OpenTelemetry', { k8s_namespace_name: 'ml', k8s_pod_name: 'train-0' }],
    ['of cAdvisor', { kubernetes_namespace: 'ml', kubernetes_pod_name: 'train-0', namespace: 'mon' }],
    ['without a namespace, if only one pod has the name', { pod: 'train-0' }],
    ['on its node', { namespace: 'ml', pod: 'train-0', Hostname: 'N1.example.com', node: 'n1' }],
    ['by an exporter that gives its own host', { namespace: 'ml', pod: 'train-0', Hostname: 'dcgm-exporter-abc' }],
  ])('is found: %s', (_, written) => {
    expect(podFinder(pods)(new Map(Object.entries(written)))).toEqual({ namespace: 'ml', name: 'train-0', node: 'n1' });
  });

  test.each([
    ['the exporter', { namespace: 'mon', pod: 'dcgm-x' }],
    ['a pod of another namespace', { namespace: 'mon', pod: 'train-0' }],
    ['a name that two pods have', { pod: 'train-1' }],
    ['a pod of another cluster', { namespace: 'ml', pod: 'train-0', Hostname: 'other-node' }],
    ['a value of another label', { namespace: 'ml', container: 'train-0', pod_uid: 'train-0' }],
    ['two pods', { namespace: 'ml', pod: 'train-0', pod_name: 'train-1' }],
  ])('is not found: %s', (_, written) => {
    expect(podFinder(pods)(new Map(Object.entries(written)))).toBeUndefined();
  });
});

describe('advice', () => {
  const pod: PodUsage = {
    ...{ namespace: 'ml', pod: 'train-0', devices: 1, profile: null, watts: null, isWhole: true },
    ...{ busy: { mean: 0.02, p95: 0.07 }, memory: { used: 11 * GiB, total: 80 * GiB }, allMemory: null },
    ...{ seconds: 21_600, isShared: false },
  };

  test.each([
    ['the smallest that holds it', pod, '1g.20gb'],
    ['one with more compute where more is needed', { ...pod, busy: { mean: 0.2, p95: 0.4 } }, '3g.40gb'],
    ['none if it is too busy', { ...pod, busy: { mean: 0.9, p95: 0.95 } }, undefined],
    ['none if its memory is too large', { ...pod, memory: { used: 70 * GiB, total: 80 * GiB } }, undefined],
    ['none if the window is not complete', { ...pod, isWhole: false }, undefined],
    ['none if it uses several devices', { ...pod, devices: 2 }, undefined],
    ['none if it has a slice', { ...pod, profile: '1g.10gb' }, undefined],
    ['none if others use the device', { ...pod, isShared: true }, undefined],
  ])('names a slice: %s', (_, usage, slice) => {
    expect(smallerSlice(usage, 'h100-80gb-sxm')?.name).toBe(slice);
  });

  test('a card without MIG has no slices', () => {
    expect(smallerSlice(pod, 'l4')).toBeUndefined();
  });

  test('a pod is idle only if it was measured for the whole window', () => {
    const idle = { ...pod, busy: { mean: 0, p95: 0.01 } };
    expect([idle, pod, { ...idle, isWhole: false }, { ...idle, busy: null }].map(isIdle)).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });
});

describe('the answers of Prometheus', () => {
  test('only metrics that are there are asked for, of series that are there', () => {
    const found = availableMetrics([{ labels: new Map([['__name__', 'DCGM_FI_DEV_FB_USED']]), value: 1 }]);
    expect(usageQueries(found, 6).map(({ query }) => query)).toEqual([
      'max_over_time(DCGM_FI_DEV_FB_USED[21600s]) and DCGM_FI_DEV_FB_USED',
    ]);
  });

  test('an error is a problem in words', () => {
    expect(readVector({ status: 'error', error: 'query timed out' })).toEqual({ problem: 'query timed out' });
    expect(readVector({})).toEqual({ problem: 'the answer is not that of a Prometheus server' });
    expect(readVector({ status: 'success', data: { resultType: 'matrix' } })).toEqual({
      problem: 'the answer is not a vector',
    });
  });
});
