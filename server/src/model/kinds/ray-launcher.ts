import { asText, type Cursor, entries, getIn, isTemplated, items, keyOf } from '../../yaml/cursor.ts';
import { lowerCount } from '../pod.ts';
import type { Placement } from '../workload.ts';
import type { KindEntry, KindLowering, PodCount, PodSetSource } from './kind.ts';
import { between } from './pod-sets.ts';
import { cardsOf, cloudOf } from './ray-launched-nodes.ts';
import { onMachine } from './rented-machines.ts';

/**
 * Clusters that Ray's launcher starts on machines of a cloud. They have no apiVersion.
 * https://docs.ray.io/en/latest/cluster/vms/references/ray-cluster-configuration.html
 */
export const rayLauncherKinds: readonly KindEntry[] = [
  {
    group: 'ray-launcher',
    kinds: ['Cluster'],
    words: ['available_node_types'],
    // Of its pods; machines have their own.
    mountsShm: true,
    lower: ({ root }) => lowerCluster(root),
  },
];

function lowerCluster(root: Cursor): KindLowering {
  const types = entries(getIn(root, 'available_node_types'));
  const fewest = fewestOf(types);
  const podSets = types.flatMap((type) => nodesOf(type, root, fewest));
  const most = lowerCount(getIn(root, 'max_workers'), 2);
  // The fewest workers of other types, which have no accelerators, are there too.
  const others = types.filter((type) => !podSets.some(({ pod }) => pod.node === type.node));
  const taken = fewestOf(others) - (podSets.some(({ pod }) => isHead(pod, root)) ? 1 : 0);
  const together = most === null ? null : Math.max(most - taken, 0);
  const within = (pods: PodCount) =>
    together === null ? pods : { ...pods, together: { most: together, always: pods.min ?? 0 } };
  return {
    podSets: podSets.map((one) => ({ ...one, pods: within(one.pods) })),
    retries: null,
    scaling: null,
    partial: true,
  };
}

/** The workers of some types that are always there. */
function fewestOf(types: readonly Cursor[]): number {
  return types.reduce((sum, type) => sum + (lowerCount(getIn(type, 'min_workers'), 0) ?? 0), 0);
}

function isHead(type: Cursor, root: Cursor): boolean {
  return (asText(getIn(root, 'head_node_type')) ?? 'ray.head.default') === keyOf(type);
}

function nodesOf(type: Cursor, root: Cursor, fewest: number): readonly PodSetSource[] {
  const cards = cardsOf(type);
  if (cards === undefined) return [];
  const { at, machine, models, devices } = cards;
  const [model] = models;
  return [
    {
      ...{ name: keyOf(type), pod: type, metadata: undefined, replicas: undefined, containers: [] },
      pods: nodeCount(type, root, fewest),
      implicitDevices: [
        {
          requested: { kind: 'field', system: 'field', name: keyOf(at) },
          ...{ at, form: 'whole', vendor: model?.vendor ?? null, perPod: devices, each: 1, models },
          modelFrom: 'instance-type',
        },
      ],
      instanceType: { value: machine, at },
      placement: { ...placeOf(root), ...onMachine(machine), ...cards.terms, ...capacityOf(type) },
    },
  ];
}

/**
 * The workers of a type, and the head, which is not one of them: unless stated, no others have its type.
 * @param fewest the workers of all types that are always there
 */
function nodeCount(type: Cursor, root: Cursor, fewest: number): PodCount {
  const most = lowerCount(getIn(root, 'max_workers'), 2);
  const head = isHead(type, root) ? 1 : 0;
  const own = getIn(type, 'max_workers');
  const max = own === undefined ? (head === 1 ? 0 : most) : lowerCount(own, 0);
  const min = lowerCount(getIn(type, 'min_workers'), 0);
  // The fewest workers of the other types are there first.
  const left = most === null || min === null ? most : Math.max(most - (fewest - min), min);
  const upTo = max === null || left === null ? null : Math.min(max, left) + head;
  return between(min === null ? null : min + head, upTo);
}

function placeOf(root: Cursor): Partial<Placement> {
  const provider = getIn(root, 'provider');
  const text = (key: string) => {
    const at = getIn(provider, key);
    return isTemplated(at) ? undefined : asText(at);
  };
  return { provider: cloudOf(root) ?? null, providerFrom: null, region: text('region') ?? text('location') ?? null };
}

/** https://docs.ray.io/en/latest/cluster/vms/user-guides/launching-clusters/index.html */
function capacityOf(type: Cursor): Partial<Placement> {
  const node = getIn(type, 'node_config');
  const stated = [
    getIn(node, 'InstanceMarketOptions', 'MarketType'),
    getIn(node, 'azure_arm_parameters', 'priority'),
    ...items(getIn(node, 'scheduling')).flatMap((one) => [getIn(one, 'preemptible'), getIn(one, 'provisioningModel')]),
    getIn(node, 'scheduling', 'preemptible'),
    getIn(node, 'scheduling', 'provisioningModel'),
  ];
  const spot = stated.find((at) => at !== undefined && /^(?:spot|true)$/i.test(asText(at) ?? ''));
  if (stated.some((at) => isTemplated(at))) return {};
  return { capacity: spot === undefined ? 'on-demand' : 'spot', capacityAt: spot };
}
