import { plural } from '../cost/format.ts';
import { lowerCount } from '../model/pod.ts';
import { asNumber, at, type Cursor, isOpen, items, spanOf } from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import { defineRule } from './rule.ts';

/**
 * A Volcano job waits for more pods than it has.
 *
 * ## Why
 *
 * Volcano starts a gang when `minAvailable` pods can run together. With fewer pods than that the webhook refuses the job; where it
 * does not look, the gang never starts.
 *
 * ```yaml invalid
 * apiVersion: batch.volcano.sh/v1alpha1
 * kind: Job
 * metadata:
 *   name: train
 * spec:
 *   minAvailable: 5
 *   tasks:
 *     - name: worker
 *       replicas: 4
 *       template:
 *         spec:
 *           containers:
 *             - name: main
 *               image: registry.example/trainer:1.4
 *               resources:
 *                 limits:
 *                   nvidia.com/gpu: 1
 * ```
 *
 * ```yaml fixed
 * apiVersion: batch.volcano.sh/v1alpha1
 * kind: Job
 * metadata:
 *   name: train
 * spec:
 *   minAvailable: 4
 *   tasks:
 *     - name: worker
 *       replicas: 4
 *       template:
 *         spec:
 *           containers:
 *             - name: main
 *               image: registry.example/trainer:1.4
 *               resources:
 *                 limits:
 *                   nvidia.com/gpu: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: more replicas may have been meant.
 *
 * ## When it is silent
 *
 * With a number below the pods: that is Volcano's elastic mode.
 *
 * ## Sources
 *
 * - [volcano-sh/volcano: validation of jobs](https://github.com/volcano-sh/volcano/blob/master/pkg/webhooks/admission/jobs/validate/admit_job.go)
 * - [volcano-sh/volcano#1959](https://github.com/volcano-sh/volcano/issues/1959)
 */
export default defineRule({
  topic: 'gang',
  severity: 'error',
  workload({ kind, apiVersion, manifest }, context) {
    if (kind !== 'Job' || !apiVersion.startsWith('batch.volcano.sh/')) return;
    const spec = at(manifest.root, 'spec');
    const tasks = at(spec, 'tasks');
    if (tasks === undefined || isOpen(spec) || isOpen(tasks)) return;
    const pods = items(tasks).map((task) => lowerCount(at(task, 'replicas'), 1));
    for (const [index, task] of items(tasks).entries()) {
      const most = pods[index] ?? null;
      check(at(task, 'minAvailable'), most, 'the task has');
    }
    const all = pods.reduce<number | null>((sum, count) => (sum === null || count === null ? null : sum + count), 0);
    if (pods.length > 0) check(at(spec, 'minAvailable'), all, 'its tasks have');

    function check(written: Cursor | undefined, most: number | null, owner: string): void {
      const asked = asNumber(written);
      if (written === undefined || asked === undefined || most === null || asked <= most) return;
      context.report({
        message: `minAvailable is ${asked}, but ${owner} ${plural(most, 'pod')}: the job is refused, or never starts`,
        span: spanOf(written),
        fixes: () => {
          const edits = written.shared ? undefined : replaceScalar(context.document, written, most);
          return [edits && { title: `Set minAvailable to ${most}`, safe: false, edits }];
        },
      });
    }
  },
});
