import { type AcceleratorForm, acceleratorResource } from '../catalog/index.ts';
import { sharingByLabels, unitShare } from '../model/shares.ts';
import type { ClusterNode } from './cluster-objects.ts';
import type { DeviceCount, DeviceCounts, DeviceSum } from './cluster-view.ts';
import type { Machine } from './machine.ts';
import type { Amounts } from './types.ts';

/** The forms of resources whose units are devices or parts of them; counters of memory and percent only refine others. */
const counted: ReadonlySet<AcceleratorForm> = new Set(['whole', 'mig', 'shared', 'core']);

/** Whether a resource is an accelerator or a part of one. */
export function isDeviceResource(name: string): boolean {
  const known = acceleratorResource(name);
  return known !== undefined && counted.has(known.form);
}

/** The devices that pods request, by resource. */
export function deviceRequests(requests: Amounts): readonly DeviceCount[] {
  const before = known.get(requests);
  if (before !== undefined) return before;
  const found: DeviceCount[] = [];
  for (const [resource, count] of requests)
    if (count > 0 && isDeviceResource(resource)) found.push({ resource, count });
  known.set(requests, found);
  return found;
}

/** Thousands of pods have the same requests. */
const known = new WeakMap<Amounts, readonly DeviceCount[]>();

/** Where the pods of a node are known. */
export interface KnownCounts extends DeviceCounts {
  readonly requested: number;
  readonly free: number;
}

/**
 * The accelerator resources of a node, as the scheduler counts them. What is free is free for a pod: nothing on a node that takes none.
 * @param requested by all pods of the node
 * @param isOpen whether the node takes pods now
 */
export function countDevices(
  { labels, capacity, allocatable }: ClusterNode,
  { model }: Machine,
  requested: Amounts,
  isOpen: boolean,
): readonly KnownCounts[] {
  const value = (key: string) => labels.get(key);
  const sharing = sharingByLabels(value, null);
  const models = model?.id == null ? [] : [model.id];
  const names = [...new Set([...capacity.keys(), ...allocatable.keys()])].filter(isDeviceResource).sort();
  return names.flatMap((resource) => {
    const form = acceleratorResource(resource)?.form ?? 'whole';
    const offered = allocatable.get(resource) ?? 0;
    const used = requested.get(resource) ?? 0;
    const all = capacity.get(resource) ?? offered;
    // GPU operators leave a resource with 0 devices after the node is partitioned.
    if (all === 0 && used === 0) return [];
    return [
      {
        resource,
        capacity: all,
        allocatable: offered,
        requested: used,
        free: isOpen ? Math.max(0, offered - used) : 0,
        share: unitShare(resource, form, models, sharing, null),
      },
    ];
  });
}

/** Neuron's device plugin offers the same devices under three names. */
const aliases = ['aws.amazon.com/neuron', 'aws.amazon.com/neurondevice', 'aws.amazon.com/neuroncore'];

/**
 * The physical devices behind the resources of a node.
 * @param known the number of devices by the labels of the node or its instance type; null: unknown
 */
export function sumDevices(counts: readonly KnownCounts[], known: number | null, isOpen: boolean): DeviceSum {
  const alias = aliases.find((name) => counts.some(({ resource }) => resource === name));
  const offered = counts.filter(({ resource }) => resource === alias || !aliases.includes(resource));
  if (offered.length === 0) return unavailable(known);
  const isOne = offered.length === 1;
  // A single resource needs no share if the number of devices is known.
  const share = ({ share: each, capacity }: KnownCounts) =>
    each ?? (isOne && known !== null && capacity > 0 ? known / capacity : Number.NaN);
  const sum = (amount: (one: KnownCounts) => number) =>
    offered.reduce((total, one) => total + amount(one) * share(one), 0);
  const capacity = sum((one) => one.capacity);
  if (!Number.isFinite(capacity)) return unavailable(known);
  const total = known ?? Math.ceil(capacity - tolerance);
  const isParted = offered.every(({ share: each }) => each !== 1);
  // Slices rarely fill their cards, and a plugin may offer each card several times; but a missing card is missing.
  const scale = capacity > total + tolerance || (isParted && capacity > 0) ? total / capacity : 1;
  const aliasUse = counts
    .filter((one) => !offered.includes(one))
    .reduce((all, { requested, share: each }) => all + requested * (each ?? 1), 0);
  const used = Math.min(total, (sum(({ requested }) => requested) + aliasUse) * scale);
  const offeredNow = isOpen ? (sum(({ free }) => free) - aliasUse) * scale : 0;
  const free = rounded(Math.max(0, Math.min(total - used, offeredNow)));
  const unavailableNow = rounded(Math.max(0, total - used - free));
  return { total, free, used: rounded(used), unavailable: unavailableNow, uncountedNodes: 0 };
}

/** Sums of thirds and sevenths. */
const tolerance = 1e-9;

function rounded(amount: number): number {
  return Math.round(amount * 1e6) / 1e6;
}

function unavailable(known: number | null): DeviceSum {
  const total = known ?? 0;
  return { total, free: 0, used: 0, unavailable: total, uncountedNodes: known === null ? 1 : 0 };
}

/** The devices of several nodes or pools together. */
export function addDevices(sums: readonly DeviceSum[]): DeviceSum {
  const add = (amount: (one: DeviceSum) => number) => rounded(sums.reduce((total, one) => total + amount(one), 0));
  // What is unknown of one is unknown of all.
  const addKnown = (amount: (one: DeviceSum) => number | null) =>
    sums.some((one) => amount(one) === null) ? null : add((one) => amount(one) ?? 0);
  return {
    total: add(({ total }) => total),
    free: addKnown(({ free }) => free),
    used: addKnown(({ used }) => used),
    unavailable: add(({ unavailable: amount }) => amount),
    uncountedNodes: add(({ uncountedNodes }) => uncountedNodes),
  };
}

function plus(left: number | null, right: number | null): number | null {
  return left === null || right === null ? null : left + right;
}

/** The units of several nodes together, by resource. A share that differs is unknown. */
export function addCounts(lists: readonly (readonly DeviceCounts[])[]): readonly DeviceCounts[] {
  const sums = new Map<string, DeviceCounts>();
  for (const one of lists.flat()) {
    const before = sums.get(one.resource);
    sums.set(
      one.resource,
      before === undefined
        ? one
        : {
            resource: one.resource,
            capacity: before.capacity + one.capacity,
            allocatable: before.allocatable + one.allocatable,
            requested: plus(before.requested, one.requested),
            free: plus(before.free, one.free),
            share: before.share === one.share ? one.share : null,
          },
    );
  }
  return [...sums.values()].sort((a, b) => (a.resource < b.resource ? -1 : 1));
}
