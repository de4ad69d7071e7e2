import { plural } from '../../cost/money.ts';
import type {
  ClusterView,
  DeviceSum,
  LeakedClaim,
  LiveCost,
  LiveNode,
  LivePod,
  LivePool,
  OwnerUse,
  PodOwner,
} from '../../fleet/cluster-view.ts';
import { addDevices } from '../../fleet/device-counts.ts';
import { isIdle } from '../../fleet/usage.ts';
import {
  ageWords,
  costWords,
  coverageWords,
  deviceNumber,
  devicesWords,
  gpusWords,
  idleWords,
  ownerName,
  shortIdle,
  shortUsage,
  stateWords,
  text,
  usageBar,
  usageWords,
} from './cluster-words.ts';
import { nothingMeasured, podUsageLines, podUsageParts, usageProblem, usageSumParts } from './device-usage-words.ts';
import type { ClusterNode } from './drawn.ts';
import { nodeLines, poolLines } from './row-details.ts';
import { idOf } from './row-id.ts';

// The rows of the tree. Their ids start with the kind of what is below them.

export const warning = 'list.warningForeground';
const danger = 'list.errorForeground';

interface Figures {
  readonly devices: DeviceSum;
  readonly cost: LiveCost;
  readonly busy?: string | undefined;
}

type Row = Pick<ClusterNode, 'kind' | 'label' | 'icon'> & {
  readonly path: readonly string[];
  /** Its figures come first, because a narrow view cuts the rest. */
  readonly usage?: Figures;
  readonly parts: readonly (string | undefined)[];
  readonly lines?: readonly string[];
} & Partial<Pick<ClusterNode, 'color' | 'children' | 'name' | 'pool' | 'owner'>>;

/** A row of the tree; its texts are made visible. */
export function row({ path, usage, parts, lines = [], label, name = label, ...rest }: Row): ClusterNode {
  const words = (
    usage === undefined ? parts : [...usageWords(usage.devices), usage.busy, idleWords(usage.cost), ...parts]
  ).filter(isSaid);
  const short = usage === undefined ? parts : [...figures(usage), ...parts];
  return {
    color: null,
    children: null,
    pool: null,
    owner: null,
    ...rest,
    id: idOf(path),
    label: text(label),
    name,
    description: short.filter(isSaid).map(text).join(' · '),
    tooltip: [label, ...(lines.length === 0 ? words : lines)].map(text).join('\n'),
    spoken: [label, ...words].map(text).join(', ').replaceAll('/h', ' an hour').replaceAll('≥', 'at least'),
  };
}

/** For a narrow row: what is measured matters more than the bar. */
function figures({ devices, cost, busy }: Figures): readonly (string | undefined)[] {
  if (busy === undefined) return [...shortUsage(devices), shortIdle(cost)];
  const [free, ...others] = shortUsage(devices, '');
  return [free, busy, shortIdle(cost), ...others, usageBar(devices)];
}

function isSaid(part: string | undefined): part is string {
  return part !== undefined && part !== '';
}

function hasFree({ free }: DeviceSum): boolean {
  return free !== null && free > 0;
}

export function poolRow(pool: LivePool): ClusterNode {
  const { id, name, devices, cost, model, capacity, nodes } = pool;
  const problems = stateWords(pool);
  const { busy, rest } = pool.usage === null ? nothingMeasured : usageSumParts(pool.usage);
  return row({
    kind: 'pool',
    path: ['pool', id],
    label: name,
    usage: { devices, cost, busy },
    parts: [...rest, ...problems, model?.name, capacity === null || capacity === 'on-demand' ? undefined : capacity],
    lines: poolLines(pool),
    icon: 'server-environment',
    color: problems.length > 0 ? warning : hasFree(devices) ? 'charts.green' : null,
    children: nodes > 0 ? 'collapsed' : null,
    pool: id,
  });
}

/** A part of the nodes of a large pool. */
export function rangeRow(pool: LivePool, from: number, nodes: readonly LiveNode[]): ClusterNode {
  const { free } = addDevices(nodes.map(({ devices }) => devices));
  return row({
    kind: 'nodes',
    path: ['nodes', pool.id, String(from)],
    label: `Nodes ${from + 1}–${from + nodes.length}`,
    parts: [free === null ? undefined : `${deviceNumber(free)} free`],
    lines: [`${nodes[0]?.name} to ${nodes.at(-1)?.name}`],
    icon: 'layers',
    children: 'collapsed',
  });
}

export function nodeRow(pool: LivePool, node: LiveNode, now: number): ClusterNode {
  const { name, ready, cordoned, devices, cost, pods, otherPods, mig } = node;
  const slices = (mig?.profiles ?? []).filter(({ free }) => free !== null && free > 0);
  return row({
    kind: 'node',
    path: ['node', pool.id, name],
    label: name,
    usage: { devices, cost },
    parts: [
      ready ? undefined : 'not ready',
      cordoned ? 'cordoned' : undefined,
      ...slices.map(({ profile, free }) => `${free} × ${profile}`),
      pods.length === 0 && otherPods > 0 && devices.total > 0 ? 'only pods without GPUs' : undefined,
    ],
    lines: nodeLines(node, now),
    icon: ready ? (cordoned ? 'circle-slash' : devices.total === 0 ? 'warning' : 'server') : 'error',
    color: ready ? (cordoned || devices.total === 0 ? warning : hasFree(devices) ? 'charts.green' : null) : danger,
    children: pods.length > 0 ? 'collapsed' : null,
  });
}

/** @param node if the row is not below its node */
export function podRow(pod: LivePod, above: readonly string[], now: number, node?: string): ClusterNode {
  const { namespace, name, owner, devices, created, state, priority, usage } = pod;
  const age = created === null ? undefined : ageWords(created, now);
  const { busy, rest } = usage === null ? nothingMeasured : podUsageParts(usage);
  // Long names of pods hide the figures in a narrow view.
  const idle = state === 'running' && usage !== null && isIdle(usage);
  return row({
    kind: 'pod',
    path: [...above, namespace, name],
    label: name,
    parts: [
      busy,
      devicesWords(devices),
      ...rest,
      state === 'running' ? undefined : state,
      namespace,
      owner === null ? undefined : ownerName(owner),
      node,
      age,
    ],
    lines: [
      `${state}, ${devicesWords(devices)}`,
      ...(usage === null ? [] : podUsageLines(usage)),
      `Namespace ${namespace}`,
      ...(owner === null ? [] : [ownerName(owner)]),
      ...(node === undefined ? [] : [`Node ${node}`]),
      ...(age === undefined ? [] : [`Created ${age} ago`]),
      ...(priority === 0 ? [] : [`Priority ${priority}`]),
    ],
    icon: idle ? 'circle-outline' : state === 'running' ? 'circle-filled' : state === 'starting' ? 'sync' : 'trash',
    color: idle ? warning : state === 'running' ? 'charts.green' : state === 'starting' ? 'charts.blue' : null,
    owner: ownedBy(pod),
  });
}

export function ownerRow(use: OwnerUse): ClusterNode {
  const { namespace, owner, pods, pending, devices, hourly } = use;
  const { busy, rest } = use.usage === null ? nothingMeasured : usageSumParts(use.usage);
  return row({
    kind: 'owner',
    path: ['owner', namespace, owner.kind, owner.name],
    label: owner.name,
    parts: [
      busy,
      devices.length === 0 ? undefined : devicesWords(devices),
      hourly === null || pods === 0 ? undefined : costWords(hourly, noGaps),
      pods === 0 && pending > 0 ? undefined : plural(pods, 'pod'),
      ...rest,
      pending > 0 ? `${pending} pending` : undefined,
      owner.kind,
      namespace,
    ],
    icon: 'package',
    color: pending > 0 ? warning : null,
    children: pods > 0 ? 'collapsed' : null,
    owner: { ...owner, namespace },
  });
}

const noGaps = { hourly: null, idle: null, unpricedNodes: 0, basis: [], because: [] };

/** What costs money or hides something, without a single workload that it belongs to. */
export function problemRows({ problems, leaked, coverage, usage }: ClusterView): readonly ClusterNode[] {
  return [
    ...problems.map(({ node, pool, message }) =>
      row({
        kind: 'problem',
        path: ['problem', pool, node],
        label: node,
        parts: [message, pool],
        icon: 'warning',
        color: warning,
      }),
    ),
    ...leaked.map((claim) =>
      row({
        kind: 'problem',
        path: ['leaked', claim.namespace, claim.name],
        label: claim.name,
        parts: [leakWords(claim), claim.namespace],
        icon: 'warning',
        color: warning,
      }),
    ),
    ...coverage.flatMap((one) => {
      const words = coverageWords(one);
      return words === undefined
        ? []
        : row({ kind: 'problem', path: ['unseen', one.resource], label: words, parts: [], icon: 'eye-closed' });
    }),
    ...usageProblem({ usage }).map((label) =>
      row({ kind: 'problem', path: ['unseen', 'usage'], label, parts: [], icon: 'eye-closed' }),
    ),
  ];
}

/** `holds 2 GPUs that no pod uses`. */
export function leakWords({ devices, node }: LeakedClaim): string {
  return `holds ${gpusWords(devices)} that no pod uses${node === null ? '' : ` on ${text(node)}`}`;
}

/** The workload of a pod; a pod without an owner is its own. */
export function ownedBy(pod: { readonly namespace: string; readonly name: string; readonly owner: PodOwner | null }) {
  return { ...(pod.owner ?? { kind: 'Pod', name: pod.name }), namespace: pod.namespace };
}
