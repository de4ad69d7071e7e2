import { recognizeProgram } from '../../command/programs.ts';
import { allCommands, readScript } from '../../command/shell.ts';
import type { Cursor } from '../../yaml/cursor.ts';
import { asBoolean, asText, getIn, items } from '../../yaml/cursor.ts';
import { lowerCount } from '../pod.ts';
import type { KindEntry, KindLowering, Launcher, PodCount } from './kind.ts';
import { exactly, fromTemplate, retriesAt, times } from './pod-sets.ts';

const ray = { spansPods: true, mountsShm: true, passesAnnotations: false, unscalable: true } as const;

const submitter: Launcher = {
  waits: 'submitter',
  words: ['The submitter', 'waits for the Ray cluster'],
  works: () => false,
};

/**
 * KubeRay. A cluster has one head pod and replicas × numOfHosts pods per worker group.
 * https://github.com/ray-project/kuberay/blob/master/ray-operator/apis/ray/v1/raycluster_types.go
 */
export const rayKinds: readonly KindEntry[] = [
  {
    group: 'ray.io',
    kinds: ['RayCluster'],
    words: [],
    ...ray,
    rayCluster: (root) => getIn(root, 'spec'),
    named: true,
    lower: ({ root }) => withoutPods(lowerRayCluster(getIn(root, 'spec'), null), isSuspended(root)),
  },
  {
    group: 'ray.io',
    kinds: ['RayJob'],
    words: ['clusterSelector'],
    ...ray,
    rayCluster: (root) => clusterIn(getIn(root, 'spec')),
    launcher: submitter,
    lower: ({ root }) => lowerRayJob(getIn(root, 'spec')),
  },
  {
    group: 'ray.io',
    kinds: ['RayCronJob'],
    words: [],
    ...ray,
    rayCluster: (root) => clusterIn(getIn(root, 'spec', 'jobTemplate')),
    launcher: submitter,
    lower: ({ root }) => lowerRayJob(getIn(root, 'spec', 'jobTemplate')),
  },
  {
    group: 'ray.io',
    kinds: ['RayService'],
    words: [],
    ...ray,
    rayCluster: (root) => clusterIn(getIn(root, 'spec')),
    role: 'serving',
    lower: ({ root }) => lowerRayCluster(clusterIn(getIn(root, 'spec')), null),
  },
];

/** A suspended cluster has no pods. Kueue resumes those of its queues. https://github.com/ray-project/kuberay/blob/master/docs/reference/api.md */
function isSuspended(root: Cursor): boolean {
  const isQueued = getIn(root, 'metadata', 'labels', 'kueue.x-k8s.io/queue-name') !== undefined;
  return asBoolean(getIn(root, 'spec', 'suspend')) === true && !isQueued;
}

function withoutPods(cluster: KindLowering, isNone: boolean): KindLowering {
  return isNone ? { ...cluster, podSets: cluster.podSets.map((set) => ({ ...set, pods: exactly(0) })) } : cluster;
}

/** The cluster of a job or a service. Each has another name for it; it is also read under the wrong one, which api-field reports. */
export function clusterIn(owner: Cursor | undefined): Cursor | undefined {
  return getIn(owner, 'rayClusterSpec') ?? getIn(owner, 'rayClusterConfig');
}

/** A submitter pod runs next to the cluster; it is counted only if its template is set. */
function lowerRayJob(job: Cursor | undefined): KindLowering {
  const { statements } = readScript(asText(getIn(job, 'entrypoint')) ?? '');
  const trains = recognizeProgram(allCommands(statements))?.use === 'training';
  const cluster = lowerRayCluster(clusterIn(job), retriesAt(getIn(job, 'backoffLimit'), 0));
  const submitter = fromTemplate('submitter', getIn(job, 'submitterPodTemplate'), exactly(1));
  return { ...cluster, role: trains ? 'training' : 'batch', podSets: [...cluster.podSets, ...submitter] };
}

/** The pods of a RayCluster's spec, also if embedded in another kind. */
export function lowerRayCluster(cluster: Cursor | undefined, retries: KindLowering['retries']): KindLowering {
  const autoscaled = asBoolean(getIn(cluster, 'enableInTreeAutoscaling')) === true;
  const head = getIn(cluster, 'headGroupSpec');
  const podSets = [
    ...fromTemplate('head', getIn(head, 'template'), exactly(1)),
    ...items(getIn(cluster, 'workerGroupSpecs')).flatMap((group) => {
      const name = asText(getIn(group, 'groupName')) ?? 'worker';
      return fromTemplate(name, getIn(group, 'template'), workerPods(group, autoscaled), getIn(group, 'replicas'));
    }),
  ];
  return { podSets, retries, scaling: null, partial: head === undefined };
}

/**
 * With in-tree autoscaling, the group scales between its bounds. Without it, the group has `replicas` (default 0), which the operator raises to
 * the floor and lowers to the ceiling. https://github.com/ray-project/kuberay/blob/master/ray-operator/controllers/ray/utils/util.go
 */
export function workerPods(group: Cursor, autoscaled: boolean, unset = 0): PodCount {
  if (asBoolean(getIn(group, 'suspend')) === true) return exactly(0);
  const hosts = lowerCount(getIn(group, 'numOfHosts'), 1);
  const min = lowerCount(getIn(group, 'minReplicas'), 0);
  const max = lowerCount(getIn(group, 'maxReplicas'), Number.POSITIVE_INFINITY);
  // A ceiling below the floor applies.
  const floor = min === null || max === null ? min : Math.min(min, max);
  if (autoscaled) return times({ min: floor, max: max === Number.POSITIVE_INFINITY ? null : max }, hosts);
  const replicas = lowerCount(getIn(group, 'replicas'), unset);
  if (replicas === null || min === null || max === null) return exactly(null);
  return times(exactly(Math.min(Math.max(replicas, min), max)), hosts);
}
