import type { Cursor } from '../../yaml/cursor.ts';
import { asBoolean, asText, at, items } from '../../yaml/cursor.ts';
import { lowerCount } from '../pod.ts';
import type { KindEntry, KindLowering, PodSetSource } from './kind.ts';

/**
 * KubeRay. Pods of a cluster: one head, and replicas x numOfHosts of each worker group.
 * https://github.com/ray-project/kuberay/blob/master/ray-operator/apis/ray/v1/raycluster_types.go
 */
export const rayKinds: readonly KindEntry[] = [
  { group: 'ray.io', kinds: ['RayCluster'], lower: ({ root }) => lowerCluster(at(root, 'spec'), null) },
  { group: 'ray.io', kinds: ['RayJob'], role: 'batch', lower: ({ root }) => lowerJob(at(root, 'spec')) },
  {
    group: 'ray.io',
    kinds: ['RayCronJob'],
    role: 'batch',
    lower: ({ root }) => lowerJob(at(root, 'spec', 'jobTemplate')),
  },
  {
    group: 'ray.io',
    kinds: ['RayService'],
    role: 'serving',
    lower: ({ root }) => lowerCluster(at(root, 'spec', 'rayClusterConfig'), null),
  },
];

/** A submitter pod runs beside the cluster; it has a container of its own only where the template is written. */
function lowerJob(job: Cursor | undefined): KindLowering {
  const backoff = at(job, 'backoffLimit');
  const limit = lowerCount(backoff, 0);
  const cluster = lowerCluster(at(job, 'rayClusterSpec'), limit === null ? null : { limit, at: backoff });
  const submitter = at(job, 'submitterPodTemplate');
  const pod = at(submitter, 'spec');
  if (pod === undefined) return cluster;
  const pods = { min: 1, max: 1 };
  const source = { name: 'submitter', pod, metadata: at(submitter, 'metadata'), replicas: undefined, pods };
  return { ...cluster, podSets: [...cluster.podSets, source] };
}

function lowerCluster(cluster: Cursor | undefined, retries: KindLowering['retries']): KindLowering {
  const autoscaled = asBoolean(at(cluster, 'enableInTreeAutoscaling')) === true;
  const head = at(cluster, 'headGroupSpec');
  const workers = items(at(cluster, 'workerGroupSpecs'));
  const podSets = [
    ...groupPods('head', head, undefined, { min: 1, max: 1 }),
    ...workers.flatMap((group) =>
      groupPods(
        asText(at(group, 'groupName')) ?? 'worker',
        group,
        at(group, 'replicas'),
        workerPods(group, autoscaled),
      ),
    ),
  ];
  return { podSets, retries, scaling: null, partial: head === undefined };
}

function groupPods(
  name: string,
  group: Cursor | undefined,
  replicas: Cursor | undefined,
  pods: PodSetSource['pods'],
): readonly PodSetSource[] {
  const template = at(group, 'template');
  const pod = at(template, 'spec');
  return pod === undefined ? [] : [{ name, pod, metadata: at(template, 'metadata'), replicas, pods }];
}

/** With in-tree autoscaling the group moves between its bounds; without it the bounds mean nothing. */
function workerPods(group: Cursor, autoscaled: boolean): PodSetSource['pods'] {
  const hosts = lowerCount(at(group, 'numOfHosts'), 1);
  const replicas = lowerCount(at(group, 'replicas'), autoscaled ? 0 : 1);
  const min = autoscaled ? lowerCount(at(group, 'minReplicas'), 0) : replicas;
  const max = autoscaled ? lowerCount(at(group, 'maxReplicas'), Number.NaN) : replicas;
  return { min: product(min, hosts), max: product(Number.isNaN(max) ? null : max, hosts) };
}

function product(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a * b;
}
