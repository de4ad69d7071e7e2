import { wordSet } from '../catalog/word-patterns.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { fix } from '../rewrite/fix.ts';
import { entries, getIn, isIncomplete, keyOf, keySpanOf } from '../yaml/cursor.ts';
import { renameKey } from '../yaml/edit.ts';
import { defineRule } from './rule.ts';

/**
 * A scheduler's label is written as an annotation.
 *
 * ## Why
 *
 * KAI, Run:ai, Kueue and the coscheduling plugin read the queue, the priority and the group of a workload from its labels. Under
 * `annotations`, the same key is accepted and has no effect.
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
 * reads from annotations.
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
  workload({ manifest, podSets }, { document, report }) {
    if (!podSets.some(requestsAccelerators)) return;
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

const onlyLabels = wordSet(
  'kai.scheduler/queue runai/queue kueue.x-k8s.io/priority-class kueue.x-k8s.io/pod-group-name scheduling.x-k8s.io/pod-group',
);
