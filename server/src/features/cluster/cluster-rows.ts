import { plural } from '../../cost/money.ts';
import type {
  ClusterView,
  LeakedClaim,
  LiveNode,
  LivePod,
  LivePool,
  OwnerUse,
  PendingPod,
  PodOwner,
} from '../../fleet/cluster-view.ts';
import {
  ageWords,
  costWords,
  coverageWords,
  deviceNumber,
  devicesWords,
  gpusWords,
  idleWords,
  ownerName,
  sentence,
  stateWords,
  text,
  usageBar,
  usageWords,
} from './cluster-words.ts';
import type { ClusterNode } from './drawn.ts';
import { nodeLines, poolLines } from './row-details.ts';
import { idOf } from './row-id.ts';

// The rows of the tree. Their ids start with the kind of what is below them.

const warning = 'list.warningForeground';
const danger = 'list.errorForeground';

type Row = Pick<ClusterNode, 'kind' | 'label' | 'icon'> & {
  readonly path: readonly string[];
  readonly bar?: string;
  readonly parts: readonly (string | undefined)[];
  readonly lines?: readonly string[];
} & Partial<Pick<ClusterNode, 'color' | 'children' | 'name' | 'pool' | 'owner'>>;

function row({ path, bar = '', parts, lines = [], label, name = label, ...rest }: Row): ClusterNode {
  const words = parts.filter((part) => part !== undefined).filter((part) => part !== '');
  const description = words.join(' · ');
  return {
    color: null,
    children: null,
    pool: null,
    owner: null,
    ...rest,
    id: idOf(path),
    label: text(label),
    name,
    description: bar === '' ? description : `${bar} ${description}`,
    tooltip: [label, ...(lines.length === 0 ? words : lines)].map(text).join('\n'),
    spoken: [label, ...words].join(', ').replaceAll('/h', ' an hour').replaceAll('≥', 'at least'),
  };
}

export function poolRow(pool: LivePool): ClusterNode {
  const { id, name, devices, cost, model, capacity, nodes } = pool;
  const problems = stateWords(pool);
  return row({
    kind: 'pool',
    path: ['pool', id],
    label: name,
    bar: usageBar(devices),
    parts: [
      ...usageWords(devices),
      idleWords(cost),
      ...problems,
      model?.name,
      capacity === null || capacity === 'on-demand' ? undefined : capacity,
    ],
    lines: poolLines(pool),
    icon: 'server-environment',
    color: problems.length > 0 ? warning : devices.free > 0 ? 'charts.green' : null,
    children: nodes > 0 ? 'collapsed' : null,
    pool: id,
  });
}

/** A part of the nodes of a large pool. */
export function rangeRow(pool: LivePool, from: number, nodes: readonly LiveNode[]): ClusterNode {
  const free = nodes.reduce((sum, { devices }) => sum + devices.free, 0);
  return row({
    kind: 'nodes',
    path: ['nodes', pool.id, String(from)],
    label: `Nodes ${from + 1}–${from + nodes.length}`,
    parts: [`${deviceNumber(free)} free`],
    lines: [`${nodes[0]?.name} to ${nodes.at(-1)?.name}`],
    icon: 'layers',
    children: 'collapsed',
  });
}

export function nodeRow(pool: LivePool, node: LiveNode, now: number): ClusterNode {
  const { name, ready, cordoned, devices, cost, pods, otherPods, mig } = node;
  const slices = (mig?.profiles ?? []).filter(({ free }) => free > 0);
  return row({
    kind: 'node',
    path: ['node', pool.id, name],
    label: name,
    bar: usageBar(devices),
    parts: [
      ready ? undefined : 'not ready',
      cordoned ? 'cordoned' : undefined,
      ...usageWords(devices),
      ...slices.map(({ profile, free }) => `${free} × ${profile}`),
      idleWords(cost),
      pods.length === 0 && otherPods > 0 && devices.total > 0 ? 'only pods without GPUs' : undefined,
    ],
    lines: nodeLines(node, now),
    icon: ready ? (cordoned ? 'circle-slash' : devices.total === 0 ? 'warning' : 'server') : 'error',
    color: ready ? (cordoned || devices.total === 0 ? warning : devices.free > 0 ? 'charts.green' : null) : danger,
    children: pods.length > 0 ? 'collapsed' : null,
  });
}

/** @param node if the row is not below its node */
export function podRow(pod: LivePod, above: readonly string[], now: number, node?: string): ClusterNode {
  const { namespace, name, owner, devices, created, state, priority } = pod;
  const age = created === null ? undefined : ageWords(created, now);
  return row({
    kind: 'pod',
    path: [...above, namespace, name],
    label: name,
    parts: [
      devicesWords(devices),
      state === 'running' ? undefined : state,
      namespace,
      owner === null ? undefined : ownerName(owner),
      node,
      age,
    ],
    lines: [
      `${state}, ${devicesWords(devices)}`,
      `Namespace ${namespace}`,
      ...(owner === null ? [] : [ownerName(owner)]),
      ...(node === undefined ? [] : [`Node ${node}`]),
      ...(age === undefined ? [] : [`Created ${age} ago`]),
      ...(priority === 0 ? [] : [`Priority ${priority}`]),
    ],
    icon: state === 'running' ? 'circle-filled' : state === 'starting' ? 'sync' : 'trash',
    color: state === 'running' ? 'charts.green' : state === 'starting' ? 'charts.blue' : null,
    owner: ownedBy(pod),
  });
}

export function ownerRow(use: OwnerUse): ClusterNode {
  const { namespace, owner, pods, pending, devices, hourly } = use;
  return row({
    kind: 'owner',
    path: ['owner', namespace, owner.kind, owner.name],
    label: ownerName(owner),
    parts: [
      devices.length === 0 ? undefined : devicesWords(devices),
      plural(pods, 'pod'),
      pending > 0 ? `${pending} pending` : undefined,
      namespace,
      hourly === null ? undefined : costWords(hourly, noGaps),
    ],
    icon: 'package',
    color: pending > 0 ? warning : null,
    children: pods > 0 ? 'collapsed' : null,
    name: owner.name,
    owner: { ...owner, namespace },
  });
}

const noGaps = { hourly: null, idle: null, unpricedNodes: 0, basis: [], because: [] };

/** One row for the pods of a workload that wait for the same reason. */
export function pendingRows(pending: readonly PendingPod[], now: number): readonly ClusterNode[] {
  return pendingGroups(pending).map(({ key, pod, count: pods }) => {
    const { namespace, name, owner, devices, created, reason, wayOut, words } = pod;
    const count = pods > 1 ? plural(pods, 'pod') : undefined;
    return row({
      kind: 'pending',
      path: ['waiting', key, reason],
      label: count === undefined || owner === null ? name : ownerName(owner),
      parts: [
        count,
        `${devicesWords(devices)}${count === undefined ? '' : ' each'}`,
        created === null ? undefined : ageWords(created, now),
        reason,
        namespace,
      ],
      lines: [
        reason,
        ...(wayOut === null ? [] : [`Way out: ${wayOut}`]),
        ...(words === null ? [] : [`Scheduler: ${words}`]),
        `Namespace ${namespace}`,
        ...(owner === null ? [] : [ownerName(owner)]),
      ],
      icon: 'clock',
      color: warning,
      children: 'collapsed',
      owner: ownedBy(pod),
    });
  });
}

/** The pods of each workload that wait for the same reason, those that wait longest first, as in the view. */
export function pendingGroups(
  pending: readonly PendingPod[],
): readonly { readonly key: string; readonly pod: PendingPod; readonly count: number }[] {
  const groups = new Map<string, { readonly key: string; readonly pod: PendingPod; count: number }>();
  for (const pod of pending) {
    const key = waitingKey(pod);
    const known = groups.get(key);
    if (known === undefined) groups.set(key, { key, pod, count: 1 });
    else known.count += 1;
  }
  return [...groups.values()];
}

/** Why the pods of a row wait, and what would help. */
export function reasonRows(pending: readonly PendingPod[], key: string, reason: string): readonly ClusterNode[] {
  const pod = pending.find((one) => one.reason === reason && waitingKey(one) === key);
  if (pod === undefined) return [];
  const rows = [
    ['info', pod.reason],
    ['lightbulb', pod.wayOut],
    ['comment', pod.words],
  ] as const;
  return rows.flatMap(([icon, words]) =>
    words === null
      ? []
      : row({ kind: 'problem', path: ['reason', key, reason, icon], label: sentence(words), parts: [], icon }),
  );
}

function waitingKey({ namespace, name, owner, devices, reason, wayOut }: PendingPod): string {
  const who = owner === null ? name : [owner.kind, owner.name];
  return JSON.stringify([namespace, who, devices, reason, wayOut]);
}

/** What costs money or hides something, without a single workload that it belongs to. */
export function problemRows({ problems, leaked, coverage }: ClusterView): readonly ClusterNode[] {
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
  ];
}

/** `holds 2 GPUs that no pod uses`. */
export function leakWords({ devices, node }: LeakedClaim): string {
  return `holds ${gpusWords(devices)} that no pod uses${node === null ? '' : ` on ${text(node)}`}`;
}

/** The workload of a pod; a pod without an owner is its own. */
function ownedBy(pod: { readonly namespace: string; readonly name: string; readonly owner: PodOwner | null }) {
  return { ...(pod.owner ?? { kind: 'Pod', name: pod.name }), namespace: pod.namespace };
}
