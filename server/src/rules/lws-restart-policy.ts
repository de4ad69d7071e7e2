import { requestsAccelerators } from '../model/accelerators.ts';
import { lowerCount } from '../model/pod.ts';
import type { PodSet, Workload } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { asString, type Cursor, getIn, keyOf, spanOf } from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import type { YamlNode } from '../yaml/node.ts';
import { defineRule } from './rule.ts';

/**
 * A group of pods that serve one model together is not restarted as a whole.
 *
 * ## Why
 *
 * The pods of a group hold parts of one model and communicate all the time. When one of them restarts, the others wait in a collective
 * operation for ranks that no longer exist: the group hangs and keeps its GPUs. `RecreateGroupOnPodRestart`, the default of a
 * LeaderWorkerSet, restarts the whole group. Other operators have the same choice for their groups, such as `restartPolicy` of a role of a
 * RoleBasedGroup.
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
 * Without a policy (a LeaderWorkerSet recreates the group by default), and for groups of one pod or without accelerators on the workers.
 *
 * ## Sources
 *
 * - [LeaderWorkerSet: API](https://lws.sigs.k8s.io/docs/reference/leaderworkerset.v1/)
 * - [RoleBasedGroup: restart policies](https://github.com/sgl-project/rbg/tree/main/examples/basic/rbg/restart-policy)
 */
export default defineRule({
  topic: 'gang',
  severity: 'warning',
  workload(workload, context) {
    const { kind, podSets, byShape } = workload;
    const policies = byShape ? groupPolicies(podSets) : kind === 'LeaderWorkerSet' ? leaderWorkerPolicy(workload) : [];
    for (const policy of policies) {
      context.report({
        message: `${keyOf(policy)} ${asString(policy)} restarts only the failed pod: the rest of the group hangs and keeps its accelerators`,
        span: spanOf(policy),
        fixes: () => {
          if (byShape) return [];
          const edits = replaceScalar(context.document, policy, 'RecreateGroupOnPodRestart');
          return [fix('Set restartPolicy to RecreateGroupOnPodRestart', 'unsafe', edits)];
        },
      });
    }
  },
});

function leaderWorkerPolicy({ manifest, podSets }: Workload): readonly Cursor[] {
  const template = getIn(manifest.root, 'spec', 'leaderWorkerTemplate');
  const policy = getIn(template, 'restartPolicy');
  const written = asString(policy);
  if (policy === undefined || (written !== 'None' && written !== 'Default')) return [];
  if (lowerCount(getIn(template, 'size'), 1) === 1) return [];
  const worker = podSets.find(({ name }) => name === 'worker');
  return worker !== undefined && requestsAccelerators(worker) ? [policy] : [];
}

/** The policies `None` of groups of several pods, in any kind. A pod's own restart policy has no such value. */
function groupPolicies(podSets: readonly PodSet[]): readonly Cursor[] {
  const found = new Map<YamlNode, Cursor>();
  for (const { pod } of podSets.filter(requestsAccelerators)) {
    let isGroup = false;
    for (let at = pod.parent; at !== undefined; at = at.parent) {
      isGroup ||= (lowerCount(getIn(at, 'size'), 1) ?? 1) > 1 || (lowerCount(getIn(at, 'workerReplicas'), 0) ?? 0) > 0;
      const policy = getIn(at, 'restartPolicy') ?? getIn(at, 'recoveryPolicy');
      if (isGroup && policy !== undefined && asString(policy) === 'None') found.set(policy.node, policy);
    }
  }
  return [...found.values()];
}
