import { describe, expect, test } from 'vitest';
import { answerFit } from '../../server/src/fleet/fit.ts';
import type { FitAnswer, FitQuestion } from '../../server/src/fleet/fit-question.ts';
import { viewMaker } from '../../server/src/fleet/view.ts';
import { clusterOf } from '../support/cluster-objects.ts';

// 16 tainted nodes of 8 free GPUs, and 8 nodes of 4 GPUs of which 2 are free.
const nodes = [
  ...numbered(16, (at) =>
    node(`h-${at}`, 'h100', 8, [{ key: 'nvidia.com/gpu', value: 'present', effect: 'NoSchedule' }]),
  ),
  ...numbered(8, (at) => node(`l-${at}`, 'l4', 4, [])),
];
const held = numbered(8, (at) => ({
  ...pod(`old-${at}`, { gpus: 2 }),
  spec: { nodeName: `l-${at}`, ...pod('', { gpus: 2 }).spec },
}));
const base = [...nodes, ...held];
const tolerations = [{ key: 'nvidia.com/gpu', operator: 'Exists' }];

describe('would pods run', () => {
  test('says in both words why not', () => {
    const answer = ask({ gpus: 4 });
    expect(answer.outcome).toBe('waits');
    expect(answer.groups[0]?.words).toMatch(
      /^0\/24 nodes are available: 16 node\(s\) had untolerated taint\(s\), 8 Insufficient nvidia\.com\/gpu\. /,
    );
    expect(answer.groups[0]?.plain).toBe(
      '0/24 nodes: 16 untolerated taint {nvidia.com/gpu: present}, 8 Insufficient nvidia.com/gpu (free 2, requests 4)',
    );
    expect(answer.wayOut).toBe('add a toleration for nvidia.com/gpu: pool h100 has 128 free');
  });

  test('by pool: what fits, what is free, what would fit without other pods, and what is missing', () => {
    const pools = ask({ gpus: 2, count: 10 }).groups[0]?.pools.map(({ reasons, ...pool }) => ({
      ...pool,
      reasons: reasons.length,
    }));
    const shared = { reasons: 1, nodes: 16 };
    expect(pools).toEqual([
      {
        pool: 'oke/l4',
        name: 'l4',
        nodes: 8,
        label: label('l4'),
        fits: 8,
        free: 16,
        fitsEmpty: 10,
        missing: null,
        reasons: 0,
      },
      {
        ...{ ...shared, pool: 'oke/h100', name: 'h100', label: label('h100'), fits: 0, free: 128, fitsEmpty: 0 },
        missing: { labels: [], taints: [{ key: 'nvidia.com/gpu', value: 'present', effect: 'NoSchedule' }] },
      },
    ]);
  });

  test('the ephemeral storage that nodes report counts', () => {
    const spec = { containers: [{ resources: { limits: { 'nvidia.com/gpu': 2, 'ephemeral-storage': '200Gi' } } }] };
    const sized = (storage: string) =>
      nodes.slice(-1).map((one) => {
        const allocatable = { ...one.status.allocatable, 'ephemeral-storage': storage };
        return { ...one, status: { allocatable } };
      });
    const answers = ['190Gi', '210Gi'].map((storage) =>
      put({ groups: [{ name: 'main', count: 1, template: { ...pod('', { gpus: 2 }), spec } }] }, sized(storage)),
    );
    expect(answers.map(({ outcome }) => outcome)).toEqual(['never', 'fits']);
    expect(answers[0]?.groups[0]?.words).toContain('1 Insufficient ephemeral-storage');
  });

  test.each([
    ['some of them', { gpus: 2, count: 10 }, 'fits-some', '8 of 10 pods fit now in pool l4 (16 free)'],
    ['all or none', { gpus: 2, count: 10, together: true }, 'waits', 'waits: only 8 of 10 pods fit at once'],
    ['all of a gang', { gpus: 8, count: 16, together: true, tolerations }, 'fits', 'fits now in pool h100 (128 free)'],
    [
      'more than there are nodes',
      { gpus: 8, count: 17, together: true, tolerations },
      'never',
      'cannot run: only 16 of 17 pods fit at once',
    ],
    ['a pod of priority', { gpus: 4, priority: 1000 }, 'preempts', 'fits now if it preempts default/old-0'],
    [
      'a label that no node has',
      { gpus: 1, tolerations, selector: { 'oke.oraclecloud.com/pool.name': 'a100' } },
      'never',
      'cannot run: 0/24 nodes: 16 label oke.oraclecloud.com/pool.name is h100, not a100, 8 label oke.oraclecloud.com/pool.name is l4, not a100',
    ],
    [
      'more than any node has',
      { gpus: 16, tolerations },
      'never',
      'cannot run: 0/24 nodes: 24 Insufficient nvidia.com/gpu (free 8, requests 16)',
    ],
    [
      'more memory than any node has',
      { gpus: 1, tolerations, memory: '3Ti' },
      'never',
      'cannot run: 0/24 nodes: 24 Insufficient memory (free 2001 GiB, requests 3072 GiB)',
    ],
  ] as const)('%s', (_, wanted, outcome, line) => {
    const answer = ask(wanted);
    expect([answer.outcome, answer.line]).toEqual([outcome, line]);
  });

  test('pods of several templates share the room', () => {
    const groups = [
      { name: 'head', count: 1, template: pod('', { gpus: 1 }) },
      { name: 'worker', count: 8, template: pod('', { gpus: 2 }) },
    ];
    expect(put({ groups, together: true }).outcome).toBe('waits');
    expect(
      put({ groups: groups.map((group) => ({ ...group, count: Math.min(7, group.count) })), together: true }).outcome,
    ).toBe('fits');
  });

  test('pods that already run keep their devices', () => {
    const owned = held.map((one) => ({
      ...one,
      metadata: { ...one.metadata, ownerReferences: [{ kind: 'StatefulSet', name: 'old', controller: true }] },
    }));
    const owner = { kind: 'StatefulSet', name: 'old' };
    const groups = (count: number) => [{ name: 'main', count, template: pod('', { gpus: 2 }) }];
    const all = put({ owner, groups: groups(8) }, [...nodes, ...owned]);
    expect([all.outcome, all.line, all.wayOut]).toEqual(['runs', 'runs in pool l4 (8 pods)', null]);
    expect(put({ owner, groups: groups(16) }, [...nodes, ...owned]).line).toBe('fits now in pool l4 (32 free)');
    expect(put({ groups: groups(16) }, [...nodes, ...owned]).line).toBe('8 of 16 pods fit now in pool l4 (16 free)');
  });

  test('what is not readable may hold devices', () => {
    const question = {
      namespace: 'default',
      groups: [{ name: 'main', count: 1, template: pod('', { gpus: 1 }) }],
      together: false,
      queue: null,
      claims: [],
    };
    const answer = answerFit(question, clusterOf(base), {
      context: 'prod',
      asOf: 0,
      gaps: ['pods of other namespaces'],
    });
    expect(answer.line).toBe('fits now in pool l4 (at most 16 free), but not all objects are readable');
  });

  test('another scheduler is named, and the nodes are still checked', () => {
    const template = pod('', { gpus: 2 });
    const answer = put({
      groups: [
        { name: 'main', count: 1, template: { ...template, spec: { ...template.spec, schedulerName: 'volcano' } } },
      ],
    });
    expect([answer.outcome, answer.gaps]).toEqual(['fits', ['scheduler volcano decides']]);
  });

  test('GKE tolerates the taint of a requested device', () => {
    const gke = { 'cloud.google.com/gke-nodepool': 'a100' };
    const tainted = node('g-0', 'x', 4, [{ key: 'nvidia.com/gpu', value: 'present', effect: 'NoSchedule' }], gke);
    expect(ask({ gpus: 1 }, [tainted]).outcome).toBe('fits');
  });
});

describe('new nodes', () => {
  const eks = JSON.parse(
    JSON.stringify(base).replaceAll('oke.oraclecloud.com/pool.name', 'eks.amazonaws.com/nodegroup'),
  ) as typeof base;
  const status = `nodeGroups:\n- name: eks-h100-1a2b\n  health:\n    status: Healthy\n    cloudProviderTarget: 16\n    minSize: 0\n    maxSize: 20\n  scaleUp:\n    status: NoActivity\n`;
  const autoscaler = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'cluster-autoscaler-status' },
    data: { status },
  };
  test.each([
    [18, 'grows', { pool: 'h100', by: 'cluster autoscaler', nodes: 2, blocked: null }],
    [
      21,
      'never',
      { pool: 'h100', by: 'cluster autoscaler', nodes: 5, blocked: 'can add only 4 of 5 nodes (maximum 20)' },
    ],
  ])('%d pods of 8 GPUs: %s', (count, outcome, growth) => {
    const answer = ask({ gpus: 8, count, together: true, tolerations }, [...eks, autoscaler]);
    expect([answer.outcome, answer.growth]).toEqual([outcome, [growth]]);
  });

  test('of a group without nodes are unknown, so the pod may run', () => {
    const empty = { ...autoscaler, data: { status: status.replace('eks-h100-1a2b', 'eks-b200-9f8e') } };
    const answer = ask({ gpus: 16, tolerations }, [...eks, empty]);
    expect([answer.outcome, answer.gaps]).toEqual([
      'unknown',
      ['nodes that the empty node group eks-b200-9f8e would add'],
    ]);
  });

  test('plain lines of older autoscalers', () => {
    const old =
      'NodeGroups:\n  Name:        eks-h100-1a2b\n  Health:      Healthy (ready=16 cloudProviderTarget=16 (minSize=0, maxSize=20))\n  ScaleUp:     NoActivity (ready=16)\n';
    const answer = ask({ gpus: 8, count: 18, together: true, tolerations }, [
      ...eks,
      { ...autoscaler, data: { status: old } },
    ]);
    expect(answer.outcome).toBe('grows');
  });

  test.each([
    ['from nothing', '0', null],
    ['not over its limit', '4', 'limit of 4 nvidia.com/gpu, 4 in use'],
  ])('a NodePool of Karpenter %s', (_, used, blocked) => {
    const requirements = [{ key: 'karpenter.k8s.aws/instance-family', operator: 'In', values: ['g6'] }];
    const pool = {
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodePool',
      metadata: { name: 'g6' },
      spec: { limits: { 'nvidia.com/gpu': 4 }, template: { spec: { requirements } } },
      status: { resources: { 'nvidia.com/gpu': used } },
    };
    const selector = { 'karpenter.sh/nodepool': 'g6' };
    const answer = ask({ gpus: 1, selector }, [...base, pool]);
    expect(answer.growth).toEqual([{ pool: 'g6', by: 'Karpenter', nodes: null, blocked }]);
    expect(answer.outcome).toBe(blocked === null ? 'grows' : 'never');
    expect(ask({ gpus: 16, selector }, [...base, pool]).growth).toEqual([]);
  });

  const computeClass = (spec: object) => ({
    apiVersion: 'cloud.google.com/v1',
    kind: 'ComputeClass',
    metadata: { name: 'l4' },
    spec: {
      priorities: [
        { machineType: 'g2-standard-24', spot: true },
        { machineFamily: 'g2', gpu: { type: 'nvidia-l4', count: 4 } },
        { nodepools: ['by-hand'] },
      ],
      ...spec,
    },
  });
  const creating = { nodePoolAutoCreation: { enabled: true } };
  const ofClass = { 'cloud.google.com/compute-class': 'l4' };

  test.each([
    ['with as many GPUs as one of its priorities', { gpus: 4, selector: ofClass }, creating, 'grows'],
    ['not with more than its machines have', { gpus: 8, selector: ofClass }, creating, 'never'],
    ['not with more memory', { gpus: 1, selector: ofClass, memory: '800Gi' }, creating, 'never'],
    [
      'not for pods of another class',
      { gpus: 4, selector: { 'cloud.google.com/compute-class': 'h100' } },
      creating,
      'never',
    ],
    [
      'on spot as the first says',
      { gpus: 2, selector: { ...ofClass, 'cloud.google.com/gke-spot': 'true' } },
      creating,
      'grows',
    ],
    [
      'not on spot as the second says',
      { gpus: 4, selector: { ...ofClass, 'cloud.google.com/gke-spot': 'true' } },
      creating,
      'never',
    ],
    ['in Autopilot', { gpus: 4, selector: ofClass }, { autopilot: { enabled: true } }, 'grows'],
    ['not if that is off', { gpus: 4, selector: ofClass }, { nodePoolAutoCreation: { enabled: false } }, 'never'],
    ['maybe if it does not say so', { gpus: 4, selector: ofClass }, {}, 'unknown'],
    [
      'not on a tainted node',
      { gpus: 4, selector: ofClass },
      { ...creating, nodePoolConfig: { taints: [{ key: 'team', value: 'a', effect: 'NoSchedule' }] } },
      'never',
    ],
    [
      'not from pools that exist',
      { gpus: 4, selector: ofClass },
      { ...creating, priorities: [{ nodepools: ['by-hand'] }] },
      'never',
    ],
  ] as const)('a ComputeClass of GKE %s', (_, wants, spec, outcome) => {
    const answer = ask(wants, [...base, computeClass(spec)]);
    expect(answer.outcome).toBe(outcome);
    const grows = { pool: 'l4', by: 'ComputeClass', nodes: null, blocked: null };
    expect(answer.growth).toEqual(outcome === 'grows' ? [grows] : []);
    expect(answer.gaps).toEqual(
      outcome === 'unknown' ? ['nodes that the ComputeClass l4 would add if GKE creates node pools for it'] : [],
    );
  });

  test('the pools that a ComputeClass created can grow, and admit its pods', () => {
    const taint = { key: 'cloud.google.com/compute-class', value: 'l4', effect: 'NoSchedule' };
    const labels = { 'cloud.google.com/gke-nodepool': 'nap-l4', ...ofClass };
    const objects = [node('gke-nap-l4-1', '', 1, [taint], labels), computeClass(creating)];
    expect(ask({ gpus: 1, selector: ofClass }, objects).line).toBe('fits now in pool nap-l4 (1 free)');
    const answer = ask({ gpus: 1, count: 3, selector: ofClass }, objects);
    expect(answer.growth).toEqual([{ pool: 'nap-l4', by: 'ComputeClass', nodes: 2, blocked: null }]);
  });
});

describe('quota', () => {
  test('of the namespace', () => {
    const quota = {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'gpus', namespace: 'default' },
      spec: { hard: { 'requests.nvidia.com/gpu': '4', 'requests.cpu': '500m' } },
      status: { hard: { 'requests.nvidia.com/gpu': '4' }, used: { 'requests.nvidia.com/gpu': '2' } },
    };
    const answer = ask({ gpus: 4, tolerations }, [...base, quota]);
    expect(answer.line).toBe(
      'waits: ResourceQuota gpus has 2 of 4 requests.nvidia.com/gpu left, but the pods request 4',
    );
    expect(ask({ gpus: 2, tolerations }, [...base, quota]).outcome).toBe('fits');
  });

  const kueue = (kind: string, name: string, spec: object, status: object = {}) => ({
    apiVersion: 'kueue.x-k8s.io/v1beta1',
    kind,
    metadata: { name, namespace: 'default' },
    spec,
    status,
  });
  const queues = [
    kueue('LocalQueue', 'train', { clusterQueue: 'cq' }),
    kueue('ResourceFlavor', 'h100', { nodeLabels: { 'oke.oraclecloud.com/pool.name': 'h100' }, tolerations }),
    kueue(
      'ClusterQueue',
      'cq',
      {
        resourceGroups: [
          {
            coveredResources: ['nvidia.com/gpu'],
            flavors: [{ name: 'h100', resources: [{ name: 'nvidia.com/gpu', nominalQuota: 16 }] }],
          },
        ],
      },
      { flavorsReservation: [{ name: 'h100', resources: [{ name: 'nvidia.com/gpu', total: '8' }] }] },
    ),
  ];
  test('of a queue, whose flavor selects and tolerates its nodes', () => {
    expect(ask({ gpus: 8, queue: 'train' }, [...base, ...queues]).line).toBe('fits now in pool h100 (128 free)');
    expect(ask({ gpus: 8, count: 2, queue: 'train' }, [...base, ...queues]).line).toBe(
      'waits: ClusterQueue cq has 8 of 16 nvidia.com/gpu left, but the pods request 16',
    );
    expect(ask({ gpus: 1, queue: 'trian' }, [...base, ...queues])).toMatchObject({
      outcome: 'quota',
      gaps: ['LocalQueue trian does not exist in namespace default'],
    });
  });

  test('that a cohort lends', () => {
    const [local, flavor, queue] = queues;
    const own = { ...queue, spec: { ...queue?.spec, cohort: 'all' } };
    const lender = { ...own, metadata: { name: 'lender' }, status: {} };
    expect(ask({ gpus: 8, count: 2, queue: 'train' }, [...base, local, flavor, own, lender]).outcome).toBe('fits');
  });
});

test('pending pods say why they wait and what would let them run', () => {
  const gated = {
    ...pod('gated', { gpus: 1 }),
    spec: { ...pod('', { gpus: 1 }).spec, schedulingGates: [{ name: 'kueue.x-k8s.io/admission' }] },
  };
  const waiting = {
    ...pod('big', { gpus: 4 }),
    status: {
      phase: 'Pending',
      conditions: [
        { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/24 nodes are available' },
      ],
    },
  };
  const make = viewMaker(() => ({ hourly: null, because: 'test' }));
  const about = { context: 'prod', serverVersion: null, state: { kind: 'current' }, asOf: 0, coverage: [] } as const;
  const { pending } = make(clusterOf([...base, gated, waiting]), about).view;
  expect(pending).toEqual([
    {
      ...{
        namespace: 'default',
        name: 'big',
        owner: null,
        devices: [{ resource: 'nvidia.com/gpu', count: 4 }],
        created: null,
      },
      reason:
        '0/24 nodes: 16 untolerated taint {nvidia.com/gpu: present}, 8 Insufficient nvidia.com/gpu (free 2, requests 4)',
      wayOut: 'add a toleration for nvidia.com/gpu: pool h100 has 128 free',
      words: '0/24 nodes are available',
    },
    expect.objectContaining({ name: 'gated', reason: 'waits for admission by Kueue', words: null }),
  ]);
});

interface Wanted {
  readonly gpus: number;
  readonly memory?: string;
  readonly count?: number;
  readonly together?: boolean;
  readonly tolerations?: readonly object[];
  readonly priority?: number;
  readonly selector?: object;
  readonly queue?: string;
}

function ask(wanted: Wanted, objects: readonly unknown[] = base): FitAnswer {
  const { count = 1, together = false, queue = null } = wanted;
  return put({ groups: [{ name: 'main', count, template: pod('', wanted) }], together, queue }, objects);
}

function put(question: Partial<FitQuestion>, objects: readonly unknown[] = base): FitAnswer {
  const whole = { namespace: 'default', groups: [], together: false, queue: null, claims: [], ...question };
  return answerFit(whole, clusterOf(objects), { context: 'prod', asOf: 0, gaps: [] });
}

function pod(name: string, { gpus, memory = '1Gi', tolerations: some = [], priority = 0, selector = {} }: Wanted) {
  const limits = { 'nvidia.com/gpu': gpus, memory };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default' },
    spec: { containers: [{ resources: { limits } }], tolerations: some, priority, nodeSelector: selector },
  };
}

function node(name: string, pool: string, gpus: number, taints: readonly object[], labels: object = poolLabel(pool)) {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/hostname': name, ...labels } },
    spec: { taints },
    status: { allocatable: { cpu: '100', memory: '2001Gi', pods: '110', 'nvidia.com/gpu': String(gpus) } },
  };
}

function poolLabel(pool: string): object {
  return { 'oke.oraclecloud.com/pool.name': pool };
}

function label(value: string): object {
  return { key: 'oke.oraclecloud.com/pool.name', value };
}

function numbered<T>(count: number, make: (at: number) => T): readonly T[] {
  return Array.from({ length: count }, (_, at) => make(at));
}
