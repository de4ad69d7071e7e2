import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { answerFit } from '../../server/src/fleet/fit.ts';
import type { FitAnswer } from '../../server/src/fleet/fit-question.ts';
import { clusterOf } from '../support/cluster-objects.ts';

// Gangs of random pods on small random clusters, against a search that tries every node for every pod. It knows nothing of the engine: it works on
// the records below, of which the objects of the API are made.

interface Box {
  readonly zone: 'a' | 'b';
  readonly cpu: number;
  readonly gpu: number;
  readonly tainted: boolean;
  /** Devices of dynamic resource allocation, by their memory in GiB. */
  readonly devices: readonly (40 | 80)[];
}

interface Group {
  readonly count: number;
  readonly cpu: number;
  readonly gpu: number;
  readonly tolerates: boolean;
  readonly zone: 'a' | 'b' | null;
  readonly apart: boolean;
  readonly sameZone: boolean;
  /** Devices of one claim per pod, and the memory that each must have. */
  readonly claim: { readonly count: number; readonly memory: 40 | 80 } | null;
}

const box: fc.Arbitrary<Box> = fc.record({
  zone: fc.constantFrom('a', 'b'),
  cpu: fc.integer({ min: 1, max: 8 }),
  gpu: fc.integer({ min: 0, max: 4 }),
  tainted: fc.boolean(),
  devices: fc.array(fc.constantFrom(40 as const, 80 as const), { maxLength: 3 }),
});

const plain = {
  count: fc.integer({ min: 1, max: 4 }),
  cpu: fc.integer({ min: 0, max: 3 }),
  gpu: fc.integer({ min: 0, max: 2 }),
  tolerates: fc.boolean(),
  zone: fc.option(fc.constantFrom('a' as const, 'b' as const), { freq: 1 }),
};
const alone = { apart: fc.constant(false), sameZone: fc.constant(false) };
const none = { claim: fc.constant(null) };
const claim = fc.option(
  fc.record({ count: fc.integer({ min: 1, max: 2 }), memory: fc.constantFrom(40 as const, 80 as const) }),
  { freq: 4 },
);

const kinds: readonly (readonly [string, fc.Arbitrary<Group>])[] = [
  ['pods that only share resources', fc.record({ ...plain, ...alone, ...none })],
  ['pods with affinity', fc.record({ ...plain, apart: fc.boolean(), sameZone: fc.boolean(), ...none })],
  ['pods with claims', fc.record({ ...plain, ...alone, claim })],
  ['pods with affinity and claims', fc.record({ ...plain, apart: fc.boolean(), sameZone: fc.boolean(), claim })],
];

describe('a gang fits exactly if there is a node for each of its pods', () => {
  test.each(kinds)('%s', (_, group) => {
    const scenario = fc.tuple(
      fc.array(box, { minLength: 1, maxLength: 4 }),
      fc.array(group, { minLength: 1, maxLength: 3 }),
    );
    let fitting = 0;
    fc.assert(
      fc.property(scenario, ([boxes, groups]) => {
        const answer = ask(boxes, groups);
        expect(answer.outcome === 'fits').toBe(search(boxes, groups));
        if (answer.outcome === 'fits') fitting += 1;
        else expect(answer.fitting).toBe(0);
      }),
      { numRuns: 400, seed: 24 },
    );
    // Neither answer is rare.
    expect(fitting).toBeGreaterThan(20);
    expect(fitting).toBeLessThan(380);
  });

  test('and of one group, as many pods as there is room for', () => {
    const scenario = fc.tuple(fc.array(box, { minLength: 1, maxLength: 4 }), fc.record({ ...plain, ...alone, claim }));
    fc.assert(
      fc.property(scenario, ([boxes, group]) => {
        const most = [0, 1, 2, 3, 4]
          .filter((count) => count <= group.count && search(boxes, [{ ...group, count }]))
          .at(-1);
        expect(ask(boxes, [group], false).fitting).toBe(most);
      }),
      { numRuns: 300, seed: 24 },
    );
  });
});

function ask(boxes: readonly Box[], groups: readonly Group[], together = true): FitAnswer {
  const question = {
    namespace: 'default',
    groups: groups.map((group, index) => ({
      name: `g${index}`,
      count: group.count,
      template: templateOf(group, index),
    })),
    together,
    queue: null,
    claims: groups.flatMap((group, index) => claimOf(group, index)),
  };
  return answerFit(question, clusterOf(boxes.flatMap(objectsOf)), { context: 'test', asOf: 0, gaps: [] });
}

function objectsOf({ zone, cpu, gpu, tainted, devices }: Box, index: number): readonly unknown[] {
  const name = `node-${index}`;
  const labels = { 'kubernetes.io/hostname': name, zone };
  return [
    {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, labels },
      spec: { taints: tainted ? [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }] : [] },
      status: { allocatable: { cpu: String(cpu), pods: '110', 'nvidia.com/gpu': String(gpu) } },
    },
    {
      apiVersion: 'resource.k8s.io/v1',
      kind: 'ResourceSlice',
      metadata: { name },
      spec: {
        driver: 'gpu.nvidia.com',
        nodeName: name,
        pool: { name, generation: 1, resourceSliceCount: 1 },
        devices: devices.map((memory, at) => ({ name: `gpu-${at}`, capacity: { memory: { value: `${memory}Gi` } } })),
      },
    },
    { apiVersion: 'resource.k8s.io/v1', kind: 'DeviceClass', metadata: { name: 'gpu' }, spec: {} },
  ];
}

function templateOf({ cpu, gpu, tolerates, zone, apart, sameZone, claim: claimed }: Group, index: number): unknown {
  const group = `g${index}`;
  const term = (topologyKey: string) => ({
    requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey, labelSelector: { matchLabels: { group } } }],
  });
  return {
    metadata: { labels: { group } },
    spec: {
      nodeSelector: zone === null ? {} : { zone },
      tolerations: tolerates ? [{ key: 'gpu', operator: 'Exists' }] : [],
      affinity: {
        ...(apart && { podAntiAffinity: term('kubernetes.io/hostname') }),
        ...(sameZone && { podAffinity: term('zone') }),
      },
      resourceClaims: claimed === null ? [] : [{ name: 'gpu', resourceClaimTemplateName: group }],
      containers: [{ resources: { limits: { cpu: String(cpu), 'nvidia.com/gpu': String(gpu) } } }],
    },
  };
}

function claimOf({ claim: claimed }: Group, index: number): readonly unknown[] {
  if (claimed === null) return [];
  const expression = `device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("${claimed.memory}Gi")) >= 0`;
  const exactly = { deviceClassName: 'gpu', count: claimed.count, selectors: [{ cel: { expression } }] };
  const spec = { spec: { devices: { requests: [{ name: 'gpu', exactly }] } } };
  return [{ apiVersion: 'resource.k8s.io/v1', kind: 'ResourceClaimTemplate', metadata: { name: `g${index}` }, spec }];
}

/** Whether each pod can have a node, by trying all of them. */
function search(boxes: readonly Box[], groups: readonly Group[]): boolean {
  const pods = groups.flatMap((group, index) => Array.from({ length: group.count }, () => ({ group, index })));
  const chosen: number[] = [];
  const place = (at: number): boolean => {
    const pod = pods[at];
    if (pod === undefined) return true;
    for (const [node, one] of boxes.entries()) {
      if (!admits(one, pod.group)) continue;
      chosen[at] = node;
      const mates = pods.slice(0, at).flatMap(({ index }, mate) => (index === pod.index ? [chosen[mate] ?? -1] : []));
      const isApart = !pod.group.apart || !mates.includes(node);
      const isNear = !pod.group.sameZone || mates.every((mate) => boxes[mate]?.zone === one.zone);
      const here = pods.slice(0, at + 1).filter((__, other) => chosen[other] === node);
      if (
        isApart &&
        isNear &&
        holds(
          one,
          here.map(({ group }) => group),
        ) &&
        place(at + 1)
      )
        return true;
    }
    return false;
  };
  return place(0);
}

function admits({ zone, tainted }: Box, group: Group): boolean {
  return (!tainted || group.tolerates) && (group.zone === null || group.zone === zone);
}

function holds({ cpu, gpu, devices }: Box, pods: readonly Group[]): boolean {
  const sum = (amount: (group: Group) => number) => pods.reduce((total, group) => total + amount(group), 0);
  if (sum((group) => group.cpu) > cpu || sum((group) => group.gpu) > gpu) return false;
  const large = sum(({ claim: claimed }) => (claimed?.memory === 80 ? claimed.count : 0));
  const all = sum(({ claim: claimed }) => claimed?.count ?? 0);
  // Requests for large devices can only take large ones; the others take what is left.
  return large <= devices.filter((memory) => memory === 80).length && all <= devices.length;
}
