import { requestsAccelerators } from '../model/accelerators.ts';
import { lowerCount } from '../model/pod.ts';
import { fix } from '../rewrite/fix.ts';
import { asString, getIn, spanOf } from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import { defineRule } from './rule.ts';

/**
 * A LeaderWorkerSet does not restart a group as one.
 *
 * ## Why
 *
 * The pods of a group hold parts of one model and talk to each other all the time. When one of them restarts, the others wait in a
 * collective call for ranks that are gone: the group holds its GPUs and hangs. `RecreateGroupOnPodRestart`, which is the default,
 * starts it anew.
 *
 * ```yaml invalid
 * apiVersion: leaderworkerset.x-k8s.io/v1
 * kind: LeaderWorkerSet
 * metadata:
 *   name: llm
 * spec:
 *   leaderWorkerTemplate:
 *     size: 2
 *     restartPolicy: None
 *     workerTemplate:
 *       spec:
 *         containers:
 *           - name: main
 *             image: registry.example/server:3.2
 *             resources:
 *               limits:
 *                 nvidia.com/gpu: 8
 * ```
 *
 * ```yaml fixed
 * apiVersion: leaderworkerset.x-k8s.io/v1
 * kind: LeaderWorkerSet
 * metadata:
 *   name: llm
 * spec:
 *   leaderWorkerTemplate:
 *     size: 2
 *     restartPolicy: RecreateGroupOnPodRestart
 *     workerTemplate:
 *       spec:
 *         containers:
 *           - name: main
 *             image: registry.example/server:3.2
 *             resources:
 *               limits:
 *                 nvidia.com/gpu: 8
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: a restart of one pod then takes the whole group down for a moment.
 *
 * ## When it is silent
 *
 * Where nothing is written (the default recreates the group), and for groups of one pod or without accelerators on the workers.
 *
 * ## Sources
 *
 * - [LeaderWorkerSet: API](https://lws.sigs.k8s.io/docs/reference/leaderworkerset.v1/)
 */
export default defineRule({
  topic: 'gang',
  severity: 'warning',
  workload({ kind, manifest, podSets }, context) {
    if (kind !== 'LeaderWorkerSet') return;
    const template = getIn(manifest.root, 'spec', 'leaderWorkerTemplate');
    const policy = getIn(template, 'restartPolicy');
    const written = asString(policy);
    if (policy === undefined || (written !== 'None' && written !== 'Default')) return;
    if (lowerCount(getIn(template, 'size'), 1) === 1) return;
    const worker = podSets.find(({ name }) => name === 'worker');
    if (worker === undefined || !requestsAccelerators(worker)) return;
    context.report({
      message: `restartPolicy ${written}: when one pod restarts, the rest of its group waits for it for ever, with its GPUs`,
      span: spanOf(policy),
      fixes: () => {
        const edits = replaceScalar(context.document, policy, 'RecreateGroupOnPodRestart');
        return [fix('Recreate the group when a pod restarts', 'unsafe', edits)];
      },
    });
  },
});
