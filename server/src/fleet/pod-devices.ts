import { type AllocationResult, allocate, type DeviceMatcher } from './device-allocation.ts';
import type { DeviceClaim, DeviceClass, DeviceSupply } from './devices.ts';
import { matchesTerm } from './labels.ts';
import type { FleetNode, FleetPod } from './types.ts';

/** The devices of a cluster, and how their selectors are evaluated. */
export interface ClusterDevices {
  readonly supply: DeviceSupply;
  readonly matches: DeviceMatcher;
}

/** What a pod needs of them. */
export interface PodDevices extends ClusterDevices {
  /** Claims with devices, and claims that wait for them. */
  readonly allocated: readonly DeviceClaim[];
  readonly open: readonly DeviceClaim[];
  /** Ids of devices that claims of other pods hold. */
  readonly taken: ReadonlySet<string>;
}

/** Why the scheduler does not even look at the nodes: a claim is missing, or a device class. */
export interface DeviceProblem {
  readonly kind: 'no-claim' | 'no-class';
  readonly name: string;
  /** The scheduler's words; null if it says nothing. */
  readonly words: string | null;
}

const noDevices: ClusterDevices = {
  supply: { classes: new Map(), slices: [], claims: new Map(), templates: new Map() },
  matches: () => false,
};

/** The claims of a pod, with those made from templates. */
export function podDevices(pod: FleetPod, devices = noDevices): PodDevices | DeviceProblem {
  const { supply, matches } = devices;
  const claims: DeviceClaim[] = [];
  for (const { name, template } of pod.claims) {
    const key = `${pod.namespace}/${name ?? template ?? ''}`;
    const claim = name === null ? supply.templates.get(key) : supply.claims.get(key);
    if (claim === undefined) return { kind: 'no-claim', name: key, words: null };
    if (!claims.includes(claim)) claims.push(claim);
  }
  const open = claims.filter(({ allocation }) => allocation === null);
  const requests = open.flatMap(({ requests }) => requests.flatMap(({ alternatives }) => alternatives));
  const missing = requests.find(({ className }) => !supply.classes.has(className));
  if (missing !== undefined) {
    const words = `request ${missing.name}: device class ${missing.className} does not exist`;
    return { kind: 'no-class', name: missing.className, words };
  }
  const taken = new Set([...supply.claims.values()].flatMap(({ allocation }) => allocation?.devices ?? []));
  return { supply, matches, open, allocated: claims.filter(({ allocation }) => allocation !== null), taken };
}

/** The device class that serves an extended resource where a node itself does not offer it. */
export function classOfResource(resource: string, node: FleetNode, supply: DeviceSupply): DeviceClass | undefined {
  if (node.allocatable.has(resource)) return undefined;
  const implicit = /^deviceclass\.resource\.kubernetes\.io\/(.+)$/.exec(resource)?.[1];
  if (implicit !== undefined) return supply.classes.get(implicit);
  return [...supply.classes.values()].find(({ extendedResourceName }) => extendedResourceName === resource);
}

/** Whether the claims of a pod reach a node, and the open ones can be allocated there. */
export function devicesOn(pod: FleetPod, node: FleetNode, devices: PodDevices): AllocationResult | 'elsewhere' {
  const { supply, matches, allocated, taken } = devices;
  const reaches = ({ allocation }: DeviceClaim) =>
    allocation?.nodeTerms?.some((term) => matchesTerm(term, node)) ?? true;
  if (!allocated.every(reaches)) return 'elsewhere';
  const claims = claimsOn(pod, node, devices);
  if (claims.length === 0) return 'possible';
  return allocate(claims, { node, slices: supply.slices, classes: supply.classes, taken, matches });
}

/** The claims of a pod that have no devices yet, on a node. */
export function claimsOn(pod: FleetPod, node: FleetNode, { supply, open }: PodDevices): readonly DeviceClaim[] {
  return [...open, ...extendedClaims(pod, node, supply)];
}

/** The claims that the scheduler makes for extended resources which devices serve. */
function extendedClaims({ requests }: FleetPod, node: FleetNode, supply: DeviceSupply): readonly DeviceClaim[] {
  return [...requests].flatMap(([resource, count]) => {
    const deviceClass = count > 0 ? classOfResource(resource, node, supply) : undefined;
    if (deviceClass === undefined) return [];
    const request = { name: resource, className: deviceClass.name, selectors: [], count, tolerations: [] };
    const claim = { name: resource, constraints: [], allocation: null };
    return [{ ...claim, requests: [{ name: resource, alternatives: [request] }] }];
  });
}
