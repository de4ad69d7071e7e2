import { migShare, migTable, sliceGiB } from '../catalog/mig.ts';
import type { MigProfile } from '../catalog/types.ts';
import { deviceMetrics, type UsageAnswer } from './usage-metrics.ts';

/** What a pod has done with its devices over a window. Ratios are at least 0 and at most 1. */
export interface PodUsage {
  readonly namespace: string;
  readonly pod: string;
  /** Devices or MIG slices with metrics. */
  readonly devices: number;
  /** How busy its busiest device was; null: not measured. */
  readonly busy: { readonly p50: number; readonly p95: number; readonly max: number } | null;
  /** Bytes of the device that used most at one time; null: not measured. */
  readonly memory: { readonly used: number; readonly total: number } | null;
  /** All its devices, on average; null: not measured. */
  readonly watts: number | null;
  /** The MIG profile of its devices; null for whole devices. */
  readonly profile: string | null;
  /** Metrics go back to the beginning of the window: what is said holds for all of it. */
  readonly isWhole: boolean;
}

/** Sums up the answers of Prometheus by pod, in the order of namespaces and names. Series that name no pod are left out. */
export function podUsage(answers: readonly UsageAnswer[]): readonly PodUsage[] {
  const pods = new Map<string, Device[]>();
  for (const device of devicesOf(answers)) {
    const key = JSON.stringify([device.namespace, device.pod]);
    pods.set(key, [...(pods.get(key) ?? []), device]);
  }
  return [...pods]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .flatMap(([, [first, ...others]]) => (first === undefined ? [] : [joined(first, [first, ...others])]));
}

interface Device {
  readonly namespace: string;
  readonly pod: string;
  readonly profile: string | null;
  readonly values: Map<string, number>;
}

function devicesOf(answers: readonly UsageAnswer[]): Iterable<Device> {
  // If one series was renamed, `pod` is the exporter's own in all of them.
  const isRenamed = answers.some(({ series }) => series.some(({ labels }) => labels.has('exported_pod')));
  const prefix = isRenamed ? 'exported_' : '';
  const devices = new Map<string, Device>();
  for (const { metric, statistic, series } of answers) {
    const { labels: identity, scale, amount } = deviceMetrics[metric];
    for (const { labels, value } of series) {
      const namespace = labels.get(`${prefix}namespace`) ?? '';
      const pod = labels.get(`${prefix}pod`) ?? labels.get('pod_name') ?? '';
      if (pod === '' || !Number.isFinite(value) || value < 0) continue;
      const slice = labels.get('GPU_I_ID') ?? '';
      const key = JSON.stringify([namespace, pod, ...identity.map((name) => labels.get(name) ?? ''), slice]);
      const profile = labels.get('GPU_I_PROFILE') ?? '';
      const device = devices.get(key) ?? {
        namespace,
        pod,
        profile: profile === '' ? null : profile,
        values: new Map<string, number>(),
      };
      devices.set(key, device);
      const name = `${amount} ${statistic}`;
      // The first metric that measures an amount is the most exact one.
      if (!device.values.has(name)) device.values.set(name, value * scale);
    }
  }
  return devices.values();
}

function joined({ namespace, pod, profile }: Device, devices: readonly Device[]): PodUsage {
  const most = (name: string) => {
    const known = devices.flatMap(({ values }) => values.get(name) ?? []);
    return known.length === devices.length ? Math.max(...known) : null;
  };
  const [p50, p95, max] = [most('busy p50'), most('busy p95'), most('busy max')];
  const watts = devices.flatMap(({ values }) => values.get('watts mean') ?? []);
  const memory = devices.flatMap(({ values }) => {
    const used = values.get('used max');
    const free = values.get('free min');
    const total = values.get('total max') ?? (used === undefined || free === undefined ? undefined : used + free);
    return used === undefined || total === undefined || total <= 0 ? [] : [{ used, total }];
  });
  const [largest] = memory.sort((left, right) => right.used - left.used);
  return {
    namespace,
    pod,
    devices: devices.length,
    busy: p50 === null || p95 === null || max === null ? null : { p50: ratio(p50), p95: ratio(p95), max: ratio(max) },
    memory: largest !== undefined && memory.length === devices.length ? largest : null,
    watts: watts.length === devices.length ? watts.reduce((sum, each) => sum + each, 0) : null,
    profile,
    isWhole: devices.every(({ values }) => values.has('busy before')),
  };
}

function ratio(value: number): number {
  return Math.min(value, 1);
}

/** Whether a pod has used its devices less than a part of the time, during the whole window. */
export function isIdle({ busy, isWhole }: PodUsage, below: number): boolean {
  return isWhole && busy !== null && busy.p95 < below;
}

/**
 * Idle pods in words: `3 pods hold 24 GPUs under 5% for 6 h: $165/h`; undefined if there are none.
 * @param price what their devices cost, in words; null if it is unknown
 */
export function idleWords(
  idle: readonly PodUsage[],
  below: number,
  hours: number,
  price: string | null,
): string | undefined {
  const devices = idle.reduce((sum, pod) => sum + pod.devices, 0);
  if (devices === 0) return undefined;
  const noun = idle.some(({ profile }) => profile !== null) ? 'GPUs and slices' : devices === 1 ? 'GPU' : 'GPUs';
  const holders = idle.length === 1 ? '1 pod holds' : `${idle.length} pods hold`;
  const cost = price === null ? '' : `: ${price}`;
  return `${holders} ${devices} ${noun} under ${percent(below)} for ${hours} h${cost}`;
}

/**
 * What a pod uses, in words: `uses 11 of 80 GiB, 7% busy: 1g.20gb would hold it`; undefined if nothing was measured.
 * @param gpu the catalog's id of the card; undefined if it is unknown
 */
export function usageWords(usage: PodUsage, gpu: string | undefined): string | undefined {
  const { memory, busy, watts } = usage;
  const parts = [
    ...(memory === null ? [] : [`uses ${gibibytes(memory.used)} of ${gibibytes(memory.total)} GiB`]),
    ...(busy === null ? [] : [`${percent(busy.p95)} busy`]),
    ...(watts === null ? [] : [`${Math.round(watts)} W`]),
  ];
  if (parts.length === 0) return undefined;
  const slice = gpu === undefined ? undefined : smallerSlice(usage, gpu);
  return `${parts.join(', ')}${slice === undefined ? '' : `: ${slice.name} would hold it`}`;
}

/** What a slice must have to spare, as a part of its memory. */
const spare = 0.1;

/**
 * The smallest MIG slice that would hold what a pod uses of one whole device: its memory with a tenth to spare, and its busy time, which grows as the
 * slice has fewer compute units. Undefined without a smaller one, without MIG, or if the window is not complete.
 */
export function smallerSlice(
  { devices, memory, busy, profile, isWhole }: PodUsage,
  gpu: string,
): MigProfile | undefined {
  const table = migTable(gpu);
  if (table === undefined || devices !== 1 || profile !== null || memory === null || busy === null || !isWhole)
    return undefined;
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

function percent(part: number): string {
  const value = part * 100;
  return value > 0 && value < 1 ? '<1%' : `${Math.round(value)}%`;
}

function gibibytes(bytes: number): string {
  const amount = bytes / 2 ** 30;
  return amount < 10 ? String(Math.round(amount * 10) / 10) : String(Math.round(amount));
}
