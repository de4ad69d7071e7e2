import { type ClusterNodeState, statesOf } from './cluster-index.ts';
import type { ClusterObjects, ClusterPod } from './cluster-objects.ts';
import type { PodOwner } from './cluster-view.ts';
import { deviceRequests } from './device-counts.ts';
import { filterState, refusalOf } from './filters.ts';
import { emptyIn, type FoundPods, outcomeOf, type PodsToFit } from './fit-outcome.ts';
import { admitTemplate, devicesWith, onFlavor } from './fit-pod.ts';
import { type FitPool, fitPoolsOf } from './fit-pools.ts';
import type {
  FitAnswer,
  FitQuestion,
  FitResult,
  GroupFit,
  Growth,
  PoolFit,
  PreemptedPod,
  QuotaState,
} from './fit-question.ts';
import { fitLine, wayOut } from './fit-summary.ts';
import { plainWords, reasonsOf } from './fit-words.ts';
import { placeTogether } from './gang.ts';
import type { Gang } from './gang-group.ts';
import { growthFor, unknownGrowth } from './growth.ts';
import { type ClusterDevices, podDevices } from './pod-devices.ts';
import { bestEviction } from './preemption.ts';
import { queueVerdict, type Requested, resourceQuotas } from './quota.ts';
import { sum } from './requests.ts';
import { untolerated } from './tolerations.ts';
import type { Amounts, FleetPod } from './types.ts';
import { schedulerWords, type Verdict, verdictOn } from './verdict.ts';

/** The moment that an answer is about, and what is not known of it. */
export interface FitInput {
  readonly context: string;
  readonly asOf: number;
  /** `the pods of other namespaces are not readable`. */
  readonly gaps: readonly string[];
}

/** Whether the pods of a question would run, on which pools, and why not on the others. */
export function answerFit(question: FitQuestion, objects: ClusterObjects, input: FitInput): FitAnswer {
  const { namespace, owner, groups, together, queue, claims } = question;
  const admitted = groups.map(({ template }) => admitTemplate(template, namespace, objects));
  const pods = groups.flatMap(({ name, count }, index): PodsToFit[] => {
    const pod = admitted[index]?.pod;
    return pod === undefined ? [] : [{ name, count, pod }];
  });
  const own = new Set(owner === undefined ? [] : objects.pods.filter((each) => isOf(each, namespace, owner)));
  const running = [...own].filter(({ nodeName, state }) => nodeName !== '' && state !== 'terminating');
  // What its pods already use is in the quotas.
  const requested = without(totalOf(pods), running);
  const [first] = pods;
  const queued =
    queue === null || first === undefined ? undefined : queueVerdict(objects, namespace, queue, first.pod, requested);
  const flavor = queued?.flavor ?? null;
  return fitPods(
    flavor === null ? pods : pods.map((group) => ({ ...group, pod: onFlavor(group.pod, flavor) })),
    own.size === 0 ? objects : { ...objects, pods: objects.pods.filter((each) => !own.has(each)) },
    {
      ...input,
      isPartial: input.gaps.length > 0,
      running,
      waiting: [...own].filter(({ state }) => state === 'pending').length,
      gaps: [...input.gaps, ...admitted.flatMap((each) => each.gaps)],
      devices: devicesWith(objects, claims, namespace),
      together,
      quotas: [...resourceQuotas(objects, namespace, requested), ...(queued?.quotas ?? [])],
      stopped: queued?.problem ?? null,
    },
  );
}

/** What the objects alone do not say. */
export interface PlacingInput extends FitInput {
  /** Some objects are not readable, so less may be free. */
  readonly isPartial: boolean;
  /** Pods of the workload that have a node; they are not among the objects. */
  readonly running: readonly ClusterPod[];
  /** How many of its pods have none. */
  readonly waiting: number;
  readonly devices: ClusterDevices | undefined;
  readonly together: boolean;
  readonly quotas: readonly QuotaState[];
  /** Why the queue admits nothing; null if it does. */
  readonly stopped: string | null;
}

/** The same for pods that have been admitted. */
export function fitPods(groups: readonly PodsToFit[], objects: ClusterObjects, input: PlacingInput): FitAnswer {
  const { context, asOf, devices, together, quotas, stopped, running, waiting, isPartial } = input;
  const states = statesOf(objects);
  const pools = fitPoolsOf(objects, states);
  const found = groups.map((group): FoundPods => {
    const { pod, count } = group;
    const needed = podDevices(pod, devices);
    const verdict = verdictOn(pod, states, objects.namespaces, devices, objects.budgets);
    if ('kind' in needed) return { ...group, verdict, gang: undefined };
    const state = filterState(pod, states, objects.namespaces, needed);
    return { ...group, verdict, gang: { pod, count, devices: needed, state } };
  });
  const gangs = found.flatMap(({ gang }) => gang ?? []);
  const isKnown = gangs.length === found.length;
  const { placed, exact } = isKnown
    ? placeTogether(gangs, states, objects.namespaces)
    : { placed: found.map(() => 0), exact: true };
  const pods = found.reduce((all, { count }) => all + count, 0);
  const fitting = placed.reduce((all, count) => all + count, 0);
  const missing = found.map(({ count }, index) => count - (placed[index] ?? 0));
  const growth = fitting === pods ? [] : growthOf(gangs, missing, pools, objects);
  const preempted = fitting === pods ? [] : preemptedBy(found);
  const gaps = [
    ...input.gaps,
    ...(exact ? [] : ['not all ways to place the pods were tried']),
    ...(fitting === pods
      ? []
      : unknownGrowth(
          pools,
          objects.growing,
          groups.map(({ pod }) => pod),
        )),
    ...(stopped === null ? [] : [stopped]),
  ];
  const result: FitResult = {
    context,
    outcome:
      running.length >= pods && pods > 0
        ? 'runs'
        : outcomeOf({
            found,
            placed,
            missing,
            pools,
            quotas,
            growth,
            preempted,
            together,
            exact,
            stopped,
            growing: objects.growing,
          }),
    running: running.length,
    waiting,
    fitting: together && fitting < pods ? 0 : fitting,
    pods,
    groups: found.map((one) => groupFit(one, pools, objects)),
    growth,
    preempted,
    quotas,
    gaps: [...new Set(gaps)],
  };
  const where = [...new Set(running.map(({ nodeName }) => nodeName))];
  const used = pools.filter((pool) => pool.states.some(({ node }) => where.includes(node.name)));
  return {
    ...result,
    asOf,
    line: fitLine(result, { isPartial, used: used.map(({ name }) => name.name) }),
    wayOut: wayOut(result),
    usage: null,
  };
}

function isOf(
  { namespace: where, owner, name }: ClusterPod,
  namespace: string,
  { kind, name: wanted }: PodOwner,
): boolean {
  if (where !== namespace) return false;
  return owner === null ? kind === 'Pod' && name === wanted : owner.kind === kind && owner.name === wanted;
}

function without({ pods, requests }: Requested, running: readonly ClusterPod[]): Requested {
  const left = new Map(requests);
  for (const one of running)
    for (const [name, amount] of one.requests) left.set(name, Math.max(0, (left.get(name) ?? 0) - amount));
  return { pods: Math.max(0, pods - running.length), requests: left };
}

function totalOf(groups: readonly PodsToFit[]): Requested {
  let requests: Amounts = new Map();
  for (const { pod, count } of groups)
    requests = sum(requests, new Map([...pod.requests].map(([name, amount]) => [name, amount * count])));
  return { pods: groups.reduce((all, { count }) => all + count, 0), requests };
}

function growthOf(
  gangs: readonly Gang[],
  missing: readonly number[],
  pools: readonly FitPool[],
  { growing }: ClusterObjects,
): readonly Growth[] {
  const waiting = gangs.filter((_, index) => (missing[index] ?? 0) > 0);
  // The group with the most devices decides: the others need less.
  const [main] = [...waiting].sort((a, b) => devicesOf(b.pod) - devicesOf(a.pod));
  return main === undefined ? [] : growthFor(main, missing[gangs.indexOf(main)] ?? main.count, pools, growing);
}

function devicesOf({ requests }: FleetPod): number {
  return deviceRequests(requests).reduce((all, { count }) => all + count, 0);
}

function preemptedBy(found: readonly FoundPods[]): readonly PreemptedPod[] {
  for (const { verdict } of found) {
    if (verdict.kind !== 'refused') continue;
    const best = bestEviction(verdict.evictions);
    if (best === undefined) continue;
    return best.victims.map(({ namespace, name, priority }) => ({ namespace, name, node: best.node, priority }));
  }
  return [];
}

function groupFit(
  { name, pod, count, verdict, gang }: FoundPods,
  pools: readonly FitPool[],
  objects: ClusterObjects,
): GroupFit {
  const devices = deviceRequests(pod.requests);
  const fits = gang === undefined ? [] : pools.flatMap((pool) => poolFit({ ...gang, count }, pool, objects));
  const reasons =
    verdict.kind === 'refused' && gang !== undefined
      ? refusals(
          gang,
          pools.flatMap(({ states }) => states),
        )
      : [];
  return {
    name,
    devices,
    pools: fits.sort((a, b) => b.fits - a.fits || b.fitsEmpty - a.fitsEmpty || (a.pool < b.pool ? -1 : 1)),
    words: wordsOf(verdict),
    plain: verdict.kind === 'refused' ? plainWords(verdict.nodes, reasons) : plainVerdict(verdict),
  };
}

function refusals(gang: Gang, states: readonly ClusterNodeState[]): ReturnType<typeof reasonsOf> {
  return reasonsOf(
    gang.pod,
    states.flatMap((on) => {
      const refusal = refusalOf(gang.pod, on, gang.state);
      return refusal === undefined ? [] : [{ on, refusal }];
    }),
  );
}

/** Pools without accelerators are shown only if the pods fit there. */
function poolFit(gang: Gang, pool: FitPool, objects: ClusterObjects): readonly PoolFit[] {
  const { states, name, hasDevices } = pool;
  const { placed } = placeTogether([gang], states, objects.namespaces);
  const fits = placed[0] ?? 0;
  if (!hasDevices && fits === 0) return [];
  const [main] = deviceRequests(gang.pod.requests);
  const reasons = refusals(gang, states);
  return [
    {
      pool: name.id,
      name: name.name,
      nodes: states.length,
      label: name.label,
      fits,
      free: main === undefined ? null : freeIn(states, main.resource),
      fitsEmpty: emptyIn(gang, pool),
      reasons,
      missing: missingFor(gang.pod, states),
    },
  ];
}

/** Units that pods could get on nodes that are ready and not cordoned. */
function freeIn(states: readonly ClusterNodeState[], resource: string): number {
  return states.reduce((all, { node, used }) => {
    const free = Math.max(0, (node.allocatable.get(resource) ?? 0) - (used.get(resource) ?? 0));
    return node.ready && !node.unschedulable ? all + free : all;
  }, 0);
}

/** The taints and labels of the pool that keep the pods out of all its nodes. */
function missingFor(pod: FleetPod, states: readonly ClusterNodeState[]): PoolFit['missing'] {
  const [first, ...others] = states;
  if (first === undefined) return null;
  const lacks = ({ node }: ClusterNodeState) =>
    node.taints.filter(
      (taint) => taint.effect !== 'PreferNoSchedule' && untolerated(pod.tolerations, { ...node, taints: [taint] }),
    );
  const taints = lacks(first).filter((taint) =>
    others.every((on) =>
      lacks(on).some(({ key, value, effect }) => key === taint.key && value === taint.value && effect === taint.effect),
    ),
  );
  const labels = [...pod.nodeSelector]
    .filter(([key, value]) => states.every(({ node }) => node.labels.get(key) !== value))
    .map(([key, value]) => ({ key, value }));
  return taints.length === 0 && labels.length === 0 ? null : { taints, labels };
}

function wordsOf(verdict: Verdict): string | null {
  if (verdict.kind === 'refused') return schedulerWords(verdict);
  if (verdict.kind === 'waits') return verdict.problem.words;
  return verdict.kind === 'error' ? verdict.message : null;
}

function plainVerdict(verdict: Verdict): string | null {
  if (verdict.kind === 'error') return verdict.message;
  if (verdict.kind !== 'waits') return null;
  const { kind, name } = verdict.problem;
  return kind === 'no-claim' ? `ResourceClaim ${name} does not exist` : `DeviceClass ${name} does not exist`;
}
