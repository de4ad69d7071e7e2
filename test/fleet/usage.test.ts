import { describe, expect, test } from 'vitest';
import { idleWords, isIdle, type PodUsage, podUsage, smallerSlice, usageWords } from '../../server/src/fleet/usage.ts';
import {
  availableMetrics,
  type MetricName,
  readVector,
  type Statistic,
  type UsageAnswer,
  usageQueries,
} from '../../server/src/fleet/usage-metrics.ts';

type LabelTable = Readonly<Record<string, string>>;

const trainer = {
  exported_namespace: 'ml',
  exported_pod: 'train-0',
  namespace: 'monitoring',
  pod: 'dcgm-exporter-x',
  UUID: 'GPU-1',
};

describe('usage by pod', () => {
  test('takes the pod that the exporter names, not the exporter', () => {
    const [pod, ...others] = podUsage(whole(trainer));
    expect(pod).toEqual({
      namespace: 'ml',
      pod: 'train-0',
      devices: 1,
      busy: { p50: 0.02, p95: 0.07, max: 0.4 },
      memory: { used: 11 * 2 ** 30, total: 80 * 2 ** 30 },
      watts: 90,
      profile: null,
      isWhole: true,
    });
    expect(others).toEqual([]);
  });

  test('leaves out idle devices of an exporter whose labels were renamed', () => {
    const idle = { namespace: 'monitoring', pod: 'dcgm-exporter-x', UUID: 'GPU-2' };
    expect(podUsage([...whole(trainer), ...whole(idle)]).map(({ pod }) => pod)).toEqual(['train-0']);
  });

  test('reads pods without a prefix where the exporter’s labels are honored', () => {
    expect(podUsage(whole({ namespace: 'ml', pod: 'train-0', UUID: 'GPU-1' })).map(({ pod }) => pod)).toEqual([
      'train-0',
    ]);
  });

  test('of several devices the busiest and the fullest count, and watts are added', () => {
    const [pod] = podUsage([...whole(trainer), ...whole({ ...trainer, UUID: 'GPU-2' }, 3)]);
    expect(pod).toMatchObject({ devices: 2, busy: { p95: 0.21 }, memory: { used: 33 * 2 ** 30 }, watts: 360 });
  });

  test('slices of one card are devices of their own', () => {
    const slice = (id: string) => ({ ...trainer, GPU_I_ID: id, GPU_I_PROFILE: '1g.10gb' });
    expect(podUsage([...whole(slice('7')), ...whole(slice('8'))])).toMatchObject([{ devices: 2, profile: '1g.10gb' }]);
  });

  test('the engine’s activity takes precedence over the older figure', () => {
    const answers = [
      answer('DCGM_FI_PROF_GR_ENGINE_ACTIVE', 'p95', trainer, 0.07),
      answer('DCGM_FI_DEV_GPU_UTIL', 'p95', trainer, 100),
    ];
    const rest = [
      answer('DCGM_FI_DEV_GPU_UTIL', 'p50', trainer, 2),
      answer('DCGM_FI_DEV_GPU_UTIL', 'max', trainer, 40),
    ];
    expect(podUsage([...answers, ...rest])[0]?.busy).toEqual({ p50: 0.02, p95: 0.07, max: 0.4 });
  });

  test('a device without a metric makes the amount of its pod unknown', () => {
    const [pod] = podUsage([
      ...whole(trainer),
      answer('DCGM_FI_DEV_POWER_USAGE', 'mean', { ...trainer, UUID: 'GPU-2' }, 50),
    ]);
    expect(pod).toMatchObject({ devices: 2, busy: null, memory: null, watts: 140, isWhole: false });
  });

  test('reads AMD and Neuron metrics', () => {
    const amd = { namespace: 'ml', pod: 'amd-0', gpu_uuid: 'a', hostname: 'n' };
    const neuron = { namespace: 'ml', pod: 'trn-0', neuroncore: '0' };
    const answers = [
      ...(['p50', 'p95', 'max', 'before'] as const).flatMap((each) => [
        answer('gpu_gfx_activity', each, amd, 30),
        answer('neuroncore_utilization_ratio', each, neuron, 0.5),
      ]),
      answer('gpu_used_vram', 'max', amd, 1024),
      answer('gpu_total_vram', 'max', amd, 196_608),
    ];
    expect(podUsage(answers)).toMatchObject([
      { pod: 'amd-0', busy: { p95: 0.3 }, memory: { used: 2 ** 30, total: 192 * 2 ** 30 }, isWhole: true },
      { pod: 'trn-0', busy: { p95: 0.5 }, memory: null, isWhole: true },
    ]);
  });

  test('values that are not numbers are not measurements', () => {
    expect(podUsage([answer('DCGM_FI_DEV_GPU_UTIL', 'p95', trainer, Number.NaN)])).toEqual([]);
  });
});

describe('in words', () => {
  const pod: PodUsage = {
    ...{ namespace: 'ml', pod: 'train-0', devices: 1, profile: null, watts: null, isWhole: true },
    ...{ busy: { p50: 0.02, p95: 0.07, max: 0.4 }, memory: { used: 11 * 2 ** 30, total: 80 * 2 ** 30 } },
  };

  test('a pod that a slice would hold', () => {
    expect(usageWords(pod, 'h100-80gb-sxm')).toBe('uses 11 of 80 GiB, 7% busy: 1g.20gb would hold it');
  });

  test.each([
    ['the card is unknown', pod, undefined],
    ['it is too busy for one', { ...pod, busy: { p50: 0.9, p95: 0.95, max: 1 } }, 'h100-80gb-sxm'],
    ['its memory is too large', { ...pod, memory: { used: 70 * 2 ** 30, total: 80 * 2 ** 30 } }, 'h100-80gb-sxm'],
    ['the window is not complete', { ...pod, isWhole: false }, 'h100-80gb-sxm'],
    ['it uses several devices', { ...pod, devices: 2 }, 'h100-80gb-sxm'],
    ['it has a slice', { ...pod, profile: '1g.10gb' }, 'h100-80gb-sxm'],
    ['the card has no MIG', pod, 'l4'],
  ])('no slice is named if %s', (_, usage, gpu) => {
    expect(usageWords(usage, gpu)).not.toContain('would hold');
  });

  test('a slice with more compute where more is needed', () => {
    expect(smallerSlice({ ...pod, busy: { p50: 0.2, p95: 0.4, max: 1 } }, 'h100-80gb-sxm')?.name).toBe('3g.40gb');
  });

  test('idle pods, and what they cost', () => {
    const idle = [8, 8, 8].map((devices) => ({ ...pod, devices, busy: { p50: 0, p95: 0.01, max: 0.9 } }));
    expect(idle.every((each) => isIdle(each, 0.05))).toBe(true);
    expect(idleWords(idle, 0.05, 6, '$165/h')).toBe('3 pods hold 24 GPUs under 5% for 6 h: $165/h');
    expect(idleWords(idle.slice(0, 1), 0.05, 1, null)).toBe('1 pod holds 8 GPUs under 5% for 1 h');
    expect(idleWords([], 0.05, 6, null)).toBeUndefined();
  });

  test('a pod that has not run for the whole window is not idle', () => {
    expect(isIdle({ ...pod, busy: { p50: 0, p95: 0, max: 0 }, isWhole: false }, 0.05)).toBe(false);
    expect(isIdle({ ...pod, busy: null }, 0.05)).toBe(false);
  });
});

describe('the answers of Prometheus', () => {
  test('only metrics that are there are asked for', () => {
    const found = availableMetrics([{ labels: new Map([['__name__', 'DCGM_FI_DEV_FB_USED']]), value: 1 }]);
    expect(usageQueries(found, 6).map(({ query }) => query)).toEqual(['max_over_time(DCGM_FI_DEV_FB_USED[21600s])']);
  });

  test('an error is a problem in words', () => {
    expect(readVector({ status: 'error', error: 'query timed out' })).toEqual({ problem: 'query timed out' });
    expect(readVector({})).toEqual({ problem: 'the answer is not that of a Prometheus server' });
    expect(readVector({ status: 'success', data: { resultType: 'matrix' } })).toEqual({
      problem: 'the answer is not a vector',
    });
  });
});

function answer(metric: MetricName, statistic: Statistic, labels: LabelTable, value: number): UsageAnswer {
  return { metric, statistic, series: [{ labels: new Map(Object.entries(labels)), value }] };
}

/** A device that used 11 of 80 GiB and was 7% busy, or so many times as much. */
function whole(labels: LabelTable, times = 1): readonly UsageAnswer[] {
  const used = 11 * 1024 * times;
  return [
    answer('DCGM_FI_PROF_GR_ENGINE_ACTIVE', 'p50', labels, 0.02 * times),
    answer('DCGM_FI_PROF_GR_ENGINE_ACTIVE', 'p95', labels, Math.round(7 * times) / 100),
    answer('DCGM_FI_PROF_GR_ENGINE_ACTIVE', 'max', labels, 0.4),
    answer('DCGM_FI_PROF_GR_ENGINE_ACTIVE', 'before', labels, 0.1),
    answer('DCGM_FI_DEV_FB_USED', 'max', labels, used),
    answer('DCGM_FI_DEV_FB_FREE', 'min', labels, 80 * 1024 - used),
    answer('DCGM_FI_DEV_POWER_USAGE', 'mean', labels, 90 * times),
  ];
}
