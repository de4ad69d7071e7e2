import { isPodSpec, rejectionOf } from '../evidence/rejection.ts';
import { writtenText } from '../evidence/written.ts';
import { kindOf } from '../model/kinds/index.ts';
import { groupOf } from '../model/manifest.ts';
import type { PodSet } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { type Cursor, getIn, isIncomplete, isNull, isTemplated, keySpanOf, spanOf } from '../yaml/cursor.ts';
import { replaceScalar, setKey } from '../yaml/edit.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * The restartPolicy of a pod template is one that its controller does not allow or ignores.
 *
 * ## Why
 *
 * The pods of a Deployment, StatefulSet, DaemonSet or ReplicaSet always restart. Those of a Job must not: they end, so the Job requires `Never`
 * or `OnFailure` in its pod template, and the default, `Always`, is not allowed. The API server rejects the object. In the jobs of Kubeflow's
 * training operator, the policy of a role replaces that of its pods (warning; information if it is the default): a pod that should run once restarts, or the reverse.
 *
 * ```yaml invalid
 * apiVersion: batch/v1
 * kind: Job
 * metadata:
 *   name: trainer
 * spec:
 *   template:
 *     spec:
 *       restartPolicy: Always
 *       containers:
 *         - name: main
 *           image: registry.example/trainer:1.4
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 1
 * ```
 *
 * ```yaml fixed
 * apiVersion: batch/v1
 * kind: Job
 * metadata:
 *   name: trainer
 * spec:
 *   template:
 *     spec:
 *       restartPolicy: OnFailure
 *       containers:
 *         - name: main
 *           image: registry.example/trainer:1.4
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe for a Job: only the author knows whether a failed pod restarts in place. Safe for the others, which allow only `Always`.
 *
 * ## When it is silent
 *
 * In patches and for templates. A policy outside the pod template is reported as an unknown field.
 *
 * ## Sources
 *
 * - [Kubernetes: Job](https://kubernetes.io/docs/concepts/workloads/controllers/job/#pod-template)
 * - [Kubeflow: SetRestartPolicy](https://github.com/kubeflow/trainer/blob/v1.9.4/pkg/core/pod.go)
 * - [Kubernetes: pod template of a Deployment](https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#pod-template)
 */
export default defineRule({
  topic: 'other',
  severity: 'error',
  judgesWords: true,
  podSet(podSet, context) {
    const { kind, apiVersion } = context.workload;
    if (!isPodSpec(podSet, context.workload)) return;
    const policy = getIn(podSet.pod, 'restartPolicy');
    if (isTemplated(policy)) return;
    const group = groupOf(apiVersion);
    if (group === 'kubeflow.org') checkRole(policy, podSet, context);
    else if (group === 'batch') checkJob(policy, podSet, context);
    else if ((group === 'apps' || kind === 'ReplicationController') && policy !== undefined) {
      const written = writtenText(policy);
      if (written !== 'Never' && written !== 'OnFailure') return;
      context.report({
        message: `restartPolicy of a ${kind} must be Always, not ${written}: the API server rejects the ${kind}`,
        span: spanOf(policy),
        fixes: () => [fix('Set restartPolicy to Always', 'safe', replaceScalar(context.document, policy, 'Always'))],
      });
    }
  },
});

/** Reports a policy that that of the pod's role replaces. The operator only writes an event. */
function checkRole(policy: Cursor | undefined, { pod }: PodSet, { workload, document, report }: PodSetContext): void {
  const byDefault = kindOf(workload).roleRestarts;
  const role = pod.parent?.parent;
  const own = getIn(role, 'restartPolicy');
  const written = writtenText(policy);
  if (byDefault === undefined || policy === undefined || role === undefined || written === undefined) return;
  if (workload.partial || isIncomplete(role) || isTemplated(own) || !/^(?:Always|OnFailure|Never)$/.test(written))
    return;
  // The launcher of MPIJob v2 has another default than its workers.
  if (own === undefined && workload.kind === 'MPIJob') return;
  const text = own === undefined ? byDefault : (writtenText(own) ?? '');
  if (text === '' || written === (text === 'ExitCode' ? 'Never' : text)) return;
  report({
    severity: own === undefined ? 'info' : 'warning',
    message: `restartPolicy ${written} of the pod is ignored: that of its role in the ${workload.kind} applies (${text}${own === undefined ? ' by default' : ''})`,
    span: spanOf(policy),
    fixes: () =>
      own === undefined
        ? [
            fix(
              `Set restartPolicy of the role to ${written}`,
              'unsafe',
              setKey(document, role, 'restartPolicy', written),
            ),
          ]
        : [],
  });
}

function checkJob(policy: Cursor | undefined, { pod }: PodSet, context: PodSetContext): void {
  const { workload, document, report } = context;
  const { kind, partial } = workload;
  if (policy !== undefined && !isNull(policy)) {
    if (writtenText(policy) !== 'Always') return;
    report({
      message: `restartPolicy of a Job must be OnFailure or Never, not Always: ${rejectionOf(workload)}`,
      span: spanOf(policy),
      fixes: () =>
        ['OnFailure', 'Never'].map((value) =>
          fix(`Set restartPolicy to ${value}`, 'unsafe', replaceScalar(document, policy, value)),
        ),
    });
    return;
  }
  const template = pod.parent;
  const misplaced = [template, template?.parent].some((owner) => getIn(owner, 'restartPolicy') !== undefined);
  if (partial || isIncomplete(pod) || misplaced || pod.step !== 'spec') return;
  report({
    message: `${kind} requires restartPolicy OnFailure or Never in its pod template: ${rejectionOf(workload)}`,
    span: keySpanOf(policy ?? pod),
    fixes: () =>
      ['OnFailure', 'Never'].map((value) =>
        fix(`Set restartPolicy to ${value}`, 'unsafe', setKey(document, pod, 'restartPolicy', value)),
      ),
  });
}
