import type { ClusterObjects, ClusterPod, RuntimeClass } from '../fleet/cluster-objects.ts';
import type { Coverage } from '../fleet/cluster-view.ts';
import type { DeviceClaim, DeviceClass, DeviceSlice } from '../fleet/devices.ts';
import { readPriorityClasses } from '../fleet/live-read.ts';
import type { ApiServer } from './api-server.ts';
import type { Clock } from './clock.ts';
import { type Collection, type CopyState, createCollection } from './collection.ts';
import { deviceMatcher } from './device-cel.ts';
import { type Served, servedGroups } from './discovery.ts';
import { type Change, follow } from './list-watch.ts';
import { type NamedClaim, type PodEvent, type Resource, resources } from './resources.ts';

/** A copy of the objects of a cluster that follows their changes. */
export interface ClusterCopy {
  readonly objects: () => ClusterObjects;
  readonly coverage: () => readonly Coverage[];
  /** The two collections without which there is nothing to show. */
  readonly nodes: Followed;
  readonly pods: Followed;
  /** No collection is still being listed for the first time. */
  readonly isSettled: () => boolean;
}

/** How far a collection is known. */
export interface Followed extends Pick<Collection<unknown>, 'state' | 'message' | 'isComplete' | 'count'> {
  /** The namespace to which the copy is limited; null: all. */
  readonly namespace: () => string | null;
}

export interface CopySettings {
  /** Only this namespace; null: all, or that of the context if the user may not read all. */
  readonly namespace: string | null;
  /** The namespace of the context. */
  readonly contextNamespace: string;
}

/** Groups can be installed while gpulint runs. */
const discoveryDelay = 600_000;
const discoveryRetry = 5_000;

/**
 * Lists and watches until `signal` is aborted.
 * @param changed called after each change of an object, and of the state of a collection
 */
export function followCluster(
  api: ApiServer,
  settings: CopySettings,
  clock: Clock,
  signal: AbortSignal,
  changed: (what: 'objects' | 'state') => void,
): ClusterCopy {
  const matches = deviceMatcher();

  function collect<T>(resource: Resource<T>) {
    const collection = createCollection(resource.read);
    let namespace: string | null = null;
    let isFollowing = false;
    const report = (change: Change) => {
      const before = collection.state();
      if (collection.apply(change)) changed('objects');
      else if (before !== collection.state() || change.kind === 'list-end' || change.kind === 'state') changed('state');
    };
    /** Follows the first version and scope that is served and allowed. */
    async function start(versions: readonly string[]): Promise<void> {
      const scopes = scopesOf(resource.namespaced, settings);
      for (const version of versions) {
        for (const [index, scope] of scopes.entries()) {
          namespace = scope;
          const end = await followPath(pathOf(resource, version, scope), index < scopes.length - 1, report);
          if (end === 'absent') break;
          if (end === 'stopped') return;
        }
      }
      isFollowing = false;
    }
    return {
      ...collection,
      resource,
      namespace: () => namespace,
      follow(served: Served) {
        const versions = resource.versions.filter(
          (version) => resource.group === '' || served === undefined || served.get(resource.group)?.has(version),
        );
        if (isFollowing) return;
        isFollowing = versions.length > 0;
        if (isFollowing) void start(versions);
        else report({ kind: 'state', state: { kind: 'absent' } });
      },
    };
  }

  /** @param hasNext whether to give up a collection that may not be read, because a narrower one follows */
  async function followPath(
    path: string,
    hasNext: boolean,
    report: (change: Change) => void,
  ): Promise<'absent' | 'forbidden' | 'stopped'> {
    const stop = new AbortController();
    let end: 'absent' | 'forbidden' | 'stopped' = 'stopped';
    await follow(api, path, clock, AbortSignal.any([signal, stop.signal]), (change) => {
      if (change.kind === 'state' && change.state.kind === 'absent') end = 'absent';
      if (change.kind === 'state' && change.state.kind === 'forbidden' && hasNext) {
        end = 'forbidden';
        stop.abort();
      } else report(change);
    });
    return end;
  }

  const copy = {
    nodes: collect(resources.nodes),
    pods: collect(resources.pods),
    namespaces: collect(resources.namespaces),
    quotas: collect(resources.quotas),
    events: collect(resources.events),
    autoscaler: collect(resources.autoscaler),
    priorityClasses: collect(resources.priorityClasses),
    budgets: collect(resources.budgets),
    runtimeClasses: collect(resources.runtimeClasses),
    slices: collect(resources.slices),
    deviceClasses: collect(resources.deviceClasses),
    claims: collect(resources.claims),
    templates: collect(resources.templates),
    clusterQueues: collect(resources.clusterQueues),
    localQueues: collect(resources.localQueues),
    flavors: collect(resources.flavors),
    karpenter: collect(resources.karpenter),
    computeClasses: collect(resources.computeClasses),
    machineAutoscalers: collect(resources.machineAutoscalers),
  };
  const all = Object.values(copy);
  void discover();

  async function discover(): Promise<void> {
    for (const one of all) if (one.resource.group === '') one.follow(undefined);
    while (!signal.aborted) {
      let delay = discoveryDelay;
      try {
        const served = await servedGroups(api, signal);
        for (const one of all) one.follow(served);
      } catch {
        delay = discoveryRetry;
      }
      await clock.wait(delay, signal);
    }
  }

  const namespaces = memo(
    (labels: ReturnType<typeof copy.namespaces.values>) =>
      new Map(labels.map(({ name, labels }) => [name, labels] as const)),
  );
  const priorityClasses = memo(readPriorityClasses);
  const runtimeClasses = memo(
    (classes: readonly RuntimeClass[]) => new Map(classes.map((each) => [each.name, each] as const)),
  );
  const devices = memo(
    (
      slices: readonly DeviceSlice[],
      classes: readonly DeviceClass[],
      claims: readonly NamedClaim[],
      templates: readonly NamedClaim[],
    ) => ({
      supply: {
        classes: new Map(classes.map((each) => [each.name, each] as const)),
        slices,
        claims: claimsByKey(claims),
        templates: claimsByKey(templates),
      },
      matches,
      unreserved: claims.flatMap(({ key, unreserved }) => (unreserved ? [key] : [])),
    }),
  );
  const pods = memo(withEvents);

  function objects(): ClusterObjects {
    const { slices, deviceClasses, claims, templates, clusterQueues, localQueues, flavors } = copy;
    return {
      nodes: copy.nodes.values(),
      pods: pods(copy.pods.values(), copy.events.values()),
      namespaces: namespaces(copy.namespaces.values()),
      priorityClasses: priorityClasses(copy.priorityClasses.values()),
      budgets: copy.budgets.values(),
      runtimeClasses: runtimeClasses(copy.runtimeClasses.values()),
      devices: slices.isComplete()
        ? devices(slices.values(), deviceClasses.values(), claims.values(), templates.values())
        : undefined,
      quotas: copy.quotas.values(),
      kueue: {
        localQueues: localQueues.values(),
        clusterQueues: clusterQueues.values(),
        flavors: flavors.values(),
      },
      growing: [
        ...copy.karpenter.values(),
        ...copy.computeClasses.values(),
        ...copy.machineAutoscalers.values(),
        ...copy.autoscaler.values().flat(),
      ],
    };
  }

  return {
    objects,
    coverage: () =>
      all.map(({ resource: { name, group, namespaced }, state, isComplete, namespace }) => {
        // All that is of interest of some collections is in one namespace.
        const own = namespaced === true ? namespace() : null;
        const read = coverageOf(state(), isComplete());
        return {
          resource: group === '' ? name : `${name}.${group}`,
          state: read === 'read' && own !== null ? 'namespaces' : read,
          namespaces: own === null ? [] : [own],
        };
      }),
    nodes: copy.nodes,
    pods: copy.pods,
    isSettled: () => all.every((one) => (one.state() !== 'waiting' && one.state() !== 'listing') || one.isComplete()),
  };
}

/** The same result as long as the arguments are the same. */
function memo<A extends readonly unknown[], R>(make: (...args: A) => R): (...args: A) => R {
  let last: { readonly args: A; readonly result: R } | undefined;
  return (...args) => {
    if (last?.args.every((arg, index) => arg === args[index]) !== true) last = { args, result: make(...args) };
    return last.result;
  };
}

function claimsByKey(claims: readonly NamedClaim[]): ReadonlyMap<string, DeviceClaim> {
  return new Map(claims.map(({ key, claim }) => [key, claim]));
}

function scopesOf(
  namespaced: boolean | string,
  { namespace, contextNamespace }: CopySettings,
): readonly (string | null)[] {
  if (typeof namespaced === 'string') return [namespaced];
  if (!namespaced) return [null];
  return namespace === null ? [null, contextNamespace] : [namespace];
}

function pathOf({ name, group, fieldSelector }: Resource<unknown>, version: string, namespace: string | null): string {
  const base = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const scope = namespace === null ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  const query = fieldSelector === undefined ? '' : `?fieldSelector=${encodeURIComponent(fieldSelector)}`;
  return `${base}${scope}/${name}${query}`;
}

function coverageOf(state: CopyState, isComplete: boolean): 'read' | 'loading' | 'forbidden' | 'not-served' {
  if (state === 'absent') return 'not-served';
  if (state === 'forbidden') return 'forbidden';
  return isComplete ? 'read' : 'loading';
}

/** The scheduler's words for pods whose condition has none: the last event says them. */
function withEvents(pods: readonly ClusterPod[], events: readonly PodEvent[]): readonly ClusterPod[] {
  if (events.length === 0 || pods.every(({ state, words }) => state !== 'pending' || words !== '')) return pods;
  const last = new Map<string, PodEvent>();
  for (const event of events) {
    const before = last.get(event.pod);
    if (before === undefined || before.time <= event.time) last.set(event.pod, event);
  }
  return pods.map((pod) => {
    const event = pod.state === 'pending' && pod.words === '' ? last.get(`${pod.namespace}/${pod.name}`) : undefined;
    if (event === undefined) return pod;
    const before = withWords.get(pod);
    const now = before?.words === event.message ? before : { ...pod, words: event.message };
    withWords.set(pod, now);
    return now;
  });
}

/** Pods with the words of their events: results are remembered by identity. */
const withWords = new WeakMap<ClusterPod, ClusterPod>();
