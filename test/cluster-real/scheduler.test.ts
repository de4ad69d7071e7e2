import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { at, list, text } from '../../server/src/fleet/json.ts';
import { holdsResources, type PriorityClasses, readNode, readPod } from '../../server/src/fleet/read.ts';
import { type Verdict, verdictOf } from '../../server/src/fleet/verdict.ts';
import { type CollectionCopy, copyOf } from '../support/collection-copy.ts';
import { administrator, throwawayNamespaces, unique } from './cluster.ts';
import { type Scenario, scenariosOf, type TestPod } from './scenarios.ts';
import { reasonsOf } from './scheduler-words.ts';

// What a real kube-scheduler does with random pods in random clusters, and what fleet/verdict.ts expects. Both see the same objects: the engine as
// list-watch.ts delivers them.

const admin = administrator();
const namespaces = throwawayNamespaces(admin);
const minor = inject('minor');
const priorities = {
  high: { value: 100_000, preempts: true },
  low: { value: -100, preempts: true },
  never: { value: 100_000, preempts: false },
};
const classes: PriorityClasses = new Map(Object.entries(priorities).map(([name, own]) => [unique(name), own]));
const classPath = '/apis/scheduling.k8s.io/v1/priorityclasses';

let namespace = '';
let pods: CollectionCopy;
let nodes: CollectionCopy;
/** What was compared, by the kind of verdict. */
const compared = new Map<string, number>();
const reasonsSeen = new Set<string>();

beforeAll(async () => {
  namespace = await namespaces.create(unique('scheduling'));
  for (const [name, { value, preempts }] of classes)
    await admin.create(classPath, {
      metadata: { name },
      value,
      preemptionPolicy: preempts ? 'PreemptLowerPriority' : 'Never',
    });
  pods = copyOf(admin.reader(), podPath());
  nodes = copyOf(admin.reader(), '/api/v1/nodes');
});

afterAll(async () => {
  await pods.stop();
  await nodes.stop();
  for (const [name] of classes) await admin.remove(`${classPath}/${name}`);
  await namespaces.remove();
});

describe.skipIf(!inject('hasScheduler'))(`kube-scheduler 1.${minor}`, () => {
  test.each(scenariosOf(Number(process.env.GPULINT_SEED ?? 20_260), 45, minor).map((each) => [each.id, each] as const))(
    'agrees in cluster %s',
    async (_, scenario) => {
      await build(scenario);
      const wrong: unknown[] = [];
      for (const pod of scenario.cases) {
        const difference = await compare(scenario, pod);
        if (difference !== undefined) wrong.push(difference);
      }
      await demolish(scenario);
      expect(wrong).toEqual([]);
    },
  );

  test('has given every kind of verdict and most reasons', () => {
    expect([...compared.keys()].sort()).toEqual(
      ['evicts', 'fits', 'refused', ...(minor >= 27 ? ['gated'] : [])].sort(),
    );
    expect(reasonsSeen.size).toBeGreaterThan(10);
  });
});

function podPath(name?: string): string {
  return `/api/v1/namespaces/${namespace}/pods${name === undefined ? '' : `/${name}`}`;
}

/** Creates the nodes and the pods on them, and waits until the scheduler and the copies have seen them. */
async function build(scenario: Scenario): Promise<void> {
  for (const { metadata, spec, status } of scenario.nodes) {
    const conditions = [{ type: 'Ready', status: 'True', reason: 'Test', lastHeartbeatTime: new Date().toISOString() }];
    await admin.create('/api/v1/nodes', {
      metadata,
      spec,
      status: { ...status, capacity: status.allocatable, conditions },
    });
    // The API server adds a taint to each new node.
    await admin.patch(`/api/v1/nodes/${metadata.name}`, { spec: { taints: spec.taints } });
  }
  for (const pod of scenario.bound) await createPod(pod);
  const tolerations = ['nvidia.com/gpu', 'spot', 'drain', 'node.kubernetes.io/unschedulable'].map((key) => ({
    key,
    operator: 'Exists',
  }));
  const probe = `${scenario.id}-probe`;
  const limits = { 'test.gpulint.example/none': '1' };
  await createPod({
    metadata: { name: probe, labels: {} },
    spec: { tolerations, containers: [{ name: 'x', image: 'x', resources: { limits } }] },
  });
  // The scheduler has seen all nodes without the API server's taint, and none of the cluster before.
  const { length } = scenario.nodes;
  const knows = ({ message }: Decision) =>
    message.startsWith(`0/${length} nodes`) &&
    reasonsOf(message).get('Insufficient test.gpulint.example/none') === length;
  await pods.until(() => {
    const decision = decisionOf(probe);
    return decision !== undefined && knows(decision);
  });
  await removePod(probe);
  for (const pod of scenario.bound) await isKnown(pod);
  await nodes.until(() =>
    scenario.nodes.every(
      ({ metadata: { name }, spec }) =>
        list(at(nodes.objects.get(name), 'spec', 'taints')).length === spec.taints.length,
    ),
  );
}

/**
 * Resolves when the scheduler counts a pod that has a node: a pod that rejects its company is not scheduled there. The scheduler takes pods with a node
 * and pods to schedule from different queues, so it may see the later one first.
 */
async function isKnown({ metadata, spec }: TestPod): Promise<void> {
  const name = `${metadata.name}-known`;
  const labelSelector = { matchLabels: { bound: metadata.name } };
  const term = { topologyKey: 'kubernetes.io/hostname', labelSelector };
  for (let known = false; !known; ) {
    await createPod({
      metadata: { name, labels: {} },
      spec: {
        // It must not evict the other one.
        priorityClassName: 'never',
        nodeSelector: { 'kubernetes.io/hostname': spec.nodeName },
        tolerations: [{ operator: 'Exists' }],
        affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } },
        containers: [{ name: 'x', image: 'x' }],
      },
    });
    await pods.until(() => decisionOf(name) !== undefined);
    known = decisionOf(name)?.node === undefined;
    await removePod(name);
  }
}

async function demolish(scenario: Scenario): Promise<void> {
  for (const { metadata } of scenario.bound) await removePod(metadata.name);
  for (const { metadata } of scenario.nodes) await admin.remove(`/api/v1/nodes/${metadata.name}`);
  await nodes.until(() => nodes.objects.size === 0);
}

async function createPod({ metadata, spec }: TestPod): Promise<unknown> {
  const own = text(spec.priorityClassName);
  const full = {
    ...spec,
    automountServiceAccountToken: false,
    ...(own !== undefined && { priorityClassName: unique(own) }),
  };
  return admin.create(podPath(), { metadata, spec: full });
}

async function removePod(name: string): Promise<void> {
  await admin.remove(podPath(name));
  await pods.until(() => !pods.objects.has(`${namespace}/${name}`));
}

interface Decision {
  readonly node: string | undefined;
  readonly reason: string | undefined;
  readonly message: string;
  readonly nominated: string;
}

/** What the scheduler has decided about a pod; undefined before. */
function decisionOf(name: string): Decision | undefined {
  const pod = pods.objects.get(`${namespace}/${name}`);
  const condition = list(at(pod, 'status', 'conditions')).find((each) => at(each, 'type') === 'PodScheduled');
  const node = text(at(pod, 'spec', 'nodeName'));
  if (node === undefined && condition === undefined) return undefined;
  const nominated = text(at(pod, 'status', 'nominatedNodeName')) ?? '';
  return { node, reason: text(at(condition, 'reason')), message: text(at(condition, 'message')) ?? '', nominated };
}

/** The difference between the scheduler and the engine; undefined if they agree. */
async function compare(scenario: Scenario, pod: TestPod): Promise<unknown> {
  const { name } = pod.metadata;
  const bound = scenario.bound.map(({ metadata }) => `${namespace}/${metadata.name}`);
  await pods.until(() => bound.every((key) => pods.objects.has(key)));
  const snapshot = {
    nodes: [...nodes.objects.values()].map(readNode),
    pods: [...pods.objects.values()].filter(holdsResources).map((each) => readPod(each, classes)),
    namespaces: new Map([[namespace, new Map<string, string>()]]),
  };
  const created = await createPod(pod);
  await pods.until(() => decisionOf(name) !== undefined);
  const real = decisionOf(name);
  // The manifest as it is written, and the object as the API server has completed it.
  const { priorityClassName } = pod.spec;
  const manifest = {
    metadata: { ...pod.metadata, namespace },
    spec: {
      ...pod.spec,
      ...(typeof priorityClassName === 'string' && { priorityClassName: unique(priorityClassName) }),
    },
  };
  const [expected, written] = [created, manifest].map((each) => verdictOf(readPod(each, classes), snapshot));
  const said = shown(expected);
  const agrees = said === shown(written) && real !== undefined && expected !== undefined && isSame(expected, real);
  if (expected?.kind === 'refused') for (const reason of expected.reasons.keys()) reasonsSeen.add(reason);
  const kind = expected?.kind === 'refused' && expected.evictions.length > 0 ? 'evicts' : (expected?.kind ?? '');
  compared.set(kind, (compared.get(kind) ?? 0) + 1);
  const difference = agrees ? undefined : { pod: name, real, expected: said, written: shown(written) };
  const evicted = await restore(scenario, name, difference === undefined ? expected : undefined, real?.nominated ?? '');
  return difference ?? evicted;
}

function isSame(expected: Verdict, real: Decision): boolean {
  if (real.node !== undefined) return expected.kind === 'fits' && expected.nodes.includes(real.node);
  if (real.reason === 'SchedulingGated') return expected.kind === 'gated';
  if (expected.kind !== 'refused') return false;
  const nominates = expected.evictions.some(({ node }) => node === real.nominated);
  const total = real.message.startsWith(`0/${expected.nodes} nodes`);
  const counts = (reasons: ReadonlyMap<string, number>) => [...reasons].map(String).sort().join();
  const evicts = expected.evictions.length > 0 ? nominates : real.nominated === '';
  return total && evicts && counts(reasonsOf(real.message)) === counts(expected.reasons);
}

/**
 * Removes the pod, and brings back what it has evicted; gives a difference if that is not what was expected. Among pods of the same priority, their
 * start times decide, which nobody sets here: only the number of each priority is compared.
 */
async function restore(
  scenario: Scenario,
  name: string,
  expected: Verdict | undefined,
  nominated: string,
): Promise<unknown> {
  const eviction = expected?.kind === 'refused' ? expected.evictions.find(({ node }) => node === nominated) : undefined;
  const victims = (eviction?.victims ?? []).map(({ priority }) => priority);
  const isLeaving = ({ metadata }: TestPod) =>
    at(pods.objects.get(`${namespace}/${metadata.name}`), 'metadata', 'deletionTimestamp') !== undefined;
  await pods.settles(() => scenario.bound.filter(isLeaving).length === victims.length);
  await removePod(name);
  const leaving = scenario.bound.filter(isLeaving);
  for (const { metadata } of leaving) await removePod(metadata.name);
  for (const pod of leaving) {
    await createPod(pod);
    await isKnown(pod);
  }
  const evicted = leaving.map(({ spec }) => (spec.priorityClassName === 'low' ? priorities.low.value : 0));
  return evicted.sort().join() === victims.sort().join() ? undefined : { pod: name, evicted, expected: victims };
}

function shown(verdict: Verdict | undefined): string {
  if (verdict?.kind === 'fits') return verdict.nodes.join(' ');
  if (verdict?.kind !== 'refused') return verdict?.kind ?? '';
  const evictions = verdict.evictions.map(
    ({ node, victims }) => `; evicts ${victims.map(({ name }) => name).join(' ')} from ${node}`,
  );
  return (
    [...verdict.reasons]
      .map(([reason, count]) => `${count} ${reason}`)
      .sort()
      .join(', ') + evictions.join('')
  );
}
