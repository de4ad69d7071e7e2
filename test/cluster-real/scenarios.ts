import { sequence } from './sequence.ts';

// Random clusters and pods, the same in each run. Every feature is one that Kubernetes 1.20 has, or that `minor` allows.

/** A cluster, and pods to schedule in it one at a time. Objects are as a client sends them. */
export interface Scenario {
  readonly id: string;
  readonly nodes: readonly TestNode[];
  /** Pods that have a node. */
  readonly bound: readonly TestPod[];
  readonly budgets?: readonly TestBudget[];
  readonly cases: readonly TestPod[];
}

export interface TestNode {
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly spec: { readonly taints: readonly object[]; readonly unschedulable: boolean };
  readonly status: { readonly allocatable: Readonly<Record<string, string>> };
}

export interface TestPod {
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly spec: { readonly nodeName?: string; readonly [field: string]: unknown };
  /** It has been deleted, and takes its time. */
  readonly terminating?: boolean;
}

/** A PodDisruptionBudget as its controller, which does not run here, would leave it. */
export interface TestBudget {
  readonly name: string;
  readonly labels: object;
  readonly allowed: number;
}

export function scenariosOf(seed: number, count: number, minor: number): readonly Scenario[] {
  return Array.from({ length: count }, (_, number) => scenario(`s${number}`, seed + number, minor));
}

const gpu = 'nvidia.com/gpu';
const products = ['NVIDIA-H100-80GB-HBM3', 'NVIDIA-A100-SXM4-40GB', 'NVIDIA-L4'];
const zones = ['a', 'b', 'c'];
const topologyKeys = ['kubernetes.io/hostname', 'topology.kubernetes.io/zone'] as const;
const apps = ['train', 'serve', 'batch'];

function scenario(id: string, seed: number, minor: number): Scenario {
  const random = sequence(seed);
  const { pick, chance, below } = random;
  const nodes = Array.from({ length: 3 + below(4) }, (_, number): TestNode => {
    const taints = [
      ...(chance(0.5) ? [{ key: gpu, value: 'present', effect: 'NoSchedule' }] : []),
      ...(chance(0.2) ? [{ key: 'spot', value: 'true', effect: 'NoSchedule' }] : []),
      ...(chance(0.1) ? [{ key: 'wanted', effect: 'PreferNoSchedule' }] : []),
      ...(chance(0.1) ? [{ key: 'drain', effect: 'NoExecute' }] : []),
    ];
    return {
      metadata: {
        name: `${id}-n${number}`,
        labels: {
          'kubernetes.io/hostname': `${id}-n${number}`,
          'nvidia.com/gpu.product': pick(products),
          ...(chance(0.8) && { 'topology.kubernetes.io/zone': pick(zones) }),
          ...(chance(0.3) && { spot: 'true' }),
          'gpu-memory': String(pick([24, 40, 80])),
        },
      },
      spec: { taints, unschedulable: chance(0.15) },
      status: {
        allocatable: {
          cpu: pick(['8', '32', '96', '7900m']),
          memory: pick(['32Gi', '128Gi', '1Ti', '64000000k']),
          'ephemeral-storage': '100Gi',
          pods: chance(0.1) ? '2' : '110',
          ...(chance(0.8) && { [gpu]: String(pick([1, 2, 4, 8])) }),
          ...(chance(0.3) && { 'nvidia.com/mig-1g.5gb': '7' }),
        },
      },
    };
  });
  const rooms = new Map(nodes.map((node) => [node, Number(node.status.allocatable[gpu] ?? 0)]));
  const bound = Array.from({ length: 2 + below(7) }, (_, number): TestPod => {
    const node = pick(nodes);
    const room = rooms.get(node) ?? 0;
    const gpus = below(room + 1);
    rooms.set(node, room - gpus);
    const app = pick(apps);
    return {
      metadata: { name: `${id}-b${number}`, labels: { app, bound: `${id}-b${number}` } },
      spec: {
        nodeName: node.metadata.name,
        ...(chance(0.4) && { priorityClassName: 'low' }),
        ...(chance(0.15) && { affinity: { podAntiAffinity: podTerms(random, { app: pick(apps) }) } }),
        containers: [
          {
            ...container({ ...(gpus > 0 && { [gpu]: String(gpus) }), cpu: '500m', memory: '1Gi' }),
            ...(chance(0.2) && { ports: [{ containerPort: 80, hostPort: 8000 + below(2) }] }),
          },
        ],
      },
    };
  });
  const cases = Array.from({ length: 8 }, (_, number) => testPod(`${id}-p${number}`, random, minor));
  return { id, nodes, bound, cases };
}

function testPod(name: string, random: ReturnType<typeof sequence>, minor: number): TestPod {
  const { pick, chance, below } = random;
  const app = pick(apps);
  const amount = pick(['0', '1', '1', '1', '2', '2', '4', '8']);
  const limits = {
    ...(chance(0.8) && { [gpu]: amount }),
    ...(chance(0.1) && { 'nvidia.com/mig-1g.5gb': '2' }),
    ...(chance(0.05) && { 'nvidia.com/gpus': '1' }),
    ...(chance(0.5) && { cpu: pick(['1', '2', '4', '20', '95500m']) }),
    ...(chance(0.5) && { memory: pick(['1Gi', '8Gi', '40G', '300Gi']) }),
    ...(chance(0.1) && { 'ephemeral-storage': pick(['1Gi', '200Gi']) }),
  };
  const tolerations = [
    ...(chance(0.85) ? [{ key: gpu, operator: 'Exists', effect: 'NoSchedule' }] : []),
    ...(chance(0.1) ? [{ key: gpu, operator: 'Equal', value: 'absent' }] : []),
    ...(chance(0.3) ? [{ key: 'spot', value: 'true' }] : []),
    ...(chance(0.1) ? [{ operator: 'Exists' }] : []),
    ...(chance(0.1) ? [{ key: 'drain', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 }] : []),
  ];
  const affinity = {
    ...(chance(0.2) && { nodeAffinity: nodeAffinity(random) }),
    ...(chance(0.15) && { podAffinity: podTerms(random, { app: pick(apps) }) }),
    ...(chance(0.2) && { podAntiAffinity: podTerms(random, { app: pick(apps) }) }),
  };
  const selector = chance(0.15) && { nodeSelector: { 'nvidia.com/gpu.product': pick([...products, 'NVIDIA-B200']) } };
  const keys = spreadKeys(topologyKeys, { affinity, ...selector }, minor);
  return {
    metadata: { name, labels: { app } },
    spec: {
      tolerations,
      affinity,
      ...selector,
      ...(chance(0.35) && { topologySpreadConstraints: [spread(keys, random, minor)] }),
      ...(chance(0.15) && { priorityClassName: pick(['high', 'low', 'never']) }),
      ...(minor >= 27 && chance(0.05) && { schedulingGates: [{ name: 'test.gpulint.example/gate' }] }),
      ...(chance(0.05) && { initContainers: [{ ...container({ cpu: '30', [gpu]: '2' }), name: 'init' }] }),
      containers: [
        {
          ...container(limits),
          ...(chance(0.15) && { ports: [{ containerPort: 80, hostPort: 8000 + below(2) }] }),
        },
      ],
    },
  };
}

/**
 * The keys by which a pod can spread with the same result in all versions. Until 1.25, a domain also counts pods on those of its nodes that the pod's own
 * affinity excludes.
 */
export function spreadKeys<T extends string>(
  keys: readonly [T, ...T[]],
  { affinity, nodeSelector }: Readonly<Record<string, unknown>>,
  minor: number,
): readonly [T, ...T[]] {
  const isLimited = nodeSelector !== undefined || JSON.stringify(affinity).includes('nodeAffinity');
  return minor < 26 && isLimited ? [keys[0]] : keys;
}

function container(limits: object) {
  return { name: 'x', image: 'x', resources: { limits, requests: limits } };
}

function nodeAffinity({ pick, chance }: ReturnType<typeof sequence>) {
  const expression = () =>
    pick([
      { key: 'nvidia.com/gpu.product', operator: 'In', values: [pick(products), 'NVIDIA-H200'] },
      { key: 'nvidia.com/gpu.product', operator: 'NotIn', values: [pick(products)] },
      { key: 'spot', operator: 'DoesNotExist' },
      { key: 'spot', operator: 'Exists' },
      { key: 'gpu-memory', operator: 'Gt', values: [pick(['24', '40', '79'])] },
      { key: 'gpu-memory', operator: 'Lt', values: ['80'] },
    ]);
  const term = () => ({ matchExpressions: chance(0.3) ? [expression(), expression()] : [expression()] });
  const nodeSelectorTerms = chance(0.3) ? [term(), term()] : [term()];
  return { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } };
}

function podTerms({ pick, chance }: ReturnType<typeof sequence>, matchLabels: object) {
  const topologyKey = pick(topologyKeys);
  const labelSelector = chance(0.8) ? { matchLabels } : { matchExpressions: [{ key: 'app', operator: 'Exists' }] };
  return { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey, labelSelector }] };
}

function spread(keys: readonly string[], { pick, chance }: ReturnType<typeof sequence>, minor: number) {
  return {
    maxSkew: pick([1, 2]),
    topologyKey: pick(keys),
    whenUnsatisfiable: chance(0.8) ? 'DoNotSchedule' : 'ScheduleAnyway',
    labelSelector: { matchLabels: { app: pick(apps) } },
    ...(minor >= 30 && chance(0.3) && { nodeTaintsPolicy: 'Honor' }),
  };
}
