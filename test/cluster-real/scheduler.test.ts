import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { at, list, text } from '../../server/src/fleet/json.ts';
import { readBudget } from '../../server/src/fleet/live-read.ts';
import { bestEviction } from '../../server/src/fleet/preemption.ts';
import { type PriorityClasses, readNode, readPod } from '../../server/src/fleet/read.ts';
import type { DisruptionBudget } from '../../server/src/fleet/types.ts';
import type { Verdict } from '../../server/src/fleet/verdict.ts';
import { type CollectionCopy, copyOf } from '../support/collection-copy.ts';
import { holdsResources, verdictOf } from '../support/snapshot-verdict.ts';
import { administrator, throwawayNamespaces, unique } from './cluster.ts';
import { hardScenariosOf, overhead } from './hard-scenarios.ts';
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
  lower: { value: -200, preempts: true },
  never: { value: 100_000, preempts: false },
};
const classes: PriorityClasses = new Map(Object.entries(priorities).map(([name, own]) => [unique(name), own]));
const classPath = '/apis/scheduling.k8s.io/v1/priorityclasses';
const runtimePath = '/apis/node.k8s.io/v1/runtimeclasses';
/** Budgets by scenario, as the engine reads them. */
const budgets = new Map<string, readonly DisruptionBudget[]>();

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
  await admin.create(runtimePath, {
    metadata: { name: unique('heavy') },
    handler: 'heavy',
    overhead: { podFixed: overhead },
  });
  pods = copyOf(admin.reader(), podPath());
  nodes = copyOf(admin.reader(), '/api/v1/nodes');
});

afterAll(async () => {
  await pods.stop();
  await nodes.stop();
  for (const [name] of classes) await admin.remove(`${classPath}/${name}`);
  await admin.remove(`${runtimePath}/${unique('heavy')}`);
  await namespaces.remove();
});

describe.skipIf(!inject('hasScheduler'))(`kube-scheduler 1.${minor}`, () => {
  const seed = Number(process.env.GPULINT_SEED ?? 20_260);
  const number = Number(process.env.GPULINT_CLUSTERS ?? 45);
  test.each(
    [...scenariosOf(seed, number, minor), ...hardScenariosOf(seed, Math.ceil(number * 0.6), minor)].map(
      (each) => [each.id, each] as const,
    ),
  )('agrees in cluster %s', async (_, scenario) => {
    await build(scenario);
    const wrong: unknown[] = [];
    for (const pod of scenario.cases) {
      const difference = await compare(scenario, pod);
      if (difference !== undefined) wrong.push(difference);
    }
    await demolish(scenario);
    expect(wrong).toEqual([]);
  });

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
  await createBudgets(scenario);
  const tolerations = ['nvidia.com/gpu', 'spot', 'team', 'drain', 'node.kubernetes.io/unschedulable'].map((key) => ({
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
  const labelSelector = { matchLabels: { started: metadata.name } };
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

/** The scheduler reads budgets when it preempts; it has seen them, because the pods that follow are created later. */
async function createBudgets(scenario: Scenario): Promise<void> {
  const made: DisruptionBudget[] = [];
  for (const { name, labels, allowed } of scenario.budgets ?? []) {
    await admin.create(budgetPath(), {
      metadata: { name },
      spec: { minAvailable: 1, selector: { matchLabels: labels } },
    });
    const counts = { currentHealthy: 1, desiredHealthy: 1, expectedPods: 1, observedGeneration: 1 };
    made.push(
      readBudget(
        await admin.patch(`${budgetPath(name)}/status`, { status: { disruptionsAllowed: allowed, ...counts } }),
      ),
    );
  }
  budgets.set(scenario.id, made);
}

function budgetPath(name?: string): string {
  const version = minor < 21 ? 'v1beta1' : 'v1';
  return `/apis/policy/${version}/namespaces/${namespace}/poddisruptionbudgets${name === undefined ? '' : `/${name}`}`;
}

async function demolish(scenario: Scenario): Promise<void> {
  for (const { name } of scenario.budgets ?? []) await admin.remove(budgetPath(name));
  for (const { metadata } of scenario.bound) await removePod(metadata.name);
  for (const { metadata } of scenario.nodes) await admin.remove(`/api/v1/nodes/${metadata.name}`);
  await nodes.until(() => nodes.objects.size === 0);
}

async function createPod({ metadata, spec, terminating }: TestPod): Promise<unknown> {
  const created = await admin.create(podPath(), {
    metadata,
    spec: { ...named(spec), automountServiceAccountToken: false },
  });
  if (spec.nodeName !== undefined) {
    // Which of several pods goes depends on their start times. The label comes last: by it, `isKnown` finds that the scheduler has seen both.
    const startTime = new Date(Date.UTC(2026, 0, 1) + startOf(metadata.name) * 1000).toISOString();
    await admin.patch(`${podPath(metadata.name)}/status`, { status: { startTime } });
    await admin.patch(podPath(metadata.name), { metadata: { labels: { started: metadata.name } } });
  }
  if (terminating === true) await admin.request('DELETE', podPath(metadata.name), { gracePeriodSeconds: 3600 });
  return created;
}

/** Seconds: another for each pod, in no order. */
function startOf(name: string): number {
  return [...name].reduce((all, letter) => (all * 31 + letter.charCodeAt(0)) % 1_000_003, 0);
}

/** The spec with the names that the classes have in this run. */
function named(spec: TestPod['spec']): TestPod['spec'] {
  const [priority, runtime] = [text(spec.priorityClassName), text(spec.runtimeClassName)];
  return {
    ...spec,
    ...(priority !== undefined && { priorityClassName: unique(priority) }),
    ...(runtime !== undefined && { runtimeClassName: unique(runtime) }),
  };
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
    budgets: budgets.get(scenario.id) ?? [],
  };
  const created = await createPod(pod);
  await pods.until(() => decisionOf(name) !== undefined);
  const real = decisionOf(name);
  // The manifest as it is written, and the object as the API server has completed it.
  const manifest = { metadata: { ...pod.metadata, namespace }, spec: named(pod.spec) };
  const [expected, written] = [created, manifest].map((each) => verdictOf(readPod(each, classes), snapshot));
  const said = shown(expected);
  const agrees = said === shown(written) && real !== undefined && expected !== undefined && isSame(expected, real, pod);
  if (expected?.kind === 'refused') for (const reason of expected.reasons.keys()) reasonsSeen.add(reason);
  const kind = expected?.kind === 'refused' && expected.evictions.length > 0 ? 'evicts' : (expected?.kind ?? '');
  compared.set(kind, (compared.get(kind) ?? 0) + 1);
  const difference = agrees ? undefined : { pod: name, real, expected: said, written: shown(written) };
  const evicted = await restore(scenario, name, difference === undefined ? expected : undefined, real?.nominated ?? '');
  return difference ?? evicted;
}

function isSame(expected: Verdict, real: Decision, { spec }: TestPod): boolean {
  if (real.node !== undefined) return expected.kind === 'fits' && expected.nodes.includes(real.node);
  if (real.reason === 'SchedulingGated') return expected.kind === 'gated';
  if (expected.kind !== 'refused') return false;
  const chosen = expected.evictions.find(({ node }) => node === real.nominated);
  const best = bestEviction(chosen === undefined ? expected.evictions : [chosen, ...expected.evictions]);
  const evicts = best === undefined ? real.nominated === '' : best === chosen;
  // Until 1.28, nodes that a field excludes give another reason, or that of an earlier filter.
  if (minor < 29 && JSON.stringify(spec).includes('matchFields')) return evicts;
  const total = real.message.startsWith(`0/${expected.nodes} nodes`);
  const counts = (reasons: ReadonlyMap<string, number>) => [...reasons].map(String).sort().join();
  return total && evicts && counts(reasonsOf(real.message)) === counts(expected.reasons);
}

/** Removes the pod, and brings back what it has evicted; gives a difference if that is not what was expected. */
async function restore(
  scenario: Scenario,
  name: string,
  expected: Verdict | undefined,
  nominated: string,
): Promise<unknown> {
  const eviction = expected?.kind === 'refused' ? expected.evictions.find(({ node }) => node === nominated) : undefined;
  // Those that were leaving before leave no trace of the eviction.
  const victims = (eviction?.victims ?? []).filter(({ terminating }) => !terminating).map((victim) => victim.name);
  const isLeaving = ({ metadata, terminating }: TestPod) =>
    terminating !== true &&
    at(pods.objects.get(`${namespace}/${metadata.name}`), 'metadata', 'deletionTimestamp') !== undefined;
  await pods.settles(() => scenario.bound.filter(isLeaving).length === victims.length);
  await removePod(name);
  const leaving = scenario.bound.filter(isLeaving);
  for (const { metadata } of leaving) await removePod(metadata.name);
  for (const pod of leaving) {
    await createPod(pod);
    await isKnown(pod);
  }
  const evicted = leaving.map(({ metadata }) => metadata.name);
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
