import { type DeviceClaim, readClaim, readDeviceClass, readSlice } from '../fleet/devices.ts';
import {
  readAutoscalerStatus,
  readComputeClass,
  readKarpenterPool,
  readMachineAutoscaler,
} from '../fleet/growth-read.ts';
import { at, list, text, textMap, timeOf } from '../fleet/json.ts';
import { readClusterQueue, readFlavor, readLocalQueue } from '../fleet/kueue-read.ts';
import {
  keptWords,
  readBudget,
  readClusterNode,
  readClusterPod,
  readQuota,
  readRuntimeClass,
} from '../fleet/live-read.ts';

// What is read of a cluster: which collections, and the least of each object. docs/cluster.md lists the same for the ClusterRole.

/** A collection of the API. */
export interface Resource<T> {
  readonly name: string;
  /** An empty text for the core group. */
  readonly group: string;
  /** The versions that can be read, the preferred one first. */
  readonly versions: readonly string[];
  /** Its objects are in namespaces. A text is the only namespace of interest. */
  readonly namespaced: boolean | string;
  readonly fieldSelector?: string;
  readonly read: (object: unknown) => T | undefined;
}

/** A claim, or a template of claims. */
export interface NamedClaim {
  /** `namespace/name`. */
  readonly key: string;
  readonly claim: DeviceClaim;
  /** It holds devices, but no pod may use them. */
  readonly unreserved: boolean;
}

/** Why a pod waits, in the scheduler's words. */
export interface PodEvent {
  /** `namespace/name` of the pod. */
  readonly pod: string;
  readonly message: string;
  readonly time: number;
}

const draVersions = ['v1', 'v1beta2', 'v1beta1'];
const kueue = 'kueue.x-k8s.io';
const kueueVersions = ['v1beta2', 'v1beta1'];

export const resources = {
  nodes: core('nodes', false, readClusterNode),
  // As the scheduler itself: pods that have ended hold nothing.
  pods: { ...core('pods', true, readClusterPod), fieldSelector: 'status.phase!=Succeeded,status.phase!=Failed' },
  namespaces: core('namespaces', false, (object) => ({
    name: nameOf(object),
    labels: textMap(at(object, 'metadata', 'labels')),
  })),
  quotas: core('resourcequotas', true, readQuota),
  events: { ...core('events', true, readEvent), fieldSelector: 'involvedObject.kind=Pod,reason=FailedScheduling' },
  autoscaler: {
    ...core('configmaps', 'kube-system', readAutoscalerStatus),
    fieldSelector: 'metadata.name=cluster-autoscaler-status',
  },
  priorityClasses: other('priorityclasses', 'scheduling.k8s.io', ['v1'], false, leastPriorityClass),
  budgets: other('poddisruptionbudgets', 'policy', ['v1'], true, readBudget),
  runtimeClasses: other('runtimeclasses', 'node.k8s.io', ['v1', 'v1beta1'], false, readRuntimeClass),
  slices: other('resourceslices', 'resource.k8s.io', draVersions, false, readSlice),
  deviceClasses: other('deviceclasses', 'resource.k8s.io', draVersions, false, readDeviceClass),
  claims: other('resourceclaims', 'resource.k8s.io', draVersions, true, (object) =>
    namedClaim(object, at(object, 'spec')),
  ),
  templates: other('resourceclaimtemplates', 'resource.k8s.io', draVersions, true, (object) =>
    namedClaim(object, at(object, 'spec', 'spec')),
  ),
  clusterQueues: other('clusterqueues', kueue, kueueVersions, false, readClusterQueue),
  localQueues: other('localqueues', kueue, kueueVersions, true, readLocalQueue),
  flavors: other('resourceflavors', kueue, kueueVersions, false, readFlavor),
  karpenter: other('nodepools', 'karpenter.sh', ['v1', 'v1beta1'], false, readKarpenterPool),
  computeClasses: other('computeclasses', 'cloud.google.com', ['v1'], false, readComputeClass),
  machineAutoscalers: other(
    'machineautoscalers',
    'autoscaling.openshift.io',
    ['v1beta1'],
    'openshift-machine-api',
    readMachineAutoscaler,
  ),
} as const;

function core<T>(name: string, namespaced: boolean | string, read: Resource<T>['read']): Resource<T> {
  return other(name, '', ['v1'], namespaced, read);
}

function other<T>(
  name: string,
  group: string,
  versions: readonly string[],
  namespaced: boolean | string,
  read: Resource<T>['read'],
): Resource<T> {
  return { name, group, versions, namespaced, read };
}

function nameOf(object: unknown): string {
  return text(at(object, 'metadata', 'name')) ?? '';
}

function keyOf(object: unknown): string {
  return `${text(at(object, 'metadata', 'namespace')) ?? ''}/${nameOf(object)}`;
}

/** The fields that `readPriorityClasses` reads. */
function leastPriorityClass(object: unknown): unknown {
  const [value, globalDefault, preemptionPolicy] = ['value', 'globalDefault', 'preemptionPolicy'].map((field) =>
    at(object, field),
  );
  return { metadata: { name: nameOf(object) }, value, globalDefault, preemptionPolicy };
}

function namedClaim(object: unknown, spec: unknown): NamedClaim {
  const status = at(object, 'status');
  const claim = readClaim(nameOf(object), spec, status);
  const unreserved = claim.allocation !== null && list(at(status, 'reservedFor')).length === 0;
  return { key: keyOf(object), claim, unreserved };
}

function readEvent(object: unknown): PodEvent | undefined {
  const pod = text(at(object, 'involvedObject', 'name'));
  const message = keptWords(at(object, 'message'));
  if (pod === undefined || message === '') return undefined;
  const time = timeOf(at(object, 'series', 'lastObservedTime')) ?? timeOf(at(object, 'lastTimestamp'));
  const namespace = text(at(object, 'metadata', 'namespace')) ?? '';
  return { pod: `${namespace}/${pod}`, message, time: time ?? timeOf(at(object, 'eventTime')) ?? 0 };
}
