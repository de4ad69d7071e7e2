import { modelsOfNodeLabel } from '../model/named-models.ts';
import { sliceByLabels } from '../model/shares.ts';
import type { ClusterNodeState } from './cluster-index.ts';
import type { ClusterNode, ClusterPod } from './cluster-objects.ts';
import type {
  DeviceCounts,
  DeviceSharingState,
  DraDevices,
  LiveModel,
  LiveNode,
  LivePod,
  MigLayout,
} from './cluster-view.ts';
import { countDevices, deviceRequests, type KnownCounts, sumDevices } from './device-counts.ts';
import { isAcceleratorNode, type Machine, machineOfNode } from './machine.ts';
import { type NodePricing, nodeCost } from './node-cost.ts';
import { claimedBy, type DraIndex, draDevices, sumDra } from './node-dra.ts';
import type { Amounts, Taint } from './types.ts';

/** A node with accelerators, with what its pods leave free. */
export interface DescribedNode {
  readonly node: ClusterNode;
  readonly machine: Machine;
  readonly live: LiveNode;
  /** What is wrong with it; null if nothing is. */
  readonly problem: string | null;
}

/** What the description of a node depends on besides the node and its pods. */
export interface NodeContext {
  readonly dra: DraIndex;
  readonly priceOf: NodePricing;
  readonly asOf: number;
}

/** A node and what its pods hold; undefined for a node without accelerators. */
export function describeNode(
  { node, pods, used }: ClusterNodeState,
  { dra, priceOf, asOf }: NodeContext,
): DescribedNode | undefined {
  const offered = draDevices(node, dra);
  const machine = withModel(machineOfNode(node), offered);
  const isOpen = node.ready && !node.unschedulable;
  const resources = countDevices(node, machine, used, isOpen);
  if (resources.length === 0 && offered.length === 0 && !isAcceleratorNode(node, machine)) return undefined;
  const hasResources = resources.some(({ capacity }) => capacity > 0);
  const devices =
    !hasResources && offered.length > 0 ? sumDra(offered, isOpen) : sumDevices(resources, machine.devices, isOpen);
  const idle = devices.total === 0 ? 1 : 1 - (devices.used ?? 0) / devices.total;
  const holding = pods.filter(holdsDevices);
  return {
    node,
    machine,
    problem: problemOf(node, resources, offered, asOf),
    live: {
      name: node.name,
      ready: node.ready,
      cordoned: node.unschedulable,
      created: node.created,
      instanceType: machine.instanceType,
      zone: machine.zone,
      capacity: machine.capacity,
      model: machine.model,
      taints: node.taints.filter((taint) => !isStateTaint(taint)),
      resources,
      devices,
      cost: nodeCost(priceOf({ ...machine, devices: machine.devices ?? (devices.total || null) }), idle),
      mig: migOf(node, resources),
      sharing: sharingOf(node),
      dra: offered,
      freeCpu: left(node, used, 'cpu') / 1000,
      freeMemory: left(node, used, 'memory'),
      pods: holding.map((pod) => livePod(pod, dra)),
      otherPods: pods.length - holding.length,
    },
  };
}

/** Whether a pod holds accelerators: it requests them, or uses claims. */
export function holdsDevices({ requests, claims }: ClusterPod): boolean {
  return claims.length > 0 || deviceRequests(requests).length > 0;
}

function livePod(pod: ClusterPod, dra: DraIndex): LivePod {
  const { namespace, name, owner, requests, created, state, priority } = pod;
  const devices = [...deviceRequests(requests), ...claimedBy(pod, dra)];
  const known = state === 'pending' ? 'starting' : state;
  return { namespace, name, owner, devices, created, state: known, priority, usage: null };
}

function left({ allocatable }: ClusterNode, used: Amounts, resource: string): number {
  return Math.max(0, (allocatable.get(resource) ?? 0) - (used.get(resource) ?? 0));
}

/** Drivers of dynamic resource allocation name the card where no label does. */
function withModel(machine: Machine, offered: readonly DraDevices[]): Machine {
  const [first] = offered;
  if (machine.model !== null || first?.product == null) return machine;
  const key = 'nvidia.com/gpu.product';
  const label = first.product.replaceAll(' ', '-');
  const models = modelsOfNodeLabel(key, label);
  const [model] = models.length === 1 ? models : [];
  const found: LiveModel = { id: model?.id ?? null, name: model?.name ?? first.product, from: first.driver };
  return { ...machine, model: found };
}

/** Taints that describe a state, not the pool: they come and go. */
export function isStateTaint({ key }: Taint): boolean {
  return /^(?:node\.(?:cloudprovider\.)?kubernetes\.io\/|node\.cilium\.io\/|karpenter\.sh\/(?:disrupt|unregistered)|ToBeDeletedBy|DeletionCandidateOf|cloud\.google\.com\/impending-)/.test(
    key,
  );
}

const starting = 10 * 60_000;

function problemOf(
  { created, capacity }: ClusterNode,
  resources: readonly DeviceCounts[],
  offered: readonly DraDevices[],
  asOf: number,
): string | null {
  if (resources.length === 0 && offered.length === 0) {
    if (created !== null && asOf - created < starting) return 'no devices yet: driver or device plugin still starting';
    return 'no devices: driver or device plugin not running';
  }
  const lost = resources.find((one) => one.allocatable < one.capacity && capacity.has(one.resource));
  if (lost === undefined) return null;
  return `${lost.capacity - lost.allocatable} of ${lost.capacity} ${lost.resource} unhealthy`;
}

const migPrefix = 'nvidia.com/mig-';

function migOf({ labels }: ClusterNode, resources: readonly KnownCounts[]): MigLayout | null {
  const config = labels.get('nvidia.com/mig.config') ?? null;
  const mixed = resources.filter(({ resource }) => resource.startsWith(migPrefix));
  if (mixed.length > 0) {
    const profiles = mixed.map(({ resource, allocatable, free }) => ({
      profile: resource.slice(migPrefix.length),
      total: allocatable,
      free,
    }));
    return { strategy: 'mixed', config, profiles };
  }
  const profile = sliceByLabels((key) => labels.get(key));
  const whole = resources.find(({ resource }) => resource === 'nvidia.com/gpu');
  if (profile === undefined || whole === undefined || whole.share === 1) return null;
  return { strategy: 'single', config, profiles: [{ profile, total: whole.allocatable, free: whole.free }] };
}

function sharingOf({ labels }: ClusterNode): DeviceSharingState | null {
  const strategy =
    labels.get('nvidia.com/gpu.sharing-strategy') ?? labels.get('cloud.google.com/gke-gpu-sharing-strategy') ?? '';
  const count = labels.get('nvidia.com/gpu.replicas') ?? labels.get('cloud.google.com/gke-max-shared-clients-per-gpu');
  const replicas = Number(count ?? 1);
  if (!(replicas > 1)) return null;
  return {
    replicas,
    strategy: /^mps$/i.test(strategy) ? 'mps' : /^time-?s(?:lic|har)ing$/i.test(strategy) ? 'time-slicing' : null,
  };
}
