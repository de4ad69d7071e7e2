import { formatAmount, formatHourly, formatNumber, plural } from '../../cost/money.ts';
import type { ClusterView } from '../../fleet/cluster-view.ts';
import type { ClusterUsage, IdlePod, IdleSum, MemoryUse, PodUsage, UsageSum } from '../../fleet/device-usage.ts';
import type { WorkloadUsage } from '../../fleet/measured-view.ts';
import { idleBelow } from '../../fleet/usage.ts';
import { devicesWords, gpusWords, totalsWords } from './cluster-words.ts';

// The words for what Prometheus has measured.

/** What of the GPUs is used, apart: a narrow row must show `busy`. */
export interface UsageParts {
  readonly busy: string | undefined;
  readonly rest: readonly string[];
}

export const nothingMeasured: UsageParts = { busy: undefined, rest: [] };

/** `4% busy` and `11 of 80 GiB`. */
export function podUsageParts({ busy, memory, devices, isShared }: PodUsage): UsageParts {
  return {
    busy: busy === null ? undefined : `${percent(busy.mean)} busy`,
    rest: [
      ...(memory === null ? [] : [`${devices > 1 ? 'up to ' : ''}${memoryWords(memory)}`]),
      ...(isShared ? ['shared GPU'] : []),
    ],
  };
}

/** `34% busy` and `240 of 640 GiB`, for some of the pods `3 of 5 pods measured`. */
export function usageSumParts({ busy, memory, measured, pods }: UsageSum): UsageParts {
  return {
    busy: busy === null ? undefined : `${percent(busy)} busy`,
    rest: [
      ...(memory === null ? [] : [memoryWords(memory)]),
      ...(measured < pods ? [`${measured} of ${plural(pods, 'pod')} measured`] : []),
    ],
  };
}

/** The same in one text; undefined if nothing was measured. */
export function usageSumWords(sum: UsageSum): string | undefined {
  const { busy, rest } = usageSumParts(sum);
  return sum.busy === null && sum.memory === null ? undefined : [busy, ...rest].filter((part) => part).join(', ');
}

/** The same as lines of a tooltip, with what the figures mean. */
export function podUsageLines({ busy, memory, watts, devices, isShared, isWhole }: PodUsage): readonly string[] {
  return [
    ...(busy === null
      ? []
      : [`${percent(busy.mean)} busy on average, at most ${percent(busy.p95)} for 95% of the time`]),
    ...(memory === null ? [] : [`At most ${memoryWords(memory)} in use${devices > 1 ? ' on one GPU' : ''}`]),
    ...(watts === null ? [] : [`${formatNumber(Math.round(watts))} W on average`]),
    ...(isShared ? ['Other pods share the GPU, so the figures may include theirs'] : []),
    ...(isWhole ? [] : ['Measured for only part of the window']),
  ];
}

/** `3 pods hold 24 GPUs under 5% for 6 h: $165/h`; undefined if no pod is idle. */
export function idlePodsWords({ idle, hours }: Pick<ClusterUsage, 'idle' | 'hours'>): string | undefined {
  if (idle.pods === 0) return undefined;
  return `${idle.pods === 1 ? '1 pod holds' : `${idle.pods} pods hold`} ${gpusWords(idle.devices)} under ${percent(idleBelow)} for ${hours} h${priceWords(idle)}`;
}

/** The totals of a cluster, and what is idle of it. */
export function headWords({ totals, usage }: ClusterView): string {
  return [totalsWords(totals), (usage && idlePodsWords(usage)) ?? ''].filter((part) => part !== '').join(' · ');
}

/** Why nothing was measured; undefined if something was, or if nobody is asked. */
export function usageProblem({ usage }: Pick<ClusterView, 'usage'>): readonly string[] {
  return usage?.state === 'problem' && usage.message !== null ? [usage.message] : [];
}

function priceWords({ hourly }: IdleSum): string {
  return hourly === null ? '' : `: ${formatHourly(hourly)}`;
}

/**
 * `Its pod uses 11 of 80 GiB, 7% busy over 6 h: 1g.20gb would be enough`. A slice is named only if it would hold each of the pods.
 * @param hours the length of the window
 */
export function workloadUsageWords({ usages, pods }: WorkloadUsage, hours: number): string | null {
  const memory = usages
    .flatMap(({ usage }) => usage.memory ?? [])
    .reduce<MemoryUse | null>((most, one) => (most !== null && most.used >= one.used ? most : one), null);
  const means = usages.flatMap(({ usage }) => usage.busy?.mean ?? []);
  const isShared = usages.some(({ usage }) => usage.isShared);
  const parts = [
    ...(memory === null ? [] : [memoryWords(memory)]),
    ...(means.length === 0 ? [] : [`${percent(means.reduce((sum, one) => sum + one, 0) / means.length)} busy`]),
  ];
  if (parts.length === 0) return null;
  const isWhole = usages.every(({ usage }) => usage.isWhole);
  const over = isWhole ? `over ${hours} h` : `over less than ${hours} h`;
  const isOne = pods === 1;
  const who = isOne ? 'its pod' : `${usages.length < pods ? `${usages.length} of ` : ''}its ${pods} pods`;
  const most = isOne && usages.every(({ usage }) => usage.devices === 1) ? '' : ' up to';
  const verb = memory === null ? (isOne ? ' is' : ' are') : `${isOne ? ' uses' : ' use'}${most}`;
  const shared = isShared ? ', on a GPU that other pods share' : '';
  const slices = new Set(usages.map(({ slice }) => slice));
  const [slice] = slices;
  const isFit = slices.size === 1 && slice != null && usages.length === pods;
  const fit = isFit ? `: ${slice} would be enough${isOne ? '' : ' for each'}` : '';
  return `${who}${verb} ${parts.join(', ')} ${over}${shared}${fit}`;
}

/** `<1%`, `34%`. @param part from 0 to 1 */
export function percent(part: number): string {
  const value = part * 100;
  return value > 0 && value < 1 ? '<1%' : `${Math.round(value)}%`;
}

/** `11 of 80 GiB`. */
function memoryWords({ used, total }: MemoryUse): string {
  return `${gibibytes(used)} of ${gibibytes(total)} GiB`;
}

function gibibytes(bytes: number): string {
  const amount = bytes / 2 ** 30;
  return formatNumber(amount < 10 ? Math.round(amount * 10) / 10 : Math.round(amount));
}

/** The columns of a table of idle pods. */
export const idleHeads = ['Pod', 'Holds', 'Busy', 'Memory', 'W', '$/h', 'Would fit in'];

export function idleCells({ namespace, name, holds, usage, hourly, slice }: IdlePod): readonly string[] {
  return [
    `${namespace}/${name}`,
    devicesWords(holds),
    usage.busy === null ? '' : percent(usage.busy.mean),
    usage.memory === null ? '' : memoryWords(usage.memory),
    usage.watts === null ? '' : formatNumber(Math.round(usage.watts)),
    hourly === null ? '' : formatAmount(hourly),
    slice ?? '',
  ];
}
