import { expect, test } from 'vitest';
import { Analysis } from '../../server/src/analysis.ts';
import {
  idlePodsWords,
  podUsageLines,
  podUsageParts,
  usageSumWords,
  workloadUsageWords,
} from '../../server/src/features/cluster/device-usage-words.ts';
import { hover } from '../../server/src/features/hover/hover.ts';
import { renderPlain } from '../../server/src/features/hover/render.ts';
import type { PodUsage } from '../../server/src/fleet/device-usage.ts';
import { clusterFrom, liveClusterOf } from '../support/cluster-objects.ts';

const GiB = 2 ** 30;
const memory = { used: 11 * GiB, total: 80 * GiB };
const pod: PodUsage = {
  ...{ namespace: 'ml', pod: 'p', devices: 1, busy: { mean: 0.07, p95: 0.1 }, memory, allMemory: memory, watts: 90.4 },
  ...{ profile: null, isWhole: true, seconds: 21_600, isShared: false },
};
const none = { ...pod, busy: null, memory: null, allMemory: null, watts: null };

test.each<readonly [Partial<PodUsage>, string | undefined, readonly string[]]>([
  [{}, '7% busy', ['11 of 80 GiB']],
  [{ devices: 8 }, '7% busy', ['up to 11 of 80 GiB']],
  [{ memory: null }, '7% busy', []],
  [{ busy: { mean: 0.004, p95: 0.01 } }, '<1% busy', ['11 of 80 GiB']],
  [{ busy: null, memory: { used: 1.26 * GiB, total: 4.75 * GiB } }, undefined, ['1.3 of 4.8 GiB']],
  [{ isShared: true }, '7% busy', ['11 of 80 GiB', 'shared GPU']],
  [none, undefined, []],
])('a pod: %j', (of, busy, rest) => {
  expect(podUsageParts({ ...pod, ...of })).toEqual({ busy, rest });
});

test('what the figures of a pod mean', () => {
  expect(podUsageLines(pod)).toEqual([
    '7% busy on average, at most 10% for 95% of the time',
    'At most 11 of 80 GiB in use',
    '90 W on average',
  ]);
  expect(podUsageLines({ ...none, isShared: true, isWhole: false })).toEqual([
    'Other pods share the GPU, so the figures may include theirs',
    'Measured for only part of the window',
  ]);
});

test('a pool or workload', () => {
  const sum = { measured: 2, pods: 2, busy: 0.34, memory: { used: 240 * GiB, total: 1920 * GiB } };
  expect(usageSumWords(sum)).toBe('34% busy, 240 of 1,920 GiB');
  expect(usageSumWords({ ...sum, pods: 5, memory: null })).toBe('34% busy, 2 of 5 pods measured');
});

test('idle pods, and what they cost', () => {
  const words = (pods: number, devices: number, hourly: number | null) =>
    idlePodsWords({ hours: 6, idle: { pods, devices, hourly: hourly === null ? null : { min: hourly, max: hourly } } });
  expect(words(3, 24, 165)).toMatch(/^3 pods hold 24 GPUs under 5% for 6 h: \$165(\.00)?\/h$/);
  expect(words(1, 1, null)).toBe('1 pod holds 1 GPU under 5% for 6 h');
  expect(words(0, 0, null)).toBeUndefined();
});

const workload = (pods: number, ...usages: readonly (readonly [Partial<PodUsage>, string | null])[]) =>
  workloadUsageWords({ pods, usages: usages.map(([of, slice]) => ({ usage: { ...pod, ...of }, slice })) }, 6);

test.each([
  ['its pod', workload(1, [{}, '1g.20gb']), 'its pod uses 11 of 80 GiB, 7% busy over 6 h: 1g.20gb would be enough'],
  [
    'several pods',
    workload(2, [{}, 'a'], [{}, 'a']),
    'its 2 pods use up to 11 of 80 GiB, 7% busy over 6 h: a would be enough for each',
  ],
  [
    'pods that need different slices',
    workload(2, [{}, 'a'], [{}, 'b']),
    'its 2 pods use up to 11 of 80 GiB, 7% busy over 6 h',
  ],
  ['some of the pods', workload(3, [{}, 'a']), '1 of its 3 pods use up to 11 of 80 GiB, 7% busy over 6 h'],
  ['a young pod', workload(1, [{ isWhole: false }, null]), 'its pod uses 11 of 80 GiB, 7% busy over less than 6 h'],
  ['no memory', workload(1, [{ memory: null }, null]), 'its pod is 7% busy over 6 h'],
  [
    'a shared GPU',
    workload(1, [{ isShared: true }, null]),
    'its pod uses 11 of 80 GiB, 7% busy over 6 h, on a GPU that other pods share',
  ],
  ['nothing', workload(1, [none, null]), null],
])('what a workload uses: %s', (_, words, expected) => {
  expect(words).toBe(expected);
});

test('the hover of a manifest says what its pods use', () => {
  const live = liveClusterOf(clusterFrom('one-pool.yaml'));
  const usage = workload(1, [{}, '1g.20gb']);
  const analysis = new Analysis({ strict: true });
  analysis.workspace.setCluster({
    ...live,
    answer(question) {
      const answer = live.answer(question);
      return answer && { ...answer, usage };
    },
  });
  const text = `apiVersion: v1
kind: Pod
metadata: {name: p, namespace: ml}
spec: {containers: [{name: main, image: a, resources: {limits: {nvidia.com/gpu: 1}}}]}
`;
  const shown = renderPlain(hover(analysis.setFile('file:///p.yaml', text), text.indexOf('Pod'))?.blocks ?? []);
  expect(shown).toContain('Its pod uses 11 of 80 GiB, 7% busy over 6 h: 1g.20gb would be enough');
});
