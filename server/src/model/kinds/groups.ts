import type { Cursor } from '../../yaml/cursor.ts';
import { asText, at, items } from '../../yaml/cursor.ts';
import { lowerCount } from '../pod.ts';
import type { KindEntry, KindLowering, PodSetSource } from './kind.ts';

/** Kinds that run groups of pods together: JobSet, LeaderWorkerSet, Volcano Job. */
export const groupKinds: readonly KindEntry[] = [
  { group: 'jobset.x-k8s.io', kinds: ['JobSet'], lower: ({ root }) => lowerJobSet(at(root, 'spec')) },
  {
    group: 'leaderworkerset.x-k8s.io',
    kinds: ['LeaderWorkerSet'],
    lower: ({ root }) => lowerLeaderWorkerSet(at(root, 'spec')),
  },
  { group: 'batch.volcano.sh', kinds: ['Job'], lower: ({ root }) => lowerVolcanoJob(at(root, 'spec')) },
  {
    group: 'batch.volcano.sh',
    kinds: ['CronJob'],
    lower: ({ root }) => lowerVolcanoJob(at(root, 'spec', 'jobTemplate', 'spec')),
  },
];

/** Jobs of one template: replicas x min(parallelism, completions) pods. https://jobset.sigs.k8s.io/docs/reference/jobset.v1alpha2/ */
function lowerJobSet(spec: Cursor | undefined): KindLowering {
  const podSets = items(at(spec, 'replicatedJobs')).flatMap((job): PodSetSource[] => {
    const template = at(job, 'template', 'spec');
    const pod = at(template, 'template', 'spec');
    if (pod === undefined) return [];
    const replicas = at(job, 'replicas');
    const count = product(lowerCount(replicas, 1), jobPods(template));
    const metadata = at(template, 'template', 'metadata');
    return [{ name: asText(at(job, 'name')) ?? 'job', pod, metadata, replicas, pods: { min: count, max: count } }];
  });
  const restarts = at(spec, 'failurePolicy', 'maxRestarts');
  const limit = lowerCount(restarts, 0);
  return { podSets, retries: limit === null ? null : { limit, at: restarts }, scaling: null, partial: false };
}

function jobPods(job: Cursor | undefined): number | null {
  const parallelism = lowerCount(at(job, 'parallelism'), 1);
  const completions = lowerCount(at(job, 'completions'), Number.POSITIVE_INFINITY);
  return parallelism === null || completions === null ? null : Math.min(parallelism, completions);
}

/** replicas groups of one leader and size - 1 workers; without a leader template the leader is made like a worker. https://lws.sigs.k8s.io/docs/reference/leaderworkerset.v1/ */
function lowerLeaderWorkerSet(spec: Cursor | undefined): KindLowering {
  const template = at(spec, 'leaderWorkerTemplate');
  const leader = at(template, 'leaderTemplate');
  const worker = at(template, 'workerTemplate');
  const groups = lowerCount(at(spec, 'replicas'), 1);
  const size = lowerCount(at(template, 'size'), 1);
  const podSets: PodSetSource[] = [];
  const leaderPod = at(leader, 'spec');
  const workerPod = at(worker, 'spec');
  if (leaderPod !== undefined) {
    const metadata = at(leader, 'metadata');
    podSets.push({
      name: 'leader',
      pod: leaderPod,
      metadata,
      replicas: at(spec, 'replicas'),
      pods: { min: groups, max: groups },
    });
  }
  if (workerPod !== undefined) {
    const each = size === null ? null : leaderPod === undefined ? size : Math.max(size - 1, 0);
    const count = product(groups, each);
    const metadata = at(worker, 'metadata');
    podSets.push({
      name: 'worker',
      pod: workerPod,
      metadata,
      replicas: at(template, 'size'),
      pods: { min: count, max: count },
    });
  }
  return {
    podSets,
    retries: { limit: Number.POSITIVE_INFINITY, at: undefined },
    scaling: null,
    partial: workerPod === undefined,
  };
}

/** https://volcano.sh/en/docs/vcjob/ */
function lowerVolcanoJob(spec: Cursor | undefined): KindLowering {
  const podSets = items(at(spec, 'tasks')).flatMap((task): PodSetSource[] => {
    const pod = at(task, 'template', 'spec');
    if (pod === undefined) return [];
    const replicas = at(task, 'replicas');
    const count = lowerCount(replicas, 1);
    const metadata = at(task, 'template', 'metadata');
    return [{ name: asText(at(task, 'name')) ?? 'task', pod, metadata, replicas, pods: { min: count, max: count } }];
  });
  const retry = at(spec, 'maxRetry');
  const limit = lowerCount(retry, 3);
  return { podSets, retries: limit === null ? null : { limit, at: retry }, scaling: null, partial: false };
}

function product(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a * b;
}
