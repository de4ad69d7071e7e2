import { vendorOfClass } from '../model/claims.ts';
import type { ClusterDevicesData, ClusterNode, ClusterPod } from './cluster-objects.ts';
import type { DeviceCount, DeviceSum, DraDevices, LeakedClaim } from './cluster-view.ts';
import { type Device, type DeviceSlice, deviceId } from './devices.ts';
import { matchesTerm } from './labels.ts';

/** The devices of dynamic resource allocation, sorted by node once for all nodes. */
export interface DraIndex {
  readonly devicesOf: (node: ClusterNode) => readonly Device[];
  readonly allocated: ReadonlySet<string>;
  readonly nodeOf: ReadonlyMap<string, string>;
  /** Ids of the accelerators of a claim, `namespace/name`. */
  readonly heldBy: (claim: string) => readonly string[];
}

/** Only accelerators: network cards and channels between GPUs are claimed in the same way. */
export function draIndex(data: ClusterDevicesData | undefined): DraIndex {
  const byNode = new Map<string, Device[]>();
  const nodeOf = new Map<string, string>();
  const others: DeviceSlice[] = [];
  for (const slice of newest(data?.supply.slices ?? [])) {
    if (vendorOfClass(slice.driver) === undefined) continue;
    if (slice.nodeName === null) {
      if (slice.nodeTerms !== null) others.push(slice);
      continue;
    }
    byNode.set(slice.nodeName, [...(byNode.get(slice.nodeName) ?? []), ...slice.devices]);
    for (const device of slice.devices) nodeOf.set(deviceId(device), slice.nodeName);
  }
  const claims = [...(data?.supply.claims.values() ?? [])];
  return {
    allocated: new Set(claims.flatMap(({ allocation }) => allocation?.devices ?? [])),
    nodeOf,
    heldBy: (claim) => (data?.supply.claims.get(claim)?.allocation?.devices ?? []).filter(isAccelerator),
    devicesOf(node) {
      const reaching = others.filter(({ nodeTerms }) => nodeTerms?.some((term) => matchesTerm(term, node)) ?? false);
      const own = byNode.get(node.name) ?? [];
      return reaching.length === 0 ? own : [...own, ...reaching.flatMap(({ devices }) => devices)];
    },
  };
}

/** The slices of the newest generation of each pool: a driver replaces them one after the other. */
function newest(slices: readonly DeviceSlice[]): readonly DeviceSlice[] {
  const generations = new Map<string, number>();
  const pool = (slice: DeviceSlice) => `${slice.driver}/${slice.pool}`;
  for (const slice of slices)
    generations.set(pool(slice), Math.max(slice.generation, generations.get(pool(slice)) ?? slice.generation));
  return slices.filter((slice) => generations.get(pool(slice)) === slice.generation);
}

/** The driver is the first part of a device's id. */
function isAccelerator(id: string): boolean {
  return vendorOfClass(driverOf(id)) !== undefined;
}

function driverOf(id: string): string {
  return id.slice(0, id.indexOf('/'));
}

/** The accelerators of a pod's claims, by driver. A claim that several pods share counts for each. */
export function claimedBy({ namespace, claimNames }: ClusterPod, { heldBy }: DraIndex): readonly DeviceCount[] {
  const counts = new Map<string, number>();
  for (const name of claimNames)
    for (const id of heldBy(`${namespace}/${name}`)) counts.set(driverOf(id), (counts.get(driverOf(id)) ?? 0) + 1);
  return [...counts].map(([resource, count]) => ({ resource, count }));
}

/** What drivers offer on a node. Partitions that a driver would create on demand are not devices yet. */
export function draDevices(node: ClusterNode, index: DraIndex): readonly DraDevices[] {
  const byDriver = new Map<string, Device[]>();
  for (const device of index.devicesOf(node)) {
    if (isWhole(device)) byDriver.set(device.driver, [...(byDriver.get(device.driver) ?? []), device]);
  }
  return [...byDriver].map(([driver, devices]) => {
    const products = new Set(devices.map(productOf));
    const [product = null] = products;
    return {
      driver,
      total: devices.length,
      allocated: devices.filter((device) => index.allocated.has(deviceId(device))).length,
      product: products.size === 1 ? product : null,
    };
  });
}

/** NVIDIA's driver lists a card and the slices that it could be cut into. */
function isWhole({ attributes, driver }: Device): boolean {
  const type = attributes.get(`${driver}/type`)?.value;
  return type !== 'mig' && type !== 'vfio' && type !== 'partition';
}

function productOf({ attributes, driver }: Device): string | null {
  for (const name of ['productName', 'product_name', 'model', 'product']) {
    const value = attributes.get(`${driver}/${name}`)?.value;
    if (typeof value === 'string') return value;
  }
  return null;
}

/** The devices of a node that offers no accelerator as an extended resource. */
export function sumDra(devices: readonly DraDevices[], isOpen: boolean): DeviceSum {
  const total = devices.reduce((sum, one) => sum + one.total, 0);
  const used = devices.reduce((sum, { allocated }) => sum + allocated, 0);
  const left = total - used;
  return { total, used, free: isOpen ? left : 0, unavailable: isOpen ? 0 : left, uncountedNodes: 0 };
}

/** Claims that hold accelerators although no pod reserves them. */
export function leakedClaims(
  data: ClusterDevicesData | undefined,
  { nodeOf, heldBy }: DraIndex,
): readonly LeakedClaim[] {
  return (data?.unreserved ?? []).flatMap((key) => {
    const held = heldBy(key);
    if (held.length === 0) return [];
    const [namespace = '', name = ''] = key.split('/');
    return [{ namespace, name, devices: held.length, node: nodeOf.get(held[0] ?? '') ?? null }];
  });
}
