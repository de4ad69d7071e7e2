import { migShare, migTable, sliceGiB } from '../catalog/mig.ts';
import type { MigProfile } from '../catalog/types.ts';
import type { MemoryUse, PodUsage } from './device-usage.ts';
import { type DevicePod, type DevicePods, podFinder } from './usage-labels.ts';
import { deviceMetrics, type MetricName, stepSeconds, type UsageAnswer } from './usage-metrics.ts';

/**
 * Sums up the answers of Prometheus by pod, in the order of namespaces and names. Series of other pods are left out.
 * @param pods those with devices
 * @param hours the length of the window
 */
export function podUsage(answers: readonly UsageAnswer[], pods: DevicePods, hours: number): readonly PodUsage[] {
  const byPod = new Map<DevicePod, Device[]>();
  const holders = new Map<string, Set<DevicePod>>();
  for (const device of devicesOf(answers, pods)) {
    byPod.set(device.of, [...(byPod.get(device.of) ?? []), device]);
    holders.set(device.id, (holders.get(device.id) ?? new Set()).add(device.of));
  }
  return [...byPod]
    .sort(([a], [b]) => compare(a.namespace, b.namespace) || compare(a.name, b.name))
    .map(([pod, devices]) =>
      joined(
        pod,
        devices,
        hours * 3600,
        devices.some(({ id }) => (holders.get(id)?.size ?? 0) > 1),
      ),
    );
}

interface Device {
  readonly of: DevicePod;
  /** Its labels, whoever holds it. */
  readonly id: string;
  readonly profile: string | null;
  readonly values: Map<string, { readonly metric: MetricName; readonly value: number }>;
}

function devicesOf(answers: readonly UsageAnswer[], pods: DevicePods): Iterable<Device> {
  const devices = new Map<string, Device>();
  const podOf = podFinder(pods);
  for (const { metric, statistic, series } of answers) {
    const { labels: identity, scale, amount } = deviceMetrics[metric];
    for (const { labels, value } of series) {
      const of = podOf(labels);
      if (of === undefined || !Number.isFinite(value) || value < 0) continue;
      const slice = labels.get('GPU_I_ID') ?? '';
      // It is 0 for every slice: https://github.com/NVIDIA/dcgm-exporter/issues/216
      if (slice !== '' && metric === 'DCGM_FI_DEV_GPU_UTIL') continue;
      const id = [of.node, ...identity.map((name) => labels.get(name) ?? ''), slice].join('\n');
      const key = `${of.namespace}\n${of.name}\n${id}`;
      const device: Device = devices.get(key) ?? {
        of,
        id,
        profile: labels.get('GPU_I_PROFILE') || (slice === '' ? null : ''),
        values: new Map(),
      };
      devices.set(key, device);
      const name = `${amount} ${statistic}`;
      const amountOf = statistic === 'steps' ? value : value * scale;
      const before = device.values.get(name);
      // The first metric that measures an amount is the most exact one; of its copies, the one that says most use is safe.
      if (before === undefined) device.values.set(name, { metric, value: amountOf });
      else if (before.metric === metric) {
        const pick = statistic === 'min' ? Math.min : Math.max;
        device.values.set(name, { metric, value: pick(before.value, amountOf) });
      }
    }
  }
  return devices.values();
}

/** The part of the steps of a window that must have samples: exporters restart. */
const enough = 0.9;

function joined(
  { namespace, name: pod }: DevicePod,
  devices: readonly Device[],
  windowSeconds: number,
  isShared: boolean,
): PodUsage {
  const [{ profile = null } = {}] = devices;
  const all = (name: string): readonly number[] | undefined => {
    const known = devices.flatMap(({ values }) => values.get(name)?.value ?? []);
    return known.length === devices.length ? known : undefined;
  };
  const mean = all('busy mean');
  const p95 = all('busy p95');
  const watts = all('watts mean');
  const steps = all('busy steps') ?? [];
  const memory = devices.flatMap(({ values }): MemoryUse[] => {
    const used = values.get('used max')?.value;
    const free = values.get('free min')?.value;
    const total =
      values.get('total max')?.value ?? (used === undefined || free === undefined ? undefined : used + free);
    return used === undefined || total === undefined || total <= 0 ? [] : [{ used: Math.min(used, total), total }];
  });
  const [largest] = [...memory].sort((left, right) => right.used - left.used);
  const isMeasured = largest !== undefined && memory.length === devices.length;
  return {
    namespace,
    pod,
    devices: devices.length,
    busy:
      mean === undefined || p95 === undefined
        ? null
        : { mean: ratio(sum(mean) / devices.length), p95: ratio(Math.max(...p95)) },
    memory: isMeasured ? largest : null,
    allMemory: isMeasured
      ? { used: sum(memory.map(({ used }) => used)), total: sum(memory.map(({ total }) => total)) }
      : null,
    // A slice has no power of its own.
    watts: watts === undefined || profile !== null || isShared ? null : sum(watts),
    profile,
    isWhole:
      devices.every(({ values }) => values.has('busy before')) &&
      steps.length > 0 &&
      Math.min(...steps) * stepSeconds >= windowSeconds * enough,
    seconds: Math.max(0, ...devices.map(({ values }) => values.get('busy steps')?.value ?? 0)) * stepSeconds,
    isShared,
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, each) => total + each, 0);
}

function ratio(value: number): number {
  return Math.min(value, 1);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** A pod that uses its devices less than this part of the time does not need them. */
export const idleBelow = 0.05;

/** Whether a pod has used its devices less than `idleBelow`, during the whole window. */
export function isIdle({ busy, isWhole }: PodUsage): boolean {
  return isWhole && busy !== null && busy.p95 < idleBelow;
}

/** What a slice must have to spare, as a part of its memory. */
const spare = 0.1;

/**
 * The smallest MIG slice that would hold what a pod uses of one whole device: its memory with a tenth to spare, and its busy time, which grows as the
 * slice has fewer compute units. Undefined without a smaller one, without MIG, if the device is shared, or if the window is not complete.
 */
export function smallerSlice(
  { devices, memory, busy, profile, isWhole, isShared }: PodUsage,
  gpu: string,
): MigProfile | undefined {
  const table = migTable(gpu);
  if (table === undefined || memory === null || busy === null || !isWhole || isShared) return undefined;
  if (devices !== 1 || profile !== null) return undefined;
  const used = memory.used / 2 ** 30;
  return table.profiles
    .filter(
      (slice) =>
        // Variants with media engines are scarce.
        !slice.name.includes('+') &&
        migShare(table, slice) < 1 &&
        used <= sliceGiB(slice) * (1 - spare) &&
        busy.p95 <= slice.computeSlices / table.computeSlices,
    )
    .sort((left, right) => migShare(table, left) - migShare(table, right) || left.memoryGiB - right.memoryGiB)[0];
}
