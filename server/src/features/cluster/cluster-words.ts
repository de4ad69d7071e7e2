import { formatHourly, formatNumber, plural } from '../../cost/money.ts';
import type {
  ClusterTotals,
  Coverage,
  DeviceSum,
  LiveCost,
  LivePool,
  LiveTaint,
  MoneyRange,
  PodOwner,
  PoolPlatform,
} from '../../fleet/cluster-view.ts';
import { shorten } from '../../yaml/shorten.ts';
import { visible } from '../cost-report/html-text.ts';

// The words for what a cluster offers, in the tree, on the page and on the command line.

/** `▰▰▰▰▱`: the part of the devices that is not free. A part that is free or not is always visible. */
export function usageBar({ total, free }: Pick<DeviceSum, 'total' | 'free'>, width = 5): string {
  if (total <= 0 || free === null) return '';
  const share = 1 - Math.min(Math.max(free, 0), total) / total;
  const least = share > 0 ? 1 : 0;
  const most = share < 1 ? width - 1 : width;
  const filled = Math.min(Math.max(Math.round(share * width), least), most);
  return '▰'.repeat(filled) + '▱'.repeat(width - filled);
}

/** Devices with at most one decimal: slices are parts of devices. Unknown is `?`. */
export function deviceNumber(count: number | null): string {
  if (count === null) return '?';
  return formatNumber(count > 0 && count < 0.1 ? 0.1 : Math.round(count * 10) / 10);
}

/** `2 of 8 free`, `1 unavailable`; `devices unknown`; `8 GPUs, use unknown`. */
export function usageWords({ total, free, unavailable, uncountedNodes }: DeviceSum): readonly string[] {
  if (total === 0) return [uncountedNodes > 0 ? 'devices unknown' : 'no devices'];
  if (free === null) return [`${gpusWords(total)}, use unknown`];
  const open = `${deviceNumber(free)} of ${deviceNumber(total)} free`;
  return unavailable > 0 ? [open, `${deviceNumber(unavailable)} unavailable`] : [open];
}

/** `2/8 free ▰▰▰▰▱`: the same for a narrow row. */
export function shortUsage(devices: DeviceSum, bar = ` ${usageBar(devices)}`): readonly string[] {
  const [open = '', ...others] = usageWords(devices);
  const isCounted = devices.total > 0 && devices.free !== null;
  return [isCounted ? `${open.replace(' of ', '/')}${bar}` : open, ...others];
}

/** `≥ $27.52/h` if some nodes have no price; undefined without one. */
export function costWords(amount: MoneyRange | null, { unpricedNodes }: LiveCost): string | undefined {
  return amount === null ? undefined : `${unpricedNodes > 0 ? '≥ ' : ''}${formatHourly(amount)}`;
}

/** `$13.76/h idle`; undefined if nothing is idle or no price is known. */
export function idleWords(cost: LiveCost): string | undefined {
  return cost.idle === null || cost.idle.max === 0 ? undefined : `${costWords(cost.idle, cost)} idle`;
}

/** `$13/h idle`: the same for a narrow row, in whole dollars from $10. */
export function shortIdle(cost: LiveCost): string | undefined {
  const { idle } = cost;
  if (idle === null || idle.min < 10) return idleWords(cost);
  const whole = { min: Math.round(idle.min), max: Math.round(idle.max) };
  return idleWords({ ...cost, idle: whole })?.replaceAll('.00', '');
}

/** `24 GPUs, 6 free · $82.56/h · $13.76/h idle`. */
export function totalsWords({ nodes, devices, cost }: ClusterTotals): string {
  if (nodes === 0 && devices.total === 0) return 'no GPUs';
  const hourly = costWords(cost.hourly, cost);
  const parts = [
    `${gpusWords(devices.total)}, ${devices.free === null ? 'use unknown' : `${deviceNumber(devices.free)} free`}`,
    hourly ?? (nodes === 0 ? undefined : 'no prices'),
    idleWords(cost),
  ];
  return parts.filter((part) => part !== undefined).join(' · ');
}

/** `1 GPU`, `2.5 GPUs`. */
export function gpusWords(count: number): string {
  const text = deviceNumber(count);
  return `${text} GPU${text === '1' ? '' : 's'}`;
}

/** `2 GPUs`, `1 × mig-1g.10gb`, `4 × aws.amazon.com/neuron`. */
export function devicesWords(devices: readonly { readonly resource: string; readonly count: number }[]): string {
  return devices.map(({ resource, count }) => deviceWords(resource, count)).join(', ');
}

function deviceWords(resource: string, count: number): string {
  const [, name = ''] = /^(?:nvidia|amd|gpu\.intel)\.com\/(.+)$/.exec(resource) ?? [];
  if (name === 'gpu') return plural(count, 'GPU');
  return `${formatNumber(count)} × ${text(name === '' ? resource : name)}`;
}

/** `4 min`, `3 h`, `12 d`: one unit, rounded down. @param since milliseconds since the epoch */
export function ageWords(since: number, now: number): string {
  const seconds = Math.max(0, Math.floor((now - since) / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** `Deployment/chat`. */
export function ownerName({ kind, name }: PodOwner): string {
  return text(`${kind}/${name}`);
}

/** `nvidia.com/gpu=present:NoSchedule`. */
export function taintWords({ key, value, effect }: LiveTaint): string {
  return text(`${key}${value === '' ? '' : `=${value}`}:${effect}`);
}

/** `GKE node pool`. */
export function platformWords(platform: PoolPlatform): string {
  return platformNames[platform];
}

const platformNames = {
  karpenter: 'Karpenter NodePool',
  gke: 'GKE node pool',
  eks: 'EKS node group',
  eksctl: 'eksctl node group',
  aks: 'AKS node pool',
  coreweave: 'CoreWeave node pool',
  doks: 'DigitalOcean node pool',
  oke: 'OKE node pool',
  openshift: 'OpenShift MachineSet',
  'cluster-api': 'Cluster API MachineDeployment',
  other: 'Node pool',
  'similar-nodes': 'Nodes of the same type',
} as const satisfies Record<PoolPlatform, string>;

/** `not ready`, `2 cordoned`: what keeps nodes of a pool out; empty if nothing does. */
export function stateWords({ nodes, readyNodes, cordonedNodes }: LivePool): readonly string[] {
  return [
    ...(readyNodes < nodes ? [`${plural(nodes - readyNodes, 'node')} not ready`] : []),
    ...(cordonedNodes > 0 ? [`${plural(cordonedNodes, 'node')} cordoned`] : []),
  ];
}

/** What of the cluster could not be read, and what follows. */
export function coverageWords({ resource, state, namespaces }: Coverage): string | undefined {
  if (state === 'namespaces') return `Only ${resource} of ${listed(namespaces)} can be read`;
  return state === 'forbidden' ? `No permission to read ${text(resource)}` : undefined;
}

/** `a, b, c and 2 more`. */
export function listed(names: readonly string[]): string {
  const shown = names.slice(0, 3).map(text);
  return names.length > 3 ? `${shown.join(', ')} and ${names.length - 3} more` : shown.join(', ');
}

/** A text of the cluster on one line, shortened, with every character visible: the author of a pod's state chooses the words. Valid names are shorter. */
export function text(written: string): string {
  return visible(shorten(written.replace(/\s+/g, ' '), 320));
}

/** Words as the start of a sentence. */
export function sentence(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
