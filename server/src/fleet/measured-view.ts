import type { LiveNode, LivePod, MoneyRange } from './cluster-view.ts';
import type { ClusterUsage, IdlePod, IdleSum, PodUsage, UsageSum } from './device-usage.ts';
import { isIdle, smallerSlice } from './usage.ts';
import { type DevicePod, type DevicePods, devicePods } from './usage-labels.ts';
import { stepSeconds } from './usage-metrics.ts';
import { type ComputedView, partOfDevice, partOfPrice } from './view.ts';

/** What is known of a Prometheus; null: nothing. */
export type Measured =
  | (Pick<ClusterUsage, 'state' | 'message' | 'source' | 'hours'> & { readonly pods: readonly PodUsage[] })
  | null;

/** A view with what was measured. */
export interface MeasuredView extends ComputedView {
  /** The pods with metrics of a workload; undefined if there are none. */
  readonly usageOf: (namespace: string, kind: string, name: string) => WorkloadUsage | undefined;
}

export interface WorkloadUsage {
  readonly usages: readonly { readonly usage: PodUsage; readonly slice: string | null }[];
  /** All its pods that hold devices. */
  readonly pods: number;
}

/** The pods of a view that hold devices. */
export function podsWithDevices({ view, nodesOf }: ComputedView): DevicePods {
  const found: DevicePod[] = [];
  for (const { id } of view.pools)
    for (const { name: node, pods } of nodesOf(id))
      for (const { namespace, name } of pods) found.push({ namespace, name, node });
  return devicePods(found);
}

/**
 * Adds what was measured to a view. What is not certain to be about a pod is left out: an earlier pod of the same name, more devices than it holds, the
 * figures of a card of which it has a slice.
 */
export function withUsage(computed: ComputedView, measured: Measured): MeasuredView {
  const { view, nodesOf } = computed;
  if (measured === null) return { ...computed, usageOf: () => undefined };
  const { pods: usages, ...state } = measured;
  if (usages.length === 0) {
    const pods = [...podsWithDevices(computed).values()].reduce((sum, named) => sum + named.length, 0);
    return {
      ...computed,
      view: { ...view, usage: { ...state, pods, measured: 0, idle: idleSum([]) } },
      usageOf: () => undefined,
    };
  }
  const byPod = new Map(usages.map((usage) => [keyOf(usage.namespace, usage.pod), usage]));
  const all = sums();
  const byOwner = new Map<string, ReturnType<typeof sums>>();
  const nodes = new Map<string, readonly LiveNode[]>();
  const idle: IdlePod[] = [];
  const pools = view.pools.map((pool) => {
    const own = sums();
    nodes.set(
      pool.id,
      nodesOf(pool.id).map((node) => {
        if (node.pods.length === 0) return node;
        const judged = node.pods.map((pod): LivePod => {
          const raw = byPod.get(keyOf(pod.namespace, pod.name));
          const usage = raw === undefined ? null : certain(raw, pod, node, view.asOf, measured.hours);
          const held = pod.devices.reduce((sum, { resource, count }) => sum + count * partOfDevice(resource, node), 0);
          const owner = pod.owner ?? { kind: 'Pod', name: pod.name };
          const key = keyOf(pod.namespace, owner.kind, owner.name);
          const ofOwner = byOwner.get(key) ?? sums();
          byOwner.set(key, ofOwner);
          const slice = (usage && node.model?.id && smallerSlice(usage, node.model.id)?.name) || null;
          for (const sum of [all, own, ofOwner]) sum.add(usage, held, slice);
          if (usage !== null && isIdle(usage) && Number.isFinite(held))
            idle.push({ ...idleOf(pod, node, held), pool: pool.name, usage, slice });
          return { ...pod, usage };
        });
        return { ...node, pods: judged };
      }),
    );
    return { ...pool, usage: own.sum() };
  });
  const ownersUsage = (namespace: string, kind: string, name: string) => byOwner.get(keyOf(namespace, kind, name));
  return {
    view: {
      ...view,
      pools,
      owners: view.owners.map((use) => ({
        ...use,
        usage: ownersUsage(use.namespace, use.owner.kind, use.owner.name)?.sum() ?? null,
      })),
      usage: { ...state, pods: all.pods(), measured: all.usages.length, idle: idleSum(idle) },
      idlePods: idle.sort((a, b) => (b.hourly?.max ?? 0) - (a.hourly?.max ?? 0) || b.devices - a.devices),
    },
    nodesOf: (pool) => nodes.get(pool) ?? [],
    usageOf(namespace, kind, name) {
      const found = ownersUsage(namespace, kind, name);
      return found === undefined || found.usages.length === 0
        ? undefined
        : { usages: found.usages, pods: found.pods() };
    },
  };
}

/** Names of Kubernetes have no slashes. */
function keyOf(...names: readonly string[]): string {
  return names.join('/');
}

/** What the figures say of the pod for certain; null if that is nothing. */
function certain(usage: PodUsage, pod: LivePod, node: LiveNode, asOf: number, hours: number): PodUsage | null {
  const age = pod.created === null ? null : Math.max(0, asOf - pod.created) / 1000;
  // The metrics begin before the pod: those of an earlier pod with its name.
  if (age !== null && usage.seconds > age + 2 * stepSeconds) return null;
  const units = pod.devices.reduce((sum, { count }) => sum + count, 0);
  const isNeuron = pod.devices.some(({ resource }) => /neuron/.test(resource));
  const isSlice = pod.devices.some(({ resource }) => resource.includes('/mig-')) || node.mig?.strategy === 'single';
  // Without the label of its slice, the figures are those of the card.
  if (isSlice && !usage.profile) return null;
  const isPart = pod.devices.every(({ resource }) => partOfDevice(resource, node) < 1);
  // A plugin can offer each device several times, without a label that says so.
  const offered = node.resources.reduce((sum, { capacity, share }) => sum + capacity * (share ?? 1), 0);
  const isShared =
    usage.isShared ||
    node.sharing !== null ||
    (!isSlice &&
      !isNeuron &&
      (offered > node.devices.total || pod.devices.some(({ resource }) => !(partOfDevice(resource, node) >= 1))));
  // A core or a share is not counted as exporters count.
  if (!isNeuron && !isShared && usage.devices > units) return null;
  // Which part of a shared device, or of one of unknown size, a pod holds must be known.
  const isSized = isShared || (usage.profile !== null && !isSlice) ? isPart : true;
  const isComplete = isSized && (isNeuron || isShared || usage.devices === units);
  return {
    ...usage,
    isShared,
    watts: isShared ? null : usage.watts,
    isWhole: usage.isWhole && isComplete && age !== null && age >= hours * 3600,
  };
}

function idleOf(pod: LivePod, node: LiveNode, held: number) {
  const hourly = partOfPrice(node, held);
  return {
    pods: 1,
    devices: held,
    hourly: Number.isNaN(hourly.max) ? null : hourly,
    namespace: pod.namespace,
    name: pod.name,
    owner: pod.owner,
    node: node.name,
    holds: pod.devices,
  };
}

function idleSum(idle: readonly IdlePod[]): IdleSum {
  return {
    pods: idle.length,
    devices: Math.round(idle.reduce((sum, { devices }) => sum + devices, 0) * 1e6) / 1e6,
    hourly: idle.reduce<MoneyRange | null>(
      (sum, { hourly }) => sum && hourly && { min: sum.min + hourly.min, max: sum.max + hourly.max },
      idle.length === 0 ? null : { min: 0, max: 0 },
    ),
  };
}

/** Adds up what several pods use. */
function sums() {
  const usages: { readonly usage: PodUsage; readonly slice: string | null }[] = [];
  let pods = 0;
  let busy = 0;
  let busyDevices = 0;
  const memory = { used: 0, total: 0 };
  return {
    usages,
    pods: () => pods,
    /** @param held physical devices; NaN: unknown */
    add(usage: PodUsage | null, held: number, slice: string | null): void {
      pods += 1;
      if (usage === null) return;
      usages.push({ usage, slice });
      const devices = Number.isFinite(held) && held > 0 ? held : usage.devices;
      if (usage.busy !== null) {
        busy += usage.busy.mean * devices;
        busyDevices += devices;
      }
      // A shared card counts once, however many pods it has.
      const part = usage.isShared ? Math.min(1, devices / usage.devices) : 1;
      memory.used += (usage.allMemory?.used ?? 0) * part;
      memory.total += (usage.allMemory?.total ?? 0) * part;
    },
    sum(): UsageSum | null {
      if (usages.length === 0) return null;
      return {
        measured: usages.length,
        pods,
        busy: busyDevices === 0 ? null : busy / busyDevices,
        memory: memory.total === 0 ? null : { ...memory },
      };
    },
  };
}
