import type { ClusterNode, ClusterPod, ResourceQuota, RuntimeClass } from './cluster-objects.ts';
import { at, fields, list, number, text, textMap, timeOf } from './json.ts';
import { ownerOf } from './pod-owner.ts';
import { type PriorityClasses, readNode, readPod, readSelector, readToleration } from './read.ts';
import { amountsOf } from './requests.ts';
import type { Amounts, DisruptionBudget, FleetPod } from './types.ts';

// API objects to what the view of a cluster needs of them, each on its own. What is missing or of another type has the API's default.

/** A node as the API server returns it. */
export function readClusterNode(node: unknown): ClusterNode {
  const annotation = (name: string) => text(at(node, 'metadata', 'annotations', name));
  const ready = list(at(node, 'status', 'conditions')).find((condition) => at(condition, 'type') === 'Ready');
  return {
    ...readNode(node),
    // A node that reports no condition is a simulated one.
    ready: ready === undefined || at(ready, 'status') === 'True',
    capacity: amountsOf(at(node, 'status', 'capacity')),
    created: timeOf(at(node, 'metadata', 'creationTimestamp')),
    providerId: text(at(node, 'spec', 'providerID')) ?? '',
    annotated: annotatedPool(annotation),
  };
}

/** MachineSets name their machines, and those the nodes; only Oracle writes the pool itself, by its id. */
function annotatedPool(annotation: (name: string) => string | undefined): ClusterNode['annotated'] {
  const machine = /^(?:[^/]+\/)?(.+)-[a-z0-9]{5}$/.exec(annotation('machine.openshift.io/machine') ?? '')?.[1];
  if (machine !== undefined) return { platform: 'openshift', name: machine };
  const owner = annotation('cluster.x-k8s.io/owner-name');
  if (owner !== undefined) return { platform: 'cluster-api', name: owner };
  const id = annotation('oci.oraclecloud.com/node-pool-id');
  return id === undefined ? null : { platform: 'oke', name: id };
}

const noClasses: PriorityClasses = new Map();

/** A pod as the API server returns it; undefined if it has ended. The API server has already resolved its PriorityClass. */
export function readClusterPod(pod: unknown): ClusterPod | undefined {
  const phase = text(at(pod, 'status', 'phase'));
  if (phase === 'Succeeded' || phase === 'Failed') return undefined;
  const read = withSharedParts(readPod(pod, noClasses));
  const scheduled = list(at(pod, 'status', 'conditions')).find((one) => at(one, 'type') === 'PodScheduled');
  const isWaiting = read.nodeName === '' && at(scheduled, 'status') === 'False';
  return {
    ...read,
    owner: ownerOf(pod),
    claimNames: shared([
      ...read.claims.flatMap(({ name }) => name ?? []),
      ...list(at(pod, 'status', 'resourceClaimStatuses')).flatMap((one) => text(at(one, 'resourceClaimName')) ?? []),
    ]),
    created: timeOf(at(pod, 'metadata', 'creationTimestamp')),
    state: stateOf(read, phase),
    words: isWaiting ? keptWords(at(scheduled, 'message')) : '',
    wordsReason: isWaiting ? (text(at(scheduled, 'reason')) ?? '') : '',
  };
}

/** The start of what a cluster says of a pod, because thousands of pods may wait. */
export function keptWords(message: unknown): string {
  const words = text(message) ?? '';
  // Joined, because a part of a text keeps all of it in memory.
  return words.length <= mostWords ? words : words.slice(0, mostWords).split('').join('');
}

/** Far more than the reasons of a large cluster need. */
const mostWords = 4096;

function stateOf({ nodeName, terminating }: FleetPod, phase: string | undefined): ClusterPod['state'] {
  if (terminating) return 'terminating';
  if (nodeName === '') return 'pending';
  return phase === 'Running' ? 'running' : 'starting';
}

/** Thousands of pods have equal parts, most of them empty: they are kept once. */
function withSharedParts(pod: FleetPod): FleetPod {
  return {
    ...pod,
    requests: shared(pod.requests),
    tolerations: shared(pod.tolerations),
    nodeSelector: shared(pod.nodeSelector),
    nodeTerms: pod.nodeTerms === null ? null : shared(pod.nodeTerms),
    preferredNodes: shared(pod.preferredNodes),
    affinity: shared(pod.affinity),
    antiAffinity: shared(pod.antiAffinity),
    spread: shared(pod.spread),
    hostPorts: shared(pod.hostPorts),
    gates: shared(pod.gates),
    claims: shared(pod.claims),
  };
}

const kept = new Map<string, unknown>();

function shared<T>(value: T): T {
  const key = JSON.stringify(value instanceof Map ? ['map', ...value] : value);
  const before = kept.get(key);
  if (before !== undefined) return before as T;
  if (kept.size >= 20_000) kept.clear();
  kept.set(key, value);
  return value;
}

/** PriorityClasses by name; the default one also has the name ''. */
export function readPriorityClasses(objects: readonly unknown[]): PriorityClasses {
  return new Map(
    objects.flatMap((object) => {
      const preempts = at(object, 'preemptionPolicy') !== 'Never';
      const meaning = { value: number(at(object, 'value')) ?? 0, preempts };
      const names = [text(at(object, 'metadata', 'name')) ?? '', ...(at(object, 'globalDefault') === true ? [''] : [])];
      return names.map((name) => [name, meaning] as const);
    }),
  );
}

/** A RuntimeClass as the API server returns it. */
export function readRuntimeClass(object: unknown): RuntimeClass {
  return {
    name: text(at(object, 'metadata', 'name')) ?? '',
    nodeSelector: textMap(at(object, 'scheduling', 'nodeSelector')),
    tolerations: list(at(object, 'scheduling', 'tolerations')).map(readToleration),
    overhead: amountsOf(at(object, 'overhead', 'podFixed')),
  };
}

/** A ResourceQuota as the API server returns it. */
export function readBudget(object: unknown): DisruptionBudget {
  return {
    namespace: text(at(object, 'metadata', 'namespace')) ?? '',
    selector: readSelector(at(object, 'spec', 'selector')),
    allowed: number(at(object, 'status', 'disruptionsAllowed')) ?? 0,
    disrupted: fields(at(object, 'status', 'disruptedPods')).map(([name]) => name),
  };
}

/** A ResourceQuota with what it limits and what is used, by resource. */
export function readQuota(object: unknown): ResourceQuota {
  const spec = at(object, 'spec');
  return {
    namespace: text(at(object, 'metadata', 'namespace')) ?? 'default',
    name: text(at(object, 'metadata', 'name')) ?? '',
    hard: quotaAmounts(at(object, 'status', 'hard') ?? at(spec, 'hard')),
    used: quotaAmounts(at(object, 'status', 'used')),
    scoped: list(at(spec, 'scopes')).length > 0 || at(spec, 'scopeSelector') !== undefined,
  };
}

/** In the scheduler's units: `requests.cpu` in thousandths, like `cpu`. */
function quotaAmounts(value: unknown): Amounts {
  const amounts = fields(value).flatMap(([name, quantity]) => {
    const resource = name.replace(/^(?:requests|limits)\./, '');
    const amount = amountsOf({ [resource]: quantity }).get(resource);
    return amount === undefined ? [] : [[name, amount] as const];
  });
  return new Map(amounts);
}
