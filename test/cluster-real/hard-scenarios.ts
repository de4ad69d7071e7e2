import { amountsOf } from '../../server/src/fleet/requests.ts';
import { type Scenario, spreadKeys, type TestNode, type TestPod } from './scenarios.ts';
import { sequence } from './sequence.ts';

// Random clusters in which many features meet: spread constraints with affinity, several taints with effects, fields, init containers, sidecars and
// overhead, ports of the host with addresses, few pods per node, and evictions among pods that share labels, budgets and ports.

export function hardScenariosOf(seed: number, count: number, minor: number): readonly Scenario[] {
  return Array.from({ length: count }, (_, number) => scenario(`h${number}`, seed + number, minor));
}

type Random = ReturnType<typeof sequence>;

const gpu = 'nvidia.com/gpu';
const hostname = 'kubernetes.io/hostname';
const keys = [hostname, 'topology.kubernetes.io/zone', 'rack'] as const;
const apps = ['train', 'serve'] as const;
const teams = ['a', 'b'] as const;
/** The overhead of the RuntimeClass that the test creates. */
export const overhead = { cpu: '250m', memory: '120Mi' };

function scenario(id: string, seed: number, minor: number): Scenario {
  const random = sequence(seed);
  const { pick, chance, below } = random;
  const nodes = Array.from({ length: 3 + below(5) }, (_, number) => nodeOf(`${id}-n${number}`, random));
  const rooms = new Map(nodes.map(({ metadata, status }) => [metadata.name, new Map(amountsOf(status.allocatable))]));
  const bound = Array.from({ length: 4 + below(8) }, (_, number): TestPod => {
    const node = pick(nodes).metadata.name;
    const name = `${id}-b${number}`;
    const requests = roomFor(rooms.get(node) ?? new Map(), {
      ...(chance(0.6) && { [gpu]: pick(['1', '2']) }),
      cpu: pick(['500m', '1', '2']),
      memory: pick(['1Gi', '900M']),
    });
    return {
      metadata: { name, labels: { app: pick(apps), team: pick(teams), bound: name } },
      spec: {
        nodeName: node,
        ...(chance(0.6) && { priorityClassName: pick(['low', 'low', 'lower', 'high']) }),
        ...(chance(0.25) && { affinity: { podAntiAffinity: podTerms(random, minor) } }),
        containers: [{ ...container(requests), ports: hostPorts(random, 0.25) }],
      },
      ...(chance(0.12) && { terminating: true }),
    };
  });
  const budgets = chance(0.5)
    ? Array.from({ length: 1 + below(2) }, (_, number) => ({
        name: `${id}-d${number}`,
        labels: pick([{ app: pick(apps) }, { team: pick(teams) }, { app: pick(apps), team: pick(teams) }]),
        allowed: pick([0, 0, 1]),
      }))
    : [];
  const cases = Array.from({ length: 8 }, (_, number) =>
    testPod(
      `${id}-p${number}`,
      nodes.map(({ metadata }) => metadata.name),
      random,
      minor,
    ),
  );
  return { id, nodes, bound, budgets, cases };
}

/** What of the requests the node still has: nodes that are overcommitted are treated otherwise before 1.27. */
function roomFor(
  room: Map<string, number>,
  wanted: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const amounts = amountsOf(wanted);
  const fits = [...amounts].filter(([name, amount]) => amount <= (room.get(name) ?? 0)).map(([name]) => name);
  for (const name of fits) room.set(name, (room.get(name) ?? 0) - (amounts.get(name) ?? 0));
  return Object.fromEntries(Object.entries(wanted).filter(([name]) => fits.includes(name)));
}

function nodeOf(name: string, { pick, chance }: Random): TestNode {
  const taints = [
    ...(chance(0.4) ? [{ key: gpu, value: pick(['present', 'true']), effect: 'NoSchedule' }] : []),
    ...(chance(0.25) ? [{ key: 'team', value: pick(teams), effect: pick(['NoSchedule', 'NoExecute']) }] : []),
    ...(chance(0.15) ? [{ key: 'team', value: 'any', effect: 'PreferNoSchedule' }] : []),
    ...(chance(0.1) ? [{ key: 'drain', effect: 'NoExecute' }] : []),
  ];
  return {
    metadata: {
      name,
      labels: {
        [hostname]: name,
        ...(chance(0.85) && { 'topology.kubernetes.io/zone': pick(['a', 'b']) }),
        ...(chance(0.7) && { rack: pick(['1', '2', '3']) }),
        ...(chance(0.8) && { generation: pick(['7', '8', '09', 'nine']) }),
        ...(chance(0.5) && { spot: pick(['true', 'false']) }),
      },
    },
    spec: { taints, unschedulable: chance(0.12) },
    status: {
      allocatable: {
        cpu: pick(['4', '3900m', '8', '16']),
        memory: pick(['8Gi', '7500M', '32Gi']),
        'ephemeral-storage': pick(['10Gi', '100G']),
        pods: pick(['2', '3', '5', '110']),
        ...(chance(0.8) && { [gpu]: pick(['1', '2', '4']) }),
        ...(chance(0.3) && { 'hugepages-2Mi': '512Mi' }),
      },
    },
  };
}

function testPod(name: string, nodes: readonly string[], random: Random, minor: number): TestPod {
  const { pick, chance } = random;
  const limits = {
    ...(chance(0.6) && { [gpu]: pick(['0', '1', '1', '2', '3', '4']) }),
    ...(chance(0.7) && { cpu: pick(['100m', '1', '2', '3600m', '7']) }),
    ...(chance(0.6) && { memory: pick(['1Gi', '3Gi', '6500Mi', '20G']) }),
    ...(chance(0.15) && { 'ephemeral-storage': pick(['1Gi', '50Gi']) }),
  };
  const huge = chance(0.08) ? { 'hugepages-2Mi': '256Mi', cpu: '1' } : {};
  const init = [
    ...(chance(0.25) ? [{ ...container({ cpu: pick(['2', '5']), [gpu]: pick(['1', '2']) }), name: 'first' }] : []),
    ...(minor >= 29 && chance(0.4)
      ? [{ ...container({ cpu: '1', memory: '1Gi' }), name: 'side', restartPolicy: 'Always' }]
      : []),
    ...(chance(0.15) ? [{ ...container({ memory: pick(['2Gi', '9Gi']) }), name: 'last' }] : []),
  ];
  const hasRuntime = chance(0.15);
  const isOnHost = chance(0.1);
  const affinity = {
    ...(chance(0.4) && { nodeAffinity: nodeAffinity(nodes, random) }),
    ...(chance(0.3) && { podAffinity: podTerms(random, minor) }),
    ...(chance(0.3) && { podAntiAffinity: podTerms(random, minor) }),
  };
  const selected = chance(0.15) && {
    nodeSelector: pick([{ spot: 'true' }, { rack: '1' }, { generation: '8', spot: 'false' }]),
  };
  const [host, ...others] = spreadKeys(keys, { affinity, ...selected }, minor);
  return {
    metadata: { name, labels: { app: pick(apps), ...(chance(0.8) && { team: pick(teams) }) } },
    spec: {
      tolerations: tolerations(random),
      affinity,
      ...selected,
      ...(chance(0.55) && {
        topologySpreadConstraints:
          others.length > 0 && chance(0.4)
            ? [spread(host, random, minor), spread(pick(others), random, minor)]
            : [spread(pick([host, ...others]), random, minor)],
      }),
      ...(chance(0.4) && { priorityClassName: pick(['high', 'high', 'low', 'never']) }),
      ...(hasRuntime && { runtimeClassName: 'heavy', overhead }),
      ...(isOnHost && { hostNetwork: true }),
      ...(init.length > 0 && { initContainers: init }),
      containers: [
        { ...container({ ...limits, ...huge }), ports: isOnHost ? [{ containerPort: 8000 }] : hostPorts(random, 0.3) },
        ...(chance(0.2) ? [{ ...container({ cpu: '300m', memory: '100M' }), name: 'y' }] : []),
      ],
    },
  };
}

function tolerations({ pick, chance }: Random) {
  return [
    ...(chance(0.6) ? [{ key: gpu, operator: 'Exists', ...(chance(0.5) && { effect: 'NoSchedule' }) }] : []),
    ...(chance(0.2) ? [{ key: gpu, value: pick(['present', 'true', '']) }] : []),
    ...(chance(0.3)
      ? [{ key: 'team', value: pick(teams), ...(chance(0.6) && { effect: pick(['NoSchedule', 'NoExecute']) }) }]
      : []),
    ...(chance(0.15) ? [{ key: 'team', operator: 'Exists' }] : []),
    ...(chance(0.1) ? [{ operator: 'Exists', ...(chance(0.6) && { effect: pick(['NoSchedule', 'NoExecute']) }) }] : []),
  ];
}

function container(limits: object) {
  return { name: 'x', image: 'x', resources: { limits, requests: limits } };
}

/** Two ports of the host that collide only on the same address and protocol. */
function hostPorts({ pick, chance }: Random, probability: number): readonly object[] {
  if (!chance(probability)) return [];
  const port = () => ({
    containerPort: pick([80, 81]),
    hostPort: pick([8000, 8001]),
    ...(chance(0.4) && { hostIP: pick(['10.0.0.1', '10.0.0.2', '0.0.0.0']) }),
    ...(chance(0.3) && { protocol: 'UDP' }),
  });
  return [port()];
}

function nodeAffinity(nodes: readonly string[], { pick, chance }: Random) {
  const expression = () =>
    pick([
      { key: 'generation', operator: 'Gt', values: [pick(['6', '7', '8'])] },
      { key: 'generation', operator: 'Lt', values: [pick(['8', '9', '0'])] },
      { key: 'spot', operator: 'NotIn', values: ['true'] },
      { key: 'rack', operator: 'NotIn', values: ['1', '2'] },
      { key: 'rack', operator: 'In', values: ['2', '3'] },
      { key: 'rack', operator: 'Exists' },
      { key: 'spot', operator: 'DoesNotExist' },
    ]);
  const field = () => ({ key: 'metadata.name', operator: pick(['In', 'In', 'NotIn']), values: [pick(nodes)] });
  const term = () => ({
    ...(chance(0.85) && { matchExpressions: chance(0.4) ? [expression(), expression()] : [expression()] }),
    ...(chance(0.25) && { matchFields: [field()] }),
  });
  const nodeSelectorTerms = chance(0.4) ? [term(), term()] : [term()];
  return { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } };
}

function podTerms({ pick, chance }: Random, minor: number) {
  const term = () => ({
    topologyKey: pick(keys),
    labelSelector: selector({ pick, chance }),
    ...(minor >= 31 && chance(0.15) && { matchLabelKeys: ['owner'] }),
  });
  return { requiredDuringSchedulingIgnoredDuringExecution: chance(0.3) ? [term(), term()] : [term()] };
}

function selector({ pick, chance }: Pick<Random, 'pick' | 'chance'>) {
  if (chance(0.5)) return { matchLabels: chance(0.3) ? { app: pick(apps), team: pick(teams) } : { app: pick(apps) } };
  return {
    matchExpressions: [
      pick([
        { key: 'app', operator: 'Exists' },
        { key: 'team', operator: 'NotIn', values: [pick(teams)] },
        { key: 'team', operator: 'DoesNotExist' },
        { key: 'app', operator: 'In', values: [...apps] },
      ]),
    ],
  };
}

function spread(topologyKey: string, { pick, chance }: Random, minor: number) {
  return {
    maxSkew: pick([1, 1, 2, 3]),
    topologyKey,
    whenUnsatisfiable: chance(0.85) ? 'DoNotSchedule' : 'ScheduleAnyway',
    labelSelector: selector({ pick, chance }),
    ...(minor >= 30 && chance(0.3) && { nodeTaintsPolicy: 'Honor' }),
    ...(minor >= 30 && chance(0.3) && { nodeAffinityPolicy: 'Ignore' }),
  };
}
