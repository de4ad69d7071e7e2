import type { ClusterObjects, ClusterPod } from './cluster-objects.ts';
import type { PendingPod } from './cluster-view.ts';
import { deviceRequests } from './device-counts.ts';
import { fitPods } from './fit.ts';
import { fitReason } from './fit-summary.ts';
import { holdsDevices } from './live-node.ts';

interface Explained {
  readonly reason: string;
  readonly wayOut: string | null;
}

/** More pods say nothing new. */
const maxPods = 2000;

/** Nodes that one view may look at to explain pods; what is left waits for the next one. */
const maxLooks = 10_000;

/** An explanation is used again for so many milliseconds, although other pods come and go. */
const fresh = 15_000;

/**
 * Explains the pods with accelerators that wait for a node. Pods with equal needs are explained once, and a few kinds of pods in each view: others
 * have the scheduler's words until it is their turn.
 */
export function pendingExplainer(): (
  objects: ClusterObjects,
  about: { readonly context: string; readonly asOf: number },
) => readonly PendingPod[] {
  const known = new Map<string, { readonly at: number; readonly explained: Explained }>();
  return (objects, { context, asOf }) => {
    const waiting = objects.pods
      .filter((pod) => pod.nodeName === '' && pod.state === 'pending' && holdsDevices(pod))
      .sort((a, b) => (a.created ?? asOf) - (b.created ?? asOf) || (a.name < b.name ? -1 : 1))
      .slice(0, maxPods);
    let looks = 0;
    const used = new Set<string>();
    const explain = (pod: ClusterPod): Explained => {
      const simple = withoutNodes(pod);
      if (simple !== undefined) return simple;
      const kind = kindOf(pod);
      used.add(kind);
      const before = known.get(kind);
      if (before !== undefined && asOf - before.at < fresh) return before.explained;
      if (looks >= maxLooks) return before?.explained ?? { reason: inWords(pod), wayOut: null };
      looks += objects.nodes.length;
      const answer = fitPods([{ name: pod.name, count: 1, pod }], objects, {
        context,
        asOf,
        gaps: [],
        isPartial: false,
        running: [],
        waiting: 0,
        devices: objects.devices,
        together: false,
        quotas: [],
        stopped: null,
      });
      const explained = { reason: fitReason(answer), wayOut: answer.wayOut };
      known.set(kind, { at: asOf, explained });
      return explained;
    };
    const pods = waiting.map((pod): PendingPod => {
      const { namespace, name, owner, requests, created, words } = pod;
      const devices = deviceRequests(requests);
      return { namespace, name, owner, devices, created, ...explain(pod), words: words === '' ? null : words };
    });
    for (const kind of known.keys()) if (!used.has(kind)) known.delete(kind);
    return pods;
  };
}

/** Pods that wait for something else than a node. */
function withoutNodes({ gates, schedulerName, wordsReason, words }: ClusterPod): Explained | undefined {
  const [gate] = gates;
  if (gate?.startsWith('kueue.x-k8s.io/') === true)
    return {
      reason: 'waits for admission by Kueue',
      wayOut: 'raise the quota of its ClusterQueue, or wait until other workloads finish',
    };
  if (gate !== undefined)
    return { reason: `held back by the scheduling gate ${gate}`, wayOut: 'wait until its controller removes the gate' };
  if (wordsReason === 'SchedulerError') return { reason: `the scheduler fails: ${words}`, wayOut: null };
  if (schedulerName !== 'default-scheduler')
    return { reason: words === '' ? `waits for the scheduler ${schedulerName}` : words, wayOut: null };
  return undefined;
}

function inWords({ words }: ClusterPod): string {
  return words === '' ? 'not scheduled yet' : words;
}

const ids = new WeakMap<object, number>();
let nextId = 0;

/** Equal parts of pods are one object, so their identity stands for them. */
function idOf(part: object | null): number {
  if (part === null) return -1;
  const before = ids.get(part);
  if (before !== undefined) return before;
  nextId += 1;
  ids.set(part, nextId);
  return nextId;
}

/** What decides where a pod can run. Labels matter only to affinity and spread constraints, which are then compared with them. */
function kindOf(pod: ClusterPod): string {
  const { namespace, priority, requests, tolerations, nodeSelector, nodeTerms, affinity, antiAffinity, spread } = pod;
  const parts = [
    requests,
    tolerations,
    nodeSelector,
    nodeTerms,
    affinity,
    antiAffinity,
    spread,
    pod.hostPorts,
    pod.claims,
  ];
  const isSocial = affinity.length + antiAffinity.length + spread.length > 0;
  const labels = isSocial ? JSON.stringify([...pod.labels]) : '';
  return [isSocial || pod.claims.length > 0 ? namespace : '', priority, ...parts.map(idOf), labels].join('/');
}
