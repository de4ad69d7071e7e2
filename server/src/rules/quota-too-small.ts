import { roomOf } from '../evidence/pool-machines.ts';
import { queueLabel } from '../evidence/queue-label.ts';
import { rolloutOf, startsFirst } from '../evidence/rollout.ts';
import { schedulerQueue } from '../evidence/scheduler-queue.ts';
import { uncountedContainer } from '../evidence/uncounted-resources.ts';
import type { Referenced } from '../model/cross-references.ts';
import { lookUp } from '../model/manifest.ts';
import { resourceName } from '../model/requested-resource.ts';
import type { PodSet, Workload } from '../model/workload.ts';
import { asText, type Cursor, getIn, isTemplated, items, keySpanOf, spanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type WorkloadContext } from './rule.ts';

/**
 * A workload requests more accelerators than the quota of its namespace or the limit of its node pool allows, or lacks an amount that the quota counts.
 *
 * ## Why
 *
 * The API server adds up the requests of all pods of the namespace and rejects a pod that exceeds the quota. A pod that alone requests more
 * never exists: its Deployment or Job has no pods, and only an event says why. If all replicas together request more, some of them are
 * missing. A rollout that starts new pods before it stops old ones needs quota for one more. Kueue never admits a job if one of its pod sets needs more than the largest quota of a flavor.
 * A quota of CPU or memory needs the amount of every container: without one, and without a LimitRange that gives it, the API server rejects the pod.
 * Volcano and KAI never start a pod or a gang that needs more than the `capability` or the limit of its queue. Karpenter starts no node that would
 * exceed the `limits` of its NodePool.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: ResourceQuota
 * metadata: {name: gpus, namespace: research}
 * spec:
 *   hard:
 *     requests.nvidia.com/gpu: 4
 * ---
 * apiVersion: batch/v1
 * kind: Job
 * metadata: {name: train, namespace: research}
 * spec:
 *   template:
 *     spec:
 *       restartPolicy: Never
 *       containers:
 *         - name: main
 *           image: registry.example/trainer:1.4
 *           resources: {limits: {nvidia.com/gpu: 8}}
 * ```
 *
 * ```yaml valid
 * apiVersion: v1
 * kind: ResourceQuota
 * metadata: {name: gpus, namespace: research}
 * spec:
 *   hard:
 *     requests.nvidia.com/gpu: 8
 * ---
 * apiVersion: batch/v1
 * kind: Job
 * metadata: {name: train, namespace: research}
 * spec:
 *   template:
 *     spec:
 *       restartPolicy: Never
 *       containers:
 *         - name: main
 *           image: registry.example/trainer:1.4
 *           resources: {limits: {nvidia.com/gpu: 8}}
 * ```
 *
 * ## When it is silent
 *
 * For quotas of other namespaces and of folders other than the workload's and those above it, for quotas with scopes, and for patches and
 * definitions. For the sum over several workloads, unless all of them stay up and are in one file: others need not run at the same time. For
 * queues of a cohort, which can borrow. For pools that the pods do not select by a label, and for their limits of CPU and memory.
 *
 * ## Sources
 *
 * - [Kubernetes: resource quotas for extended resources](https://kubernetes.io/docs/concepts/policy/resource-quotas/#resource-quota-for-extended-resources)
 * - [aws/karpenter-provider-aws#8068](https://github.com/aws/karpenter-provider-aws/issues/8068)
 * - [Kueue: ClusterQueue](https://kueue.sigs.k8s.io/docs/concepts/cluster_queue/)
 */
export default defineRule({
  topic: 'quota',
  severity: 'warning',
  workload(workload, context) {
    if (workload.partial || workload.role === 'definition' || !isLimited(workload, context)) return;
    checkUncounted(workload, context);
    const needs = needsOf(workload);
    if (needs.length === 0) return;
    for (const need of needs) {
      const found =
        inNamespace(need, workload, context) ??
        inQueue(need, workload, context) ??
        atScheduler(need, workload, context) ??
        inPool(need, workload, context);
      if (found === undefined) continue;
      const place = placeOf(need);
      context.report({
        ...(found.severity && { severity: found.severity }),
        message: `${found.what} ${found.count} ${need.resource}, but ${found.limit}: ${found.consequence}`,
        span:
          place === undefined
            ? spanOf(getIn(workload.manifest.root, 'kind') ?? workload.manifest.root)
            : keySpanOf(place),
      });
    }
  },
});

/** Reports a container whose pod the quota rejects, however much is left. */
function checkUncounted(workload: Workload, { crossReferences, document, report }: WorkloadContext): void {
  const found = document.template ? undefined : uncountedContainer(workload, crossReferences);
  if (found === undefined) return;
  const { container, quota, missing } = found;
  const at = getIn(container.at, 'resources');
  report({
    // In another file, the LimitRange may not be part of the project.
    ...(quota.file !== null && { severity: 'info' }),
    message: `Container ${shorten(container.name, 24)} sets no ${listed(missing)}, which ${named('ResourceQuota', quota)} counts: the API server rejects its pods unless a LimitRange gives it`,
    span: at === undefined ? spanOf(getIn(container.at, 'name') ?? container.at) : keySpanOf(at),
  });
}

function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
}

/** Whether anything may limit the workload: most projects have neither quotas, queues nor limits of pools. */
function isLimited(workload: Workload, { crossReferences }: WorkloadContext): boolean {
  return (
    workload.podSets.some((podSet) => roomOf(podSet, crossReferences) !== undefined) ||
    crossReferences.quotasIn(workload.namespace).length > 0 ||
    queueLabel(workload) !== undefined ||
    schedulerQueue(workload) !== undefined
  );
}

/** What the pods of a workload need of one resource. */
interface Need {
  readonly resource: string;
  readonly podSets: readonly PodSet[];
  /** The most that one pod, one pod set and all pods request. */
  readonly pod: number;
  readonly podSet: number;
  readonly all: number;
  /** What all pods request if an autoscaler starts as many as it may. */
  readonly most: number;
}

interface Excess {
  readonly what: string;
  readonly count: number;
  readonly limit: string;
  readonly consequence: string;
  readonly severity?: 'info';
}

function needsOf(workload: Workload): readonly Need[] {
  const { podSets } = workload;
  const isStaged = runsInTurn(workload);
  const requests = podSets.flatMap((podSet) =>
    podSet.accelerators.flatMap(({ requested, perPod }) => {
      const resource = resourceName(requested);
      const pod = perPod ?? 0;
      return resource === undefined || pod === 0
        ? []
        : [
            {
              resource,
              podSet,
              pod,
              all: pod * (podSet.pods.min ?? 0),
              most: pod * (podSet.pods.max ?? podSet.pods.min ?? 0),
            },
          ];
    }),
  );
  return [...new Set(requests.map(({ resource }) => resource))].map((resource) => {
    const same = requests.filter((one) => one.resource === resource);
    const largest = Math.max(...same.map(({ all }) => all));
    return {
      resource,
      podSets: same.map(({ podSet }) => podSet),
      pod: Math.max(...same.map(({ pod }) => pod)),
      podSet: largest,
      all: isStaged ? largest : same.reduce((sum, { all }) => sum + all, 0),
      most: same.reduce((sum, { most }) => sum + most, 0),
    };
  });
}

/** Whether some jobs of a JobSet start once others have completed, so that their pods need not run together. */
function runsInTurn({ kind, manifest }: Workload): boolean {
  const jobs = kind === 'JobSet' ? items(getIn(manifest.root, 'spec', 'replicatedJobs')) : [];
  return jobs.some((job) => items(getIn(job, 'dependsOn')).some((one) => asText(getIn(one, 'status')) !== 'Ready'));
}

function inNamespace(need: Need, workload: Workload, { crossReferences }: WorkloadContext): Excess | undefined {
  const { namespace } = workload;
  const [smallest] = crossReferences
    .quotasIn(namespace)
    .flatMap((quota) => {
      const hard = quota.facts.hard[`requests.${need.resource}`];
      return hard === undefined ? [] : [{ quota, hard }];
    })
    .sort((a, b) => a.hard - b.hard);
  if (smallest === undefined) return undefined;
  const { hard } = smallest;
  const limit = `${named('ResourceQuota', smallest.quota)} allows ${hard}`;
  if (need.pod > hard)
    return { what: 'A pod requests', count: need.pod, limit, consequence: 'the API server rejects every pod' };
  const consequence = 'some pods never start';
  if (need.all > hard) return { what: 'The pods together request', count: need.all, limit, consequence };
  const rollout = rolloutOf(workload);
  if (startsFirst(rollout) && need.all + need.pod > hard) {
    const count = need.all + need.pod;
    return {
      what: 'A rollout starts a new pod first and needs',
      count,
      limit,
      consequence: 'the rollout never ends',
    };
  }
  const demands = crossReferences.demandsOf(namespace, need.resource);
  const sums = demands.map((_, index) => demands.slice(0, index + 1).reduce((sum, { count }) => sum + count, 0));
  const excess = sums.findIndex((sum) => sum > hard);
  const first = demands[excess];
  // One that alone exceeds the quota is reported by itself.
  if (excess < 0 && need.most > hard)
    return {
      what: 'The autoscaler may request',
      count: need.most,
      limit,
      consequence: 'the last pods never start',
      severity: 'info',
    };
  if (first?.kind !== workload.kind || first.name !== workload.name || demands.some(({ count }) => count > hard))
    return undefined;
  const count = sums.at(-1) ?? 0;
  return { what: `${demands.length} workloads in this file together request`, count, limit, consequence };
}

function inQueue(need: Need, workload: Workload, { crossReferences }: WorkloadContext): Excess | undefined {
  const label = queueLabel(workload);
  if (label === undefined || isTemplated(label.at)) return undefined;
  const queue = crossReferences.clusterQueueOf(workload.namespace, label.value);
  const largest = queue?.facts.largest[need.resource];
  if (queue === undefined || largest === undefined || queue.siblingFolder) return undefined;
  const limit = `the largest quota of ${named('ClusterQueue', queue)} is ${largest}`;
  const consequence = 'Kueue never admits the workload';
  if (need.pod > largest) return { what: 'A pod requests', count: need.pod, limit, consequence };
  // Kueue admits the pods of servers one by one, and fewer pods of a job that allows it.
  const isJob = workload.role === 'training' || workload.role === 'batch' || /Job(?:Set)?$/.test(workload.kind);
  if (!isJob || need.podSet <= largest) return undefined;
  if (lookUp(workload.manifest.annotations, 'kueue.x-k8s.io/job-min-parallelism') !== undefined) return undefined;
  return { what: 'The pods of a group request', count: need.podSet, limit, consequence };
}

/** A queue of another scheduler, whose limit no other queue can lend. */
function atScheduler(need: Need, workload: Workload, { crossReferences }: WorkloadContext): Excess | undefined {
  const asked = schedulerQueue(workload);
  const queue = asked && crossReferences.queueCapacity(asked.group, asked.name);
  const most = queue?.facts[need.resource];
  if (asked === undefined || queue === undefined || most === undefined || queue.siblingFolder) return undefined;
  const count = asked.isGang ? need.all : need.pod;
  if (count <= most) return undefined;
  const isVolcano = asked.group === 'scheduling.volcano.sh';
  return {
    what: count > need.pod ? 'The pods of the gang request' : 'A pod requests',
    count,
    limit: `the ${isVolcano ? 'capability' : 'limit'} of ${named('Queue', queue)} is ${most}`,
    consequence: `${isVolcano ? 'Volcano' : 'KAI'} never starts ${count > need.pod ? 'them' : 'it'}`,
  };
}

/** Pools that the pods select, which have a limit for all their nodes together. The pods of a Job may run one after another. */
function inPool(need: Need, { kind }: Workload, { crossReferences }: WorkloadContext): Excess | undefined {
  const isWhole = need.podSets.every(({ accelerators }) =>
    accelerators.every(({ form, perPod, devices }) => form === 'whole' && perPod === devices),
  );
  if (need.resource !== 'nvidia.com/gpu' || !isWhole) return undefined;
  const rooms = need.podSets.map((podSet) => roomOf(podSet, crossReferences));
  const [room, ...others] = rooms;
  if (room === undefined || others.some((other) => other?.whose !== room.whose)) return undefined;
  const limit = `${room.whose} may have at most ${room.most}`;
  if (need.pod > room.most) return { what: 'A pod requests', count: need.pod, limit, consequence: 'it stays Pending' };
  if (need.all <= room.most || /^(?:Cron)?Job$/.test(kind)) return undefined;
  return { what: 'The pods together request', count: need.all, limit, consequence: 'some pods stay Pending' };
}

function named(kind: string, { name, file }: Referenced<unknown>): string {
  return `${kind} ${shorten(name)}${file === null ? '' : ` (${shorten(file)})`}`;
}

/** The first request of the resource. */
function placeOf({ resource, podSets }: Need): Cursor | undefined {
  const requests = podSets.flatMap(({ containers }) => containers.flatMap(({ accelerators }) => accelerators));
  const written = requests.find((one) => one.resource === resource);
  return written?.limit?.at ?? written?.request?.at;
}
