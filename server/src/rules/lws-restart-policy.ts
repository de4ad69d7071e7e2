import { requestsAccelerators } from '../model/accelerators.ts';
import { lowerCount } from '../model/pod.ts';
import { fix } from '../rewrite/fix.ts';
import { asString, getIn, spanOf } from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import { defineRule } from './rule.ts';

/**
 * A LeaderWorkerSet does not restart a group as a whole.
 *
 * ## Why
 *
 * The pods of a group hold parts of one model and communicate all the time. When one of them restarts, the others wait in a collective
 * call for ranks that are gone: the group hangs and keeps its GPUs. `RecreateGroupOnPodRestart`, the default, restarts the whole group.
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
 * Unsafe: the restart of one pod then interrupts the whole group.
 *
 * ## When it is silent
 *
 * Without a policy (the default recreates the group), and for groups of one pod or without accelerators on the workers.
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
      message: `restartPolicy ${written} restarts only the failed pod: the rest of the group hangs and keeps its accelerators`,
      span: spanOf(policy),
      fixes: () => {
        const edits = replaceScalar(context.document, policy, 'RecreateGroupOnPodRestart');
        return [fix('Set restartPolicy to RecreateGroupOnPodRestart', 'unsafe', edits)];
      },
    });
  },
});
