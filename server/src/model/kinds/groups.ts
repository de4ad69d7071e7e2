import type { Cursor } from '../../yaml/cursor.ts';
import { asText, getIn, items } from '../../yaml/cursor.ts';
import { product } from '../count.ts';
import { lowerCount } from '../pod.ts';
import type { Workload } from '../workload.ts';
import { jobPods } from './core.ts';
import type { KindEntry, KindLowering, PodSetSource } from './kind.ts';
import { jobSetAddresses, leaderWorkerAddresses, volcanoAddresses } from './pod-addresses.ts';
import { exactly, fromTemplate, retriesAt, times, unlimitedRetries, written } from './pod-sets.ts';

/** Kinds that run groups of pods: JobSet, LeaderWorkerSet, Volcano's jobs. */
export const groupKinds: readonly KindEntry[] = [
  {
    group: 'jobset.x-k8s.io',
    kinds: ['JobSet'],
    words: [],
    likelyRole: 'batch',
    spansPods: true,
    passesAnnotations: false,
    addresses: (root, name) => jobSetAddresses(getIn(root, 'spec'), name),
    lower: ({ root }) => lowerJobSet(getIn(root, 'spec')),
  },
  {
    group: 'leaderworkerset.x-k8s.io',
    kinds: ['LeaderWorkerSet'],
    words: [],
    staysUp: true,
    replica: 'group',
    spansPods: true,
    passesAnnotations: false,
    addresses: (root, name) => leaderWorkerAddresses(getIn(root, 'spec'), name),
    lower: ({ root }) => lowerLeaderWorkerSet(getIn(root, 'spec')),
  },
  {
    group: 'batch.volcano.sh',
    kinds: ['Job'],
    likelyRole: 'batch',
    tasks: true,
    addresses: (root, name) => volcanoAddresses(getIn(root, 'spec'), name),
    spansPods: true,
    passesAnnotations: false,
    lower: ({ root }) => lowerVolcanoJob(getIn(root, 'spec')),
  },
  {
    group: 'batch.volcano.sh',
    kinds: ['CronJob'],
    likelyRole: 'batch',
    tasks: true,
    spansPods: true,
    passesAnnotations: false,
    lower: ({ root }) => lowerVolcanoJob(getIn(root, 'spec', 'jobTemplate', 'spec')),
  },
  {
    group: 'flow.volcano.sh',
    kinds: ['JobTemplate'],
    role: 'definition',
    lower: ({ root }) => lowerVolcanoJob(getIn(root, 'spec')),
  },
  {
    group: 'training.volcano.sh',
    kinds: ['HyperJob'],
    role: 'training',
    spansPods: true,
    wholeResources: true,
    lower: ({ root }) => lowerHyperJob(getIn(root, 'spec')),
  },
];

/** Each replicated job has replicas × min(parallelism, completions) pods. https://jobset.sigs.k8s.io/docs/reference/jobset.v1alpha2/ */
export function lowerJobSet(spec: Cursor | undefined): KindLowering {
  const podSets = items(getIn(spec, 'replicatedJobs')).flatMap((job) => {
    const template = getIn(job, 'template', 'spec');
    const replicas = getIn(job, 'replicas');
    const pods = times(written(replicas), jobPods(template));
    return fromTemplate(asText(getIn(job, 'name')) ?? 'job', getIn(template, 'template'), pods, replicas);
  });
  const restarts = getIn(spec, 'failurePolicy', 'maxRestarts');
  return { podSets, retries: retriesAt(restarts, 0), scaling: null, partial: false };
}

/** `replicas` groups of one leader and size - 1 workers; without a leader template, the leader is like a worker. https://lws.sigs.k8s.io/docs/reference/leaderworkerset.v1/ */
function lowerLeaderWorkerSet(spec: Cursor | undefined): KindLowering {
  const template = getIn(spec, 'leaderWorkerTemplate');
  const groups = lowerCount(getIn(spec, 'replicas'), 1);
  const size = lowerCount(getIn(template, 'size'), 1);
  const leaders = fromTemplate('leader', getIn(template, 'leaderTemplate'), exactly(groups), getIn(spec, 'replicas'));
  const each = size === null ? null : leaders.length === 0 ? size : Math.max(size - 1, 0);
  const pods = exactly(product(groups, each));
  const workers = fromTemplate('worker', getIn(template, 'workerTemplate'), pods, getIn(template, 'size'));
  // In groups of a leader alone, nothing runs the template of the workers.
  const used = each === 0 ? [] : workers;
  return { podSets: [...leaders, ...used], retries: unlimitedRetries, scaling: null, partial: workers.length === 0 };
}

/** How many groups of the same pods an object has, each with its own ranks; null if that is unknown. */
export function groupsOf({ kind, manifest }: Pick<Workload, 'kind' | 'manifest'>): number | null {
  return kind === 'LeaderWorkerSet' ? lowerCount(getIn(manifest.root, 'spec', 'replicas'), 1) : 1;
}

/** https://volcano.sh/en/docs/vcjob/ */
function lowerVolcanoJob(spec: Cursor | undefined): KindLowering {
  return { podSets: volcanoTasks(spec), retries: retriesAt(getIn(spec, 'maxRetry'), 3), scaling: null, partial: false };
}

function volcanoTasks(job: Cursor | undefined): readonly PodSetSource[] {
  return items(getIn(job, 'tasks')).flatMap((task) => {
    const replicas = getIn(task, 'replicas');
    return fromTemplate(asText(getIn(task, 'name')) ?? 'task', getIn(task, 'template'), written(replicas), replicas);
  });
}

/** Volcano Jobs across several clusters. https://github.com/volcano-sh/volcano/blob/master/docs/design/hyperjob-multi-cluster-job-splitting.md */
function lowerHyperJob(spec: Cursor | undefined): KindLowering {
  const podSets = items(getIn(spec, 'replicatedJobs')).flatMap((job) => {
    const jobs = lowerCount(getIn(job, 'replicas'), 1);
    return volcanoTasks(getIn(job, 'templateSpec')).map((task) => ({ ...task, pods: times(task.pods, jobs) }));
  });
  return { podSets, retries: null, scaling: null, partial: false };
}
