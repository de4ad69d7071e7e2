import type { Cursor } from '../../yaml/cursor.ts';
import { asText, getIn, items } from '../../yaml/cursor.ts';
import { lowerCount } from '../pod.ts';
import type { Retries } from '../workload.ts';
import type { KindEntry, KindLowering, PodCount } from './kind.ts';
import { jobAddresses, statefulSetAddresses } from './pod-addresses.ts';
import {
  between,
  exactly,
  fromPodSpec,
  fromTemplate,
  retriesAt,
  times,
  unlimitedRetries,
  written,
} from './pod-sets.ts';

const keptRunning = { staysUp: true, replica: 'pod', passesAnnotations: false } as const;

/** Pods, built-in controllers and kinds of the same shape. Defaults: https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/ */
export const coreKinds: readonly KindEntry[] = [
  { group: '', kinds: ['Pod'], words: [], unscalable: true, lower: ({ root }) => lowerPod(root) },
  // The selector is optional here: it defaults to the labels of the template.
  {
    group: '',
    kinds: ['ReplicationController'],
    words: [],
    staysUp: true,
    passesAnnotations: false,
    lower: ({ root }) => ({ ...lowerReplicated(root), partial: false }),
  },
  {
    group: '',
    kinds: ['PodTemplate'],
    words: [],
    role: 'definition',
    lower: ({ root }) => ({ podSets: fromTemplate('pod', getIn(root, 'template'), exactly(null)), ...nothingElse }),
  },
  {
    group: 'apps',
    kinds: ['Deployment', 'ReplicaSet'],
    words: [],
    ...keptRunning,
    lower: ({ root }) => lowerReplicated(root),
  },
  {
    group: 'apps',
    kinds: ['StatefulSet'],
    words: [],
    ...keptRunning,
    addresses: (root, name) => statefulSetAddresses(getIn(root, 'spec'), name),
    lower: ({ root }) => lowerReplicated(root),
  },
  // Third-party controllers in the shape of a Deployment; OpenShift's takes its selector from the template.
  {
    group: 'apps.kruise.io',
    kinds: ['CloneSet', 'StatefulSet'],
    words: [],
    ...keptRunning,
    lower: ({ root }) => lowerReplicated(root),
  },
  {
    group: 'argoproj.io',
    kinds: ['Rollout'],
    // Its pods may be those of another object.
    words: ['workloadRef'],
    ...keptRunning,
    lower: ({ root }) => lowerReplicated(root),
  },
  {
    group: 'apps.openshift.io',
    kinds: ['DeploymentConfig'],
    words: [],
    ...keptRunning,
    lower: ({ root }) => ({ ...lowerReplicated(root), partial: false }),
  },
  {
    group: 'apps',
    kinds: ['DaemonSet'],
    words: [],
    unscalable: true,
    passesAnnotations: false,
    role: 'infrastructure',
    // One pod per node, and the number of nodes is unknown.
    lower: ({ root }) => lowerReplicated(root, exactly(null)),
  },
  {
    group: 'batch',
    kinds: ['Job'],
    words: [],
    unscalable: true,
    likelyRole: 'batch',
    gang: 'podSet',
    passesAnnotations: false,
    job: (root) => getIn(root, 'spec'),
    addresses: (root, name) => jobAddresses(getIn(root, 'spec'), name),
    lower: ({ root }) => lowerJob(getIn(root, 'spec')),
  },
  {
    group: 'batch',
    kinds: ['CronJob'],
    words: [],
    unscalable: true,
    likelyRole: 'batch',
    gang: 'podSet',
    passesAnnotations: false,
    job: (root) => getIn(root, 'spec', 'jobTemplate', 'spec'),
    lower: ({ root }) => lowerCronJob(getIn(root, 'spec', 'jobTemplate')),
  },
  {
    group: 'keda.sh',
    kinds: ['ScaledJob'],
    role: 'batch',
    job: (root) => getIn(root, 'spec', 'jobTargetRef'),
    repeatsJobs: true,
    lower: ({ root }) => lowerScaledJob(getIn(root, 'spec')),
  },
];

const nothingElse = { retries: null, scaling: null, partial: false } as const;

function lowerPod(root: Cursor): KindLowering {
  const pod = getIn(root, 'spec');
  const sets = fromPodSpec('pod', pod, exactly(1)).map((set) => ({ ...set, metadata: getIn(root, 'metadata') }));
  return { ...nothingElse, podSets: sets, retries: restarts(pod, 'Always') };
}

function lowerReplicated(root: Cursor, pods?: PodCount): KindLowering {
  const replicas = pods === undefined ? getIn(root, 'spec', 'replicas') : undefined;
  const template = getIn(root, 'spec', 'template');
  const patch = getIn(root, 'spec', 'selector') === undefined && isPatch(template);
  const count = replicas === undefined && patch ? exactly(null) : written(replicas);
  return {
    podSets: fromTemplate('pod', template, pods ?? count, replicas),
    retries: unlimitedRetries,
    scaling: null,
    partial: getIn(root, 'spec', 'selector') === undefined,
  };
}

/** A Job runs `parallelism` pods at a time, but never more than are left to complete. */
function lowerJob(job: Cursor | undefined): KindLowering {
  const parallelism = getIn(job, 'parallelism');
  const template = getIn(job, 'template');
  const patch = getIn(template, 'spec', 'restartPolicy') === undefined && isPatch(template);
  const count = parallelism === undefined && patch ? null : jobPods(job);
  const podSets = fromTemplate('pod', template, exactly(count), parallelism);
  const backoff = getIn(job, 'backoffLimitPerIndex') ?? getIn(job, 'backoffLimit');
  return { ...nothingElse, podSets, retries: retriesAt(backoff, 6) };
}

function lowerCronJob(template: Cursor | undefined): KindLowering {
  const job = lowerJob(getIn(template, 'spec'));
  const madeMetadata = getIn(template, 'metadata');
  return madeMetadata === undefined ? job : { ...job, podSets: job.podSets.map((set) => ({ ...set, madeMetadata })) };
}

/** A Job for each piece of work, up to a limit. https://keda.sh/docs/latest/reference/scaledjob-spec/ */
function lowerScaledJob(spec: Cursor | undefined): KindLowering {
  const max = getIn(spec, 'maxReplicaCount');
  const jobs = between(lowerCount(getIn(spec, 'minReplicaCount'), 0), lowerCount(max, 100));
  const job = lowerJob(getIn(spec, 'jobTargetRef'));
  const each = jobPods(getIn(spec, 'jobTargetRef'));
  return { ...job, podSets: job.podSets.map((set) => ({ ...set, replicas: max, pods: times(jobs, each) })) };
}

/** The number of pods that a Job runs at a time. */
export function jobPods(job: Cursor | undefined): number | null {
  const parallelism = lowerCount(getIn(job, 'parallelism'), 1);
  const completions = lowerCount(getIn(job, 'completions'), Number.POSITIVE_INFINITY);
  return parallelism === null || completions === null ? null : Math.min(parallelism, completions);
}

/** Whether a template is probably a patch: a container has no image, so the number of pods may be in the patched object. */
function isPatch(template: Cursor | undefined): boolean {
  return items(getIn(template, 'spec', 'containers')).some((container) => getIn(container, 'image') === undefined);
}

function restarts(pod: Cursor | undefined, unset: string): Retries | null {
  const policy = getIn(pod, 'restartPolicy');
  const limit = (asText(policy) ?? unset) === 'Never' ? 0 : Number.POSITIVE_INFINITY;
  return pod === undefined ? null : { limit, at: policy };
}
