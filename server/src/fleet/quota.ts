import type { ClusterObjects, ClusterQueue, KueueObjects, ResourceFlavor } from './cluster-objects.ts';
import type { QuotaState } from './fit-question.ts';
import { admits } from './labels.ts';
import { untolerated } from './tolerations.ts';
import type { Amounts, FleetPod } from './types.ts';

/** What the pods of all groups request together. */
export interface Requested {
  readonly pods: number;
  readonly requests: Amounts;
}

/** The ResourceQuotas of a namespace that count what the pods request. Quotas with scopes may not count them, so they are left out. */
export function resourceQuotas(
  { quotas }: ClusterObjects,
  namespace: string,
  requested: Requested,
): readonly QuotaState[] {
  return quotas
    .filter((quota) => quota.namespace === namespace && !quota.scoped)
    .flatMap(({ name, hard, used }) =>
      [...hard].flatMap(([resource, limit]): QuotaState[] => {
        const needed = countedBy(resource, requested);
        if (needed === undefined || needed === 0) return [];
        return [stateOf('ResourceQuota', name, resource, limit, used.get(resource) ?? 0, needed)];
      }),
    );
}

/** https://kubernetes.io/docs/concepts/policy/resource-quotas/ */
function countedBy(resource: string, { pods, requests }: Requested): number | undefined {
  if (resource === 'pods' || resource === 'count/pods') return pods;
  if (resource === 'cpu' || resource === 'memory') return requests.get(resource);
  return resource.startsWith('requests.') ? requests.get(resource.slice('requests.'.length)) : undefined;
}

function stateOf(
  kind: QuotaState['kind'],
  name: string,
  resource: string,
  limit: number,
  used: number,
  needed: number,
): QuotaState {
  const shown = (amount: number) => scaled(resource, amount);
  const left = Math.max(0, limit - used);
  const plain = `${kind} ${name} has ${shown(left)} of ${shown(limit)} ${resource} left, but the pods request ${shown(needed)}`;
  return { kind, name, resource, limit, used, asks: needed, exceeded: used + needed > limit, plain };
}

function scaled(resource: string, amount: number): string {
  if (/(?:^|\.)cpu$/.test(resource)) return String(amount / 1000);
  if (!/(?:^|\.)(?:memory|storage|ephemeral-storage)$/.test(resource)) return String(Math.round(amount * 1000) / 1000);
  return `${Math.round((amount / 2 ** 30) * 10) / 10} GiB`;
}

/** What Kueue would do with the pods. */
export interface QueueVerdict {
  readonly quotas: readonly QuotaState[];
  /** The flavor whose nodes the pods would get; null: none has quota, or it is not known. */
  readonly flavor: ResourceFlavor | null;
  readonly problem: string | null;
}

/**
 * The queue's decision: of each group of resources the first flavor whose nodes the pods admit and whose quota is left, else the first whose
 * nodes they admit. https://kueue.sigs.k8s.io/docs/concepts/cluster_queue/
 */
export function queueVerdict(
  { kueue }: ClusterObjects,
  namespace: string,
  queue: string,
  pod: FleetPod,
  requested: Requested,
): QueueVerdict {
  const none = (problem: string | null) => ({ quotas: [], flavor: null, problem });
  const local = kueue.localQueues.find((one) => one.namespace === namespace && one.name === queue);
  if (local === undefined)
    return none(kueue.localQueues.length === 0 ? null : `LocalQueue ${queue} does not exist in namespace ${namespace}`);
  const cluster = kueue.clusterQueues.find(({ name }) => name === local.clusterQueue);
  if (local.stopped) return none(`LocalQueue ${queue} is stopped`);
  if (cluster === undefined) return none(null);
  if (cluster.stopped) return none(`ClusterQueue ${cluster.name} is stopped`);
  const found = cluster.groups.map((group) => chooseFlavor(cluster, group, kueue, pod, requested));
  const uncovered = [...requested.requests].find(
    ([resource, amount]) =>
      amount > 0 && resource.includes('/') && !cluster.groups.some(({ resources }) => resources.includes(resource)),
  );
  const problem = uncovered === undefined ? null : `ClusterQueue ${cluster.name} has no quota for ${uncovered[0]}`;
  // The flavor of the accelerators decides the nodes.
  const main = found.find(({ resources }) => resources.some((resource) => resource.includes('/'))) ?? found[0];
  return { quotas: found.flatMap(({ quotas }) => quotas), flavor: main?.flavor ?? null, problem };
}

interface Choice {
  readonly resources: readonly string[];
  readonly flavor: ResourceFlavor | null;
  readonly quotas: readonly QuotaState[];
}

function chooseFlavor(
  queue: ClusterQueue,
  group: ClusterQueue['groups'][number],
  { flavors, clusterQueues }: KueueObjects,
  pod: FleetPod,
  requested: Requested,
): Choice {
  const usable = group.flavors.flatMap((quota) => {
    const flavor = flavors.find(({ name }) => name === quota.name);
    if (flavor !== undefined && !mayUse(pod, flavor)) return [];
    const quotas = quota.resources.flatMap(({ name, nominal, borrowing, used }): QuotaState[] => {
      const needed = name === 'pods' ? requested.pods : (requested.requests.get(name) ?? 0);
      if (needed === 0) return [];
      const cohort = clusterQueues.filter((one) => one.cohort !== '' && one.cohort === queue.cohort);
      const sums = cohortQuota(cohort, quota.name, name);
      const limit =
        queue.cohort === '' ? nominal : Math.min(nominal + (borrowing ?? Infinity), sums.nominal - sums.used + used);
      return [stateOf('ClusterQueue', queue.name, name, limit, used, needed)];
    });
    return [{ resources: group.resources, flavor: flavor ?? null, quotas }];
  });
  const free = usable.find(({ quotas }) => quotas.every(({ exceeded }) => !exceeded));
  return free ?? usable[0] ?? { resources: group.resources, flavor: null, quotas: [] };
}

/** The quota of all queues that lend to each other, and what they use of it. */
function cohortQuota(
  queues: readonly ClusterQueue[],
  flavor: string,
  resource: string,
): { readonly nominal: number; readonly used: number } {
  let [nominal, used] = [0, 0];
  for (const one of queues.flatMap(({ groups }) => groups.flatMap(({ flavors }) => flavors))) {
    if (one.name !== flavor) continue;
    for (const each of one.resources) {
      if (each.name !== resource) continue;
      nominal += each.nominal;
      used += each.used;
    }
  }
  return { nominal, used };
}

/** Kueue compares the flavor's labels with the pod's selector, for the keys that the flavor has, and its taints with the tolerations. */
function mayUse(pod: FleetPod, { name, labels, taints, tolerations }: ResourceFlavor): boolean {
  const node = { name, labels, taints, unschedulable: false, allocatable: new Map<string, number>() };
  const all = [...pod.tolerations, ...tolerations];
  if (untolerated(all, node) !== undefined) return false;
  const ofKeys = new Map([...pod.nodeSelector].filter(([key]) => labels.has(key)));
  const terms = pod.nodeTerms?.map((term) => ({ ...term, labels: term.labels.filter(({ key }) => labels.has(key)) }));
  const isOpen = terms === undefined || terms.some((term) => term.labels.length === 0);
  return admits({ ...pod, nodeSelector: ofKeys, nodeTerms: isOpen ? null : (terms ?? null) }, node);
}
