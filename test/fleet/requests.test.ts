import { describe, expect, test } from 'vitest';
import { amountsOf, podRequests } from '../../server/src/fleet/requests.ts';
import { analyse } from '../support/analyse.ts';

// What pods need, computed by hand: all containers and sidecars together, or an init container with the sidecars that start before it, for each
// resource on its own.

type Quantities = Readonly<Record<string, string | number>>;

const container = (requests: Quantities, restartPolicy?: 'Always') => ({
  image: 'example.com/x:1',
  resources: { requests, limits: 'nvidia.com/gpu' in requests ? { 'nvidia.com/gpu': requests['nvidia.com/gpu'] } : {} },
  ...(restartPolicy && { restartPolicy }),
});
const init = (requests: Quantities) => container(requests);
const sidecar = (requests: Quantities) => container(requests, 'Always');
const gpu = 'nvidia.com/gpu';

interface Case {
  readonly name: string;
  readonly init?: readonly object[];
  readonly apps: readonly object[];
  readonly more?: object;
  /** Thousandths of a core, bytes, devices. */
  readonly needs: readonly [cpu: number, memory: number, gpus: number];
}

const cases: readonly Case[] = [
  {
    name: 'apps and sidecars run together: 2 + 1 + 0.5',
    init: [sidecar({ cpu: '500m', memory: '1Gi', [gpu]: 1 })],
    apps: [container({ cpu: 2, memory: '2Gi', [gpu]: 2 }), container({ cpu: 1, memory: '1Gi' })],
    needs: [3500, 4 * 2 ** 30, 3],
  },
  {
    name: 'an init container runs with the sidecars above it, not with those below: max(1 + 5, 1 + 2 + 1)',
    init: [sidecar({ cpu: 1, [gpu]: 1 }), init({ cpu: 5, [gpu]: 4 }), sidecar({ cpu: 2, [gpu]: 2 })],
    apps: [container({ cpu: 1, [gpu]: 1 })],
    needs: [6000, 0, 5],
  },
  {
    name: 'an init container above the sidecars runs alone: max(5, 3 + 1)',
    init: [init({ cpu: 5, [gpu]: 2 }), sidecar({ cpu: 3, [gpu]: 3 })],
    apps: [container({ cpu: 1, [gpu]: 1 })],
    needs: [5000, 0, 4],
  },
  {
    name: 'each resource has its own peak: 4 cores while the init container runs, 6 GiB and 2 GPUs later',
    init: [sidecar({ memory: '2Gi' }), init({ cpu: 4, memory: '1Gi', [gpu]: 1 })],
    apps: [container({ cpu: 1, memory: '4Gi', [gpu]: 2 })],
    needs: [4000, 6 * 2 ** 30, 2],
  },
  {
    name: 'two init containers with sidecars between them: max(2 + 3, 2 + 1 + 4, 2 + 1 + 1)',
    init: [sidecar({ cpu: 2 }), init({ cpu: 3 }), sidecar({ cpu: 1 }), init({ cpu: 4 })],
    apps: [container({ cpu: 1, [gpu]: 1 })],
    needs: [7000, 0, 1],
  },
  {
    name: 'a request of the pod replaces the sum, and the overhead comes on top: 4 + 0.25',
    init: [init({ cpu: 9 })],
    apps: [container({ cpu: 2, memory: '1Gi', [gpu]: 1 })],
    more: { resources: { requests: { cpu: 4 } }, overhead: { cpu: '250m', memory: '1Gi' } },
    needs: [4250, 2 * 2 ** 30, 1],
  },
  {
    name: 'a limit of the pod is its request only if no container has one',
    apps: [container({ cpu: 2, [gpu]: 1 })],
    more: { resources: { limits: { cpu: 8, memory: '3Gi' } } },
    needs: [2000, 3 * 2 ** 30, 1],
  },
];

describe.each(cases)('$name', ({ init: initContainers = [], apps, more, needs }) => {
  const named = (containers: readonly object[], prefix: string) =>
    containers.map((each, index) => ({ name: `${prefix}-${index}`, ...each }));
  const spec = { initContainers: named(initContainers, 'init'), containers: named(apps, 'app'), ...more };

  test('for the scheduler', () => {
    const requests = podRequests(spec);
    expect(['cpu', 'memory', gpu].map((name) => requests.get(name) ?? 0)).toEqual(needs);
  });

  test('for the machine that its cost is about', () => {
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' }, spec };
    const [podSet] = analyse(JSON.stringify(pod)).documents.flatMap(({ workloads }) => workloads)[0]?.podSets ?? [];
    const { cpu, memoryGiB } = podSet?.placement.needs ?? { cpu: -1, memoryGiB: -1 };
    const gpus = podSet?.accelerators.reduce((sum, { perPod }) => sum + (perPod ?? 0), 0);
    expect([cpu * 1000, memoryGiB * 2 ** 30, gpus]).toEqual(needs);
  });
});

describe('fractions', () => {
  const memoryOf = (...amounts: readonly string[]) =>
    podRequests({ containers: amounts.map((memory) => container({ memory })) }).get('memory');

  test('are rounded up once, in the sum of the pod', () => {
    expect(memoryOf('1500m', '1500m')).toBe(3);
    expect(memoryOf('1500m', '1600m')).toBe(4);
    expect(memoryOf('100m', '200m', '700m')).toBe(1);
    expect(memoryOf('0.1Ki', '0.1Ki')).toBe(205);
  });

  test('are rounded up to thousandths in each container, as the API server stores them', () => {
    expect(memoryOf('1.0001', '1.0009')).toBe(3);
    expect(memoryOf('1.9991', '1')).toBe(3);
    expect(memoryOf('999900u', '999900u')).toBe(2);
    const cpu = ['100u', '100u'].map((amount) => container({ cpu: amount }));
    expect(podRequests({ containers: cpu }).get('cpu')).toBe(2);
  });

  test('do not change large amounts', () => {
    const large = '9007199254740991';
    expect(amountsOf({ memory: large, cpu: '2.89', 'nvidia.com/gpu': 8 })).toEqual(
      new Map([
        ['memory', Number(large)],
        ['cpu', 2890],
        ['nvidia.com/gpu', 8],
      ]),
    );
    expect(memoryOf('1.1Ti')).toBe(Math.ceil(1.1 * 2 ** 40));
  });
});
