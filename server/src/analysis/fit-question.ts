import { queueLabel } from '../evidence/queue-label.ts';
import type { FitQuestion, PodGroup } from '../fleet/fit-question.ts';
import { isRequested } from '../model/accelerators.ts';
import type { CrossReferences } from '../model/cross-references.ts';
import { isGroupKind, kindOf } from '../model/kinds/index.ts';
import type { PodSet, Workload } from '../model/workload.ts';
import { asText, type Cursor, entries, getIn, items, keyOf } from '../yaml/cursor.ts';
import { plainOf } from '../yaml/plain.ts';
import { tableOf } from '../yaml/table.ts';

/** More pods are asked about as this many: they do not fit anyway. */
const maxPods = 1000;

/**
 * The question whether a workload would run in a cluster. Undefined if a template or a controller decides what its pods request, or if the project
 * defines their claims: the cluster does not have them yet.
 */
export function fitQuestion(workload: Workload, crossReferences: CrossReferences): FitQuestion | undefined {
  const { namespace, role, partial, manifest, podSets } = workload;
  if (role === 'definition' || partial || manifest.created === 'later') return undefined;
  if (!podSets.some(({ accelerators }) => accelerators.some(isRequested))) return undefined;
  const groups = podSets.flatMap((podSet): (PodGroup | undefined)[] => {
    const { min, max } = podSet.pods;
    // Pods that scale to zero start with one.
    const count = Math.min(min === 0 && max !== 0 ? 1 : (min ?? 1), maxPods);
    const template = count === 0 ? undefined : templateOf(podSet, workload, crossReferences);
    return count === 0 ? [] : [template === undefined ? undefined : { name: podSet.name, template, count }];
  });
  const known = groups.filter((group) => group !== undefined);
  if (known.length === 0 || known.length < groups.length) return undefined;
  const queue = queueLabel(workload)?.value ?? null;
  const { kind, name } = workload;
  return {
    namespace: namespace ?? 'default',
    ...(name !== null && { owner: { kind, name } }),
    groups: known,
    together: isGang(workload),
    queue,
    claims: [],
  };
}

/** Pods that split one task: a part of them does nothing. */
function isGang(workload: Workload): boolean {
  const { manifest, role, podSets } = workload;
  const kind = kindOf(manifest);
  if (kind.gang === 'object' || isGroupKind(workload)) return true;
  return kind.gang === 'podSet' && role === 'training' && podSets.some(({ pods }) => (pods.min ?? 1) > 1);
}

/** What decides where a pod can run, without what changes while its command is edited. */
const decisive = [
  ...['affinity', 'tolerations', 'topologySpreadConstraints', 'resourceClaims', 'schedulingGates', 'hostNetwork'],
  ...['priorityClassName', 'priority', 'preemptionPolicy', 'runtimeClassName', 'schedulerName', 'nodeName', 'overhead'],
];

function templateOf(podSet: PodSet, { namespace }: Workload, crossReferences: CrossReferences): unknown {
  const { pod, containers, accelerators, labels, selectors } = podSet;
  const isDefined = (kind: 'ResourceClaim' | 'ResourceClaimTemplate', name: string | undefined) =>
    name !== undefined && crossReferences.claim(kind, namespace, name) !== undefined;
  const claims = items(getIn(pod, 'resourceClaims'));
  const isOpen = claims.some(
    (claim) =>
      isDefined('ResourceClaim', asText(getIn(claim, 'resourceClaimName'))) ||
      isDefined('ResourceClaimTemplate', asText(getIn(claim, 'resourceClaimTemplateName'))),
  );
  if (isOpen) return undefined;
  const devices: [string, number][] = [];
  for (const { requested, perPod } of accelerators) {
    if (requested.kind === 'deviceClass' || requested.kind === 'claim') continue;
    if (requested.kind !== 'resource' || perPod === null) return undefined;
    if (perPod > 0) devices.push([requested.name, perPod]);
  }
  const counted = new Set(
    accelerators.flatMap(({ requested }) => (requested.kind === 'resource' ? [requested.name] : [])),
  );
  const read = containers.map(({ type, at, resources }) => ({
    type,
    ports: plainAt(at, 'ports'),
    requests: amounts(getIn(resources, 'requests'), counted),
    limits: amounts(getIn(resources, 'limits'), counted),
  }));
  const spec = decisive.map((key) => [key, plainAt(pod, key)] as const);
  const unknown = Symbol.for('unknown');
  const all = [
    ...spec.map(([, value]) => value),
    ...read.flatMap(({ ports, requests, limits }) => [ports, requests, limits]),
  ];
  if ([...all, plainAt(pod, 'nodeSelector')].includes(unknown)) return undefined;
  const own = selectors.filter(({ from, values }) => from === 'nodeSelector' && values.length === 1);
  const made = read.map(({ type, ports, requests, limits }) => ({
    type,
    body: { ports, resources: { requests, limits }, ...(type === 'sidecar' && { restartPolicy: 'Always' }) },
  }));
  return {
    metadata: { labels: tableOf(labels.map(({ at, value }) => [keyOf(at), value] as const)) },
    spec: {
      ...tableOf(spec.filter(([, value]) => value !== null)),
      nodeSelector: tableOf(own.map(({ key, values }) => [key, values[0]?.value ?? ''] as const)),
      initContainers: made.filter(({ type }) => type !== 'app').map(({ body }) => body),
      // The devices were counted as the scheduler counts them, with those that a runtime adds.
      containers: [
        ...made.filter(({ type }) => type === 'app').map(({ body }) => body),
        { resources: { requests: tableOf(devices) } },
      ],
      volumes: items(getIn(pod, 'volumes')).some((volume) => getIn(volume, 'persistentVolumeClaim') !== undefined)
        ? [{ persistentVolumeClaim: {} }]
        : [],
    },
  };
}

/** null without the field; a symbol if a template decides it. */
function plainAt(owner: Cursor, key: string): unknown {
  const value = getIn(owner, key);
  return value === undefined ? null : (plainOf(value) ?? Symbol.for('unknown'));
}

/** Quantities as text, without the accelerators that are counted elsewhere. */
function amounts(owner: Cursor | undefined, counted: ReadonlySet<string>): unknown {
  if (owner === undefined) return null;
  const plain = entries(owner)
    .filter((entry) => !counted.has(keyOf(entry)))
    .map((entry) => [keyOf(entry), plainOf(entry)] as const);
  return plain.some(([, value]) => value === undefined) ? Symbol.for('unknown') : tableOf(plain);
}
