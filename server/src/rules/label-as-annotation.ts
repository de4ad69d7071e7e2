import { wordSet } from '../catalog/word-patterns.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import type { PodSet, Workload } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { asBoolean, type Cursor, entries, getIn, isIncomplete, isUnseen, keyOf, keySpanOf } from '../yaml/cursor.ts';
import { insertKey, renameKey } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { table } from '../yaml/table.ts';
import { defineRule } from './rule.ts';

/**
 * A scheduler's label is misspelled, written as an annotation, only on the pods of a suspended job, or for a scheduler that the pods do not name.
 *
 * ## Why
 *
 * KAI, Run:ai, Kueue and the coscheduling plugin read the queue, the priority and the group of a workload from its labels. Under `annotations`,
 * the same key is accepted and has no effect. Kueue starts a suspended job only if the job itself has the label of the queue: in the pod
 * template, the label is never seen. A label with a similar name, such as `kueue.x-k8s.io/queue`, is accepted and ignored.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: tune
 *   annotations:
 *     kai.scheduler/queue: research
 * spec:
 *   schedulerName: kai-scheduler
 *   containers:
 *     - name: tune
 *       image: registry.example/tune:1.4
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml fixed
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: tune
 *   labels:
 *     kai.scheduler/queue: research
 * spec:
 *   schedulerName: kai-scheduler
 *   containers:
 *     - name: tune
 *       image: registry.example/tune:1.4
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the workload then waits in the queue, or with its group.
 *
 * ## When it is silent
 *
 * If the object or its pods also have the label, for workloads without accelerators, and for `kueue.x-k8s.io/queue-name`, which Kueue also
 * reads from annotations. For suspended CronJobs and workflows, which Kueue does not start.
 *
 * ## Sources
 *
 * - [KAI Scheduler: quick start](https://github.com/kai-scheduler/KAI-Scheduler/blob/main/docs/quickstart/README.md)
 * - [Kueue: labels and annotations](https://kueue.sigs.k8s.io/docs/reference/labels-and-annotations/)
 * - [Scheduler plugins: coscheduling](https://github.com/kubernetes-sigs/scheduler-plugins/blob/master/pkg/coscheduling/README.md)
 */
export default defineRule({
  topic: 'quota',
  severity: 'warning',
  workload(workload, { document, report }) {
    const { manifest, podSets } = workload;
    if (!podSets.some(requestsAccelerators)) return;
    const unseen = isSuspended(workload) ? labelOfPods(workload) : undefined;
    if (unseen !== undefined) {
      report({
        message: `Kueue reads ${queueName} of the ${workload.kind}, not of its pods: without a default queue, the job stays suspended; move the label to metadata`,
        span: keySpanOf(unseen),
      });
    }
    for (const { at } of workload.partial ? [] : manifest.labels) {
      const meant = meantLabel(keyOf(at));
      if (meant === undefined || manifest.labels.some((other) => keyOf(other.at) === meant)) continue;
      report({
        message: `No scheduler reads the label ${shorten(keyOf(at), 40)}; did you mean ${meant}? Without it, no queue manages the ${workload.kind}`,
        span: keySpanOf(at),
        fixes: () => [fix(`Rename to ${meant}`, 'unsafe', renameKey(document, at, meant))],
      });
    }
    for (const podSet of podSets) {
      const found = unnamedScheduler(podSet, workload);
      if (found === undefined) continue;
      report({
        message: `${keyOf(found.at)} needs schedulerName ${found.scheduler}: unless a webhook sets it, the default scheduler starts the pod`,
        span: keySpanOf(found.at),
        fixes: () => [
          fix(
            `Set schedulerName to ${found.scheduler}`,
            'unsafe',
            insertKey(document, podSet.pod, 'schedulerName', found.scheduler),
          ),
        ],
      });
    }
    const written = [
      ...entries(getIn(manifest.root, 'metadata', 'annotations')),
      ...podSets.flatMap(({ annotations }) => annotations.map(({ at }) => at)),
    ].filter((entry) => onlyLabels.has(keyOf(entry)));
    if (written.length === 0) return;
    const labels = new Set([manifest, ...podSets].flatMap((owner) => owner.labels.map(({ at }) => keyOf(at))));
    // The annotations of a Pod are those of the object.
    for (const [node, at] of new Map(written.map((entry) => [entry.node, entry]))) {
      if (node.kind !== 'scalar' || labels.has(keyOf(at))) continue;
      report({
        message: `${keyOf(at)} has no effect as an annotation: its scheduler reads only the label; move it to labels`,
        span: keySpanOf(at),
        // Other annotations stay, also those that a template adds.
        fixes: () =>
          entries(at.parent).length === 1 && !isIncomplete(at.parent)
            ? [fix('Rename annotations to labels', 'unsafe', renameKey(document, at.parent, 'labels'))]
            : [],
      });
    }
  },
});

/** The label of a queue for which another name in its domain is mistaken. Kueue itself labels pods with `local-queue-name` and `cluster-queue-name`. */
function meantLabel(key: string): string | undefined {
  const [, domain, name = ''] = /^(?:(kueue|kai)[\w.-]*)\/([\w.-]+)$/.exec(key) ?? [];
  const letters = name.toLowerCase().replace(/[-_.]/g, '');
  if (domain === undefined || !/^(?:local)?queue(?:name)?$/.test(letters) || /^local-queue-name$/.test(name))
    return undefined;
  const meant = domain === 'kueue' ? queueName : 'kai.scheduler/queue';
  return key === meant ? undefined : meant;
}

/** Marks of a built-in kind for a scheduler, by their keys. Operators name the scheduler themselves, and so does Run:ai. */
const schedulers = table<string>({
  'scheduling.volcano.sh/queue-name': 'volcano',
  'scheduling.volcano.sh/group-min-member': 'volcano',
  'kai.scheduler/queue': 'kai-scheduler',
});

function unnamedScheduler({ annotations, labels, pod }: PodSet, { apiVersion, manifest, partial }: Workload) {
  const owners = [pod, pod.parent, getIn(manifest.root, 'metadata')];
  if (partial || !/^(?:v1|apps\/v1|batch\/v1)$/.test(apiVersion) || owners.some(isUnseen)) return undefined;
  if (getIn(pod, 'schedulerName') !== undefined) return undefined;
  // fraction-annotations reports these.
  if (annotations.some(({ at }) => /^gpu-(?:fraction|memory)$/.test(keyOf(at)))) return undefined;
  const isKai = (at: Cursor) => keyOf(at).startsWith('kai.');
  const marks = [
    ...[...annotations, ...manifest.annotations].map(({ at }) => at).filter((at) => !isKai(at)),
    ...labels.map(({ at }) => at).filter(isKai),
  ];
  const at = marks.find((one) => schedulers[keyOf(one)] !== undefined);
  return at === undefined ? undefined : { at, scheduler: schedulers[keyOf(at)] ?? '' };
}

const queueName = 'kueue.x-k8s.io/queue-name';

/** Whether Kueue starts a job. Of workflows, it queues the pods, and a CronJob suspends only its schedule. */
function isSuspended({ apiVersion, kind, manifest }: Workload): boolean {
  if (!/^(?:batch|jobset|.*kubeflow|ray|workload\.codeflare)\b/.test(apiVersion) || /^(?:Cron|Scheduled)/.test(kind))
    return false;
  const spec = getIn(manifest.root, 'spec');
  return asBoolean(getIn(spec, 'suspend') ?? getIn(spec, 'runPolicy', 'suspend')) === true;
}

/** The label of a queue that only the pods have. */
function labelOfPods({ manifest, partial, podSets }: Workload): Cursor | undefined {
  const metadata = getIn(manifest.root, 'metadata');
  const marks = [getIn(metadata, 'labels'), getIn(metadata, 'annotations')];
  if (partial || [metadata, ...marks].some(isUnseen)) return undefined;
  if (marks.some((mark) => entries(mark).some((entry) => keyOf(entry) === queueName))) return undefined;
  return podSets.flatMap(({ labels }) => labels.map(({ at }) => at)).find((at) => keyOf(at) === queueName);
}

const onlyLabels = wordSet(
  'kai.scheduler/queue runai/queue kueue.x-k8s.io/priority-class kueue.x-k8s.io/pod-group-name scheduling.x-k8s.io/pod-group',
);
