import { partOf } from '../catalog/word-patterns.ts';
import { plural } from '../cost/money.ts';
import { tpuSlice } from '../cost/tpu-slices.ts';
import { hasRole } from '../evidence/role-confidence.ts';
import { isTrial } from '../evidence/volume-lifetime.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import type { PodSet, Workload } from '../model/workload.ts';
import { asNumber, asText, entries, getIn, isIncomplete, isUnseen, items, keyOf, spanOf } from '../yaml/cursor.ts';
import { defineRule, type Report } from './rule.ts';

/**
 * A distributed training job whose pods are scheduled one by one.
 *
 * ## Why
 *
 * All pods of the job must run before any of them makes progress. The default scheduler starts each pod as soon as a node has room: if the
 * cluster is short of GPUs, some pods hold theirs and wait for the others, and two such jobs can block each other indefinitely. A queue (Kueue) or
 * a gang scheduler (Volcano, KAI, the coscheduling plugin) starts all pods or none.
 *
 * ```yaml invalid
 * apiVersion: kubeflow.org/v1
 * kind: PyTorchJob
 * metadata:
 *   name: pretrain
 * spec:
 *   pytorchReplicaSpecs:
 *     Master:
 *       replicas: 1
 *       template:
 *         spec:
 *           containers:
 *             - name: pytorch
 *               image: registry.example/trainer:1.4
 *               resources: {limits: {nvidia.com/gpu: 8}}
 *     Worker:
 *       replicas: 3
 *       template:
 *         spec:
 *           containers:
 *             - name: pytorch
 *               image: registry.example/trainer:1.4
 *               resources: {limits: {nvidia.com/gpu: 8}}
 * ```
 *
 * ```yaml valid
 * apiVersion: kubeflow.org/v1
 * kind: PyTorchJob
 * metadata:
 *   name: pretrain
 *   labels:
 *     kueue.x-k8s.io/queue-name: research
 * spec:
 *   pytorchReplicaSpecs:
 *     Master:
 *       replicas: 1
 *       template:
 *         spec:
 *           containers:
 *             - name: pytorch
 *               image: registry.example/trainer:1.4
 *               resources: {limits: {nvidia.com/gpu: 8}}
 *     Worker:
 *       replicas: 3
 *       template:
 *         spec:
 *           containers:
 *             - name: pytorch
 *               image: registry.example/trainer:1.4
 *               resources: {limits: {nvidia.com/gpu: 8}}
 * ```
 *
 * A Volcano job whose `schedulerName` is the default scheduler is a warning: only Volcano waits for `minAvailable` pods. A JobSet on several TPU
 * slices of several nodes each that nothing keeps apart is information: pods of two jobs can share a slice, and neither gets a whole one.
 *
 * ## When it is silent
 *
 * With a queue, any mark of a group or another scheduler, except HAMi's, which schedules pods one by one. For elastic jobs, for MPIJobs (their
 * launcher waits) and for benchmarks. For fewer than 4 devices in total: such a job seldom competes with another one.
 *
 * ## Sources
 *
 * - [volcano-sh/volcano#3373](https://github.com/volcano-sh/volcano/issues/3373)
 * - [volcano-sh/volcano#1387](https://github.com/volcano-sh/volcano/issues/1387)
 * - [Project-HAMi/HAMi#1832](https://github.com/Project-HAMi/HAMi/issues/1832)
 * - [JobSet: exclusive placement](https://jobset.sigs.k8s.io/docs/tasks/exclusive_placement/)
 * - [GKE: TPU multislice](https://docs.cloud.google.com/kubernetes-engine/docs/how-to/tpu-multislice)
 * - [Kueue: concepts](https://kueue.sigs.k8s.io/docs/concepts/)
 */
export default defineRule({
  topic: 'gang',
  severity: 'info',
  workload(workload, { report }) {
    reportScheduler(workload, report);
    reportSlices(workload, report);
    if (workload.partial || !hasRole(workload, 'training', 'certain') || isTrial(workload)) return;
    if (!(tightlyCoupled.test(workload.kind) || isIndexedGroup(workload)) || isGrouped(workload)) return;
    const podSets = workload.podSets.filter(requestsAccelerators);
    const pods = podSets.reduce((sum, podSet) => sum + (podSet.pods.min ?? 0), 0);
    const devices = podSets.reduce((sum, podSet) => sum + (podSet.pods.min ?? 0) * devicesOf(podSet), 0);
    if (pods < 2 || devices < 4) return;
    const { root } = workload.manifest;
    report({
      message: `${plural(pods, 'pod')} (${devices} accelerators) only work together but start one by one: without gang scheduling, some can hold GPUs while others wait`,
      span: spanOf(getIn(root, 'metadata', 'name') ?? getIn(root, 'kind') ?? root),
    });
  },
});

/** Reports a scheduler that does not read the group of pods that Volcano's job asks for. A task's own scheduler replaces the job's. */
function reportScheduler({ kind, apiVersion, manifest, podSets }: Workload, report: (found: Report) => void): void {
  if (kind !== 'Job' || !apiVersion.startsWith('batch.volcano.sh/')) return;
  const spec = getIn(manifest.root, 'spec');
  if (isIncomplete(spec) || podSets.reduce((sum, { pods }) => sum + (pods.min ?? 0), 0) < 2) return;
  const [first, ...others] = podSets.filter(requestsAccelerators).map(({ pod }) => {
    const named = getIn(pod, 'schedulerName') ?? getIn(spec, 'schedulerName');
    return named === undefined || isIncomplete(pod) || isUnseen(named) ? undefined : named;
  });
  const name = asText(first) ?? '';
  // Volcano waits for no pods if their tasks say so.
  const tasks = items(getIn(spec, 'tasks')).map((task) => getIn(task, 'minAvailable'));
  const minimum = getIn(spec, 'minAvailable') ?? (tasks.length === 1 ? tasks[0] : undefined);
  if (first === undefined || !onePodAtATime.has(name) || asNumber(minimum) === 1) return;
  if (others.some((other) => asText(other) !== name)) return;
  report({
    severity: 'warning',
    message: `${name} does not know Volcano's groups and starts the pods one by one: some can hold GPUs while others wait; use the scheduler volcano`,
    span: spanOf(first),
  });
}

/** Reports jobs of a JobSet that each need a whole TPU slice of several nodes, if nothing gives each of them its own. */
function reportSlices(workload: Workload, report: (found: Report) => void): void {
  const { kind, manifest, podSets, partial } = workload;
  const metadata = getIn(manifest.root, 'metadata');
  const seen = [metadata, getIn(metadata, 'labels'), getIn(metadata, 'annotations')];
  if (kind !== 'JobSet' || partial || seen.some(isUnseen) || isGrouped(workload)) return;
  for (const job of items(getIn(manifest.root, 'spec', 'replicatedJobs'))) {
    const replicas = getIn(job, 'replicas');
    const count = asNumber(replicas);
    const podSet = podSets.find(({ name }) => name === asText(getIn(job, 'name')));
    const slice = podSet && tpuSlice(podSet);
    const perPod = podSet?.accelerators[0]?.perPod ?? null;
    if (replicas === undefined || count === undefined || count < 2 || podSet === undefined || slice === undefined)
      continue;
    if ([getIn(podSet.pod, 'nodeSelector'), podSet.pod.parent].some(isUnseen)) continue;
    if (perPod === null || slice.chips <= perPod || isIncomplete(job) || isUnseen(getIn(job, 'template'))) continue;
    const marks = [getIn(job, 'template', 'metadata', 'annotations'), getIn(podSet.pod, 'affinity')];
    // Slices in pools with labels of their own are chosen by these labels.
    if (
      marks.some((at) => at !== undefined) ||
      podSet.selectors.some(({ key }) => !/^cloud\.google\.com\/gke-tpu-(?:accelerator|topology)$/.test(key))
    )
      continue;
    report({
      severity: 'info',
      message: `${count} jobs need a ${slice.topology} slice each, but their pods can mix on the slices: set the annotation alpha.jobset.sigs.k8s.io/exclusive-topology`,
      span: spanOf(replicas),
    });
  }
}

/** Kinds whose pods form one process group. */
const tightlyCoupled = /^(?:PyTorchJob|TFJob|JAXJob|PaddleJob|TrainJob|JobSet)$/;

/** Whether the pods of an indexed Job are the ranks of one group. Other Jobs divide work among pods that run alone. */
function isIndexedGroup({ kind, manifest: { root }, podSets }: Workload): boolean {
  if (kind !== 'Job' || asText(getIn(root, 'spec', 'completionMode')) !== 'Indexed') return false;
  return podSets.some(({ containers }) =>
    containers.some(({ command, args, env }) =>
      [...command, ...args, ...env.map(({ name }) => ({ value: name }))].some(({ value }) => namesGroup.test(value)),
    ),
  );
}

const namesGroup = /--(?:nnodes|node[_-]rank|machine[_-]rank|rdzv[_-]endpoint|master[_-]addr)\b|^MASTER_ADDR$/;

function devicesOf({ accelerators }: PodSet): number {
  return accelerators.reduce((sum, { perPod, form }) => sum + (form === 'whole' ? (perPod ?? 0) : 0), 0);
}

const groupWords = partOf('queue gang group exclusive coschedul', 'kai\\. runai volcano provisioning-request');

/** Whether anything in the object names a queue, a scheduler or a group of pods. */
function isGrouped({ manifest, podSets }: Workload): boolean {
  const { root, labels, annotations } = manifest;
  const spec = getIn(root, 'spec');
  if (isIncomplete(spec) || getIn(spec, 'elasticPolicy') !== undefined) return true;
  if (getIn(spec, 'runPolicy', 'schedulingPolicy') !== undefined || getIn(spec, 'suspend') !== undefined) return true;
  const marks = [...labels, ...annotations, ...podSets.flatMap((one) => [...one.labels, ...one.annotations])];
  if (marks.some(({ at }) => groupWords.test(keyOf(at)))) return true;
  // Queued provisioning starts all nodes of a job at once.
  if (podSets.some(({ selectors }) => selectors.some(({ key }) => /queued|flex-start/.test(key)))) return true;
  return podSets.some(
    ({ pod }) =>
      isIncomplete(pod) ||
      !onePodAtATime.has(asText(getIn(pod, 'schedulerName')) ?? 'default-scheduler') ||
      entries(pod).some((entry) => /^workloadRef$|^schedulingGroup$/.test(keyOf(entry))),
  );
}

/** Schedulers that know no groups of pods. HAMi: https://github.com/Project-HAMi/HAMi/issues/1832 */
const onePodAtATime: ReadonlySet<string> = new Set(['default-scheduler', 'hami-scheduler']);
