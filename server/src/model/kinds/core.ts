import type { Cursor } from '../../yaml/cursor.ts';
import { asText, at } from '../../yaml/cursor.ts';
import { lowerCount } from '../pod.ts';
import type { Retries } from '../workload.ts';
import type { KindEntry, KindLowering, PodSetSource } from './kind.ts';

/** Pods and what the built-in controllers make of them. Defaults: https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/ */
export const coreKinds: readonly KindEntry[] = [
  {
    group: '',
    kinds: ['Pod'],
    lower: ({ root }) => {
      const pod = at(root, 'spec');
      const source = pod && {
        name: 'pod',
        pod,
        metadata: at(root, 'metadata'),
        replicas: undefined,
        pods: { min: 1, max: 1 },
      };
      return {
        podSets: source ? [source] : [],
        retries: restarts(pod, 'Always'),
        scaling: null,
        partial: false,
      };
    },
  },
  { group: 'apps', kinds: ['Deployment', 'StatefulSet', 'ReplicaSet'], lower: ({ root }) => lowerReplicated(root) },
  {
    group: 'apps',
    kinds: ['DaemonSet'],
    role: 'infrastructure',
    // One pod a node, and how many nodes there are is not in the file.
    lower: ({ root }) => ({ ...lowerReplicated(root), podSets: fromTemplate(root, 'pod', null) }),
  },
  { group: 'batch', kinds: ['Job'], lower: ({ root }) => lowerJob(at(root, 'spec')) },
  { group: 'batch', kinds: ['CronJob'], lower: ({ root }) => lowerJob(at(root, 'spec', 'jobTemplate', 'spec')) },
];

function lowerReplicated(root: Cursor): KindLowering {
  const replicas = at(root, 'spec', 'replicas');
  return {
    podSets: fromTemplate(root, 'pod', lowerCount(replicas, 1), replicas),
    retries: { limit: Number.POSITIVE_INFINITY, at: undefined },
    scaling: null,
    partial: at(root, 'spec', 'selector') === undefined,
  };
}

function fromTemplate(root: Cursor, name: string, count: number | null, replicas?: Cursor): readonly PodSetSource[] {
  const template = at(root, 'spec', 'template');
  const pod = at(template, 'spec');
  if (pod === undefined) return [];
  return [{ name, pod, metadata: at(template, 'metadata'), replicas, pods: { min: count, max: count } }];
}

/** A Job runs as many pods at a time as its parallelism says, but never more than it still has to complete. */
function lowerJob(job: Cursor | undefined): KindLowering {
  const pod = at(job, 'template', 'spec');
  const parallelism = at(job, 'parallelism');
  const most = lowerCount(parallelism, 1);
  const completions = lowerCount(at(job, 'completions'), Number.POSITIVE_INFINITY);
  const count = most === null || completions === null ? null : Math.min(most, completions);
  const source = pod && {
    name: 'pod',
    pod,
    metadata: at(job, 'template', 'metadata'),
    replicas: parallelism,
    pods: { min: count, max: count },
  };
  return { podSets: source ? [source] : [], retries: jobRetries(job), scaling: null, partial: false };
}

function jobRetries(job: Cursor | undefined): Retries | null {
  const written = at(job, 'backoffLimitPerIndex') ?? at(job, 'backoffLimit');
  const limit = lowerCount(written, 6);
  return limit === null ? null : { limit, at: written };
}

function restarts(pod: Cursor | undefined, unset: string): Retries | null {
  const policy = at(pod, 'restartPolicy');
  const limit = (asText(policy) ?? unset) === 'Never' ? 0 : Number.POSITIVE_INFINITY;
  return pod === undefined ? null : { limit, at: policy };
}
