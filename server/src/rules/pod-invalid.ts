import { isPodSpec, ownContainers, rejectionOf } from '../evidence/rejection.ts';
import { isSet, isUnknown, placesAt, writtenNumber, writtenText } from '../evidence/written.ts';
import { subdomain } from '../model/api-syntax.ts';
import { groupOf } from '../model/manifest.ts';
import type { PodSet } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { asBoolean, getIn, isIncomplete, items, keyOf, keySpanOf, spanOf } from '../yaml/cursor.ts';
import { removeKey, replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * Pod fields that cannot be combined with each other or with the pod's controller.
 *
 * ## Why
 *
 * A pod has at least one container. `dnsPolicy: None` needs a name server in `dnsConfig`, and a pod with its own user namespace (`hostUsers: false`)
 * cannot use the namespaces of the host. A container whose pod is never restarted cannot have a `resizePolicy` that restarts it. The pods of a Deployment or a StatefulSet run until they are replaced, so they have no
 * `activeDeadlineSeconds`; that of a Job belongs to the Job. The API server rejects the object otherwise.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
 *   hostUsers: false
 *   hostNetwork: true
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:1.4
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 8
 * ```
 *
 * ```yaml fixed
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
 *   hostNetwork: true
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:1.4
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 8
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: only the author knows which of two fields is meant.
 *
 * ## When it is silent
 *
 * For templates and patches.
 *
 * ## Sources
 *
 * - [Kubernetes: PodSpec](https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#PodSpec)
 * - [Kubernetes: user namespaces](https://kubernetes.io/docs/concepts/workloads/pods/user-namespaces/)
 */
export default defineRule({
  topic: 'other',
  severity: 'error',
  judgesWords: true,
  podSet(podSet, context) {
    // The branches of a template may be alternatives.
    if (!isPodSpec(podSet, context.workload) || context.document.template) return;
    checkHost(podSet, context);
    checkNames(podSet, context);
    checkDeadline(podSet, context);
    checkPriority(podSet, context);
    checkDebuggers(podSet, context);
    checkAliases(podSet, context);
    checkGates(podSet, context);
    checkResize(podSet, context);
  },
});

/** A pod that is never restarted has no container to restart when its resources change. */
function checkResize({ pod }: PodSet, { report, document, workload }: PodSetContext): void {
  if (writtenText(getIn(pod, 'restartPolicy')) !== 'Never') return;
  for (const list of ['containers', 'initContainers']) {
    for (const policy of placesAt(pod, `${list}.*.resizePolicy.*.restartPolicy`)) {
      if (writtenText(policy) !== 'RestartContainer') continue;
      report({
        message: `resizePolicy RestartContainer contradicts restartPolicy Never: ${rejectionOf(workload)}`,
        span: spanOf(policy),
        fixes: () => [fix('Change to NotRequired', 'unsafe', replaceScalar(document, policy, 'NotRequired'))],
      });
    }
  }
}

/** A gate keeps the scheduler from choosing the node that is already chosen. */
function checkGates({ pod }: PodSet, { report, document, workload }: PodSetContext): void {
  const node = getIn(pod, 'nodeName');
  // A pod on a node, as kubectl prints it, has no gates any more.
  if (workload.kind !== 'Pod' || !isSet(node) || isUnknown(node) || items(getIn(pod, 'schedulingGates')).length === 0)
    return;
  report({
    message: `nodeName must not be set together with schedulingGates: ${rejectionOf(workload)}`,
    span: keySpanOf(node),
    fixes: () => [fix('Remove nodeName', 'unsafe', removeKey(document, node))],
  });
}

function checkHost({ pod }: PodSet, { report, document, workload }: PodSetContext): void {
  const users = getIn(pod, 'hostUsers');
  const host = ['hostNetwork', 'hostPID', 'hostIPC'].flatMap((key) => getIn(pod, key) ?? []);
  const other = host.find((field) => asBoolean(field) === true);
  if (users === undefined || asBoolean(users) !== false || other === undefined) return;
  report({
    message: `hostUsers: false contradicts ${keyOf(other)}: true: ${rejectionOf(workload)}`,
    span: keySpanOf(users),
    fixes: () => [users, other].map((field) => fix(`Remove ${keyOf(field)}`, 'unsafe', removeKey(document, field))),
  });
}

function checkNames({ pod }: PodSet, { report, workload }: PodSetContext): void {
  const policy = getIn(pod, 'dnsPolicy');
  const servers = getIn(pod, 'dnsConfig', 'nameservers');
  if (policy !== undefined && writtenText(policy) === 'None' && items(servers).length === 0) {
    if (!workload.partial && !isIncomplete(servers) && !isUnknown(servers)) {
      report({
        message: `dnsPolicy None requires nameservers in dnsConfig: ${rejectionOf(workload)}`,
        span: spanOf(policy),
      });
    }
  }
  const list = getIn(pod, 'containers');
  if (list?.node.kind !== 'seq' || list.node.items.length > 0 || isIncomplete(list)) return;
  // An operator adds its own: Dynamo the main one.
  if (ownContainers(pod, workload).length > 0) return;
  report({ message: `A pod needs at least one container: ${rejectionOf(workload)}`, span: keySpanOf(list) });
}

/** They are added to a running pod; an exported pod has them, and its status. */
function checkDebuggers({ pod }: PodSet, { report, workload }: PodSetContext): void {
  const list = getIn(pod, 'ephemeralContainers');
  const running = pod.parent !== undefined && getIn(pod.parent, 'status') !== undefined;
  if (list === undefined || items(list).length === 0 || running || workload.partial) return;
  report({
    message: `ephemeralContainers can only be added to a running pod: ${rejectionOf(workload)}`,
    span: keySpanOf(list),
  });
}

function checkAliases({ pod }: PodSet, { report, workload }: PodSetContext): void {
  for (const ip of placesAt(pod, 'hostAliases.*.ip')) {
    const written = writtenText(ip);
    if (written === undefined || !(isHostName(written) || hasLargePart(written))) continue;
    report({
      message: `ip of an alias must be an IP address, not "${shorten(written, 40)}": ${rejectionOf(workload)}`,
      span: spanOf(ip),
    });
  }
}

/** Whether a text has the form of a host name and no address. An `x` stands for any number. */
function isHostName(text: string): boolean {
  return subdomain.syntax.test(text) && /[a-z]/.test(text) && !/(?:^|\.)x+(?:\.|$)/.test(text);
}

/** Whether a text has the form of an IPv4 address, but a number above 255. */
function hasLargePart(text: string): boolean {
  const parts = text.split('.');
  return (
    parts.length === 4 && parts.every((part) => /^\d{1,3}$/.test(part)) && parts.some((part) => Number(part) > 255)
  );
}

/** An admission plugin computes the number from the class. */
function checkPriority({ pod }: PodSet, { report, document, workload }: PodSetContext): void {
  const priority = getIn(pod, 'priority');
  const number = writtenNumber(priority);
  if (priority === undefined || number === undefined || number === 0) return;
  if (getIn(pod, 'priorityClassName') !== undefined || workload.partial) return;
  report({
    message: `priority ${number} must come from a priorityClassName: the API server rejects the pod`,
    span: keySpanOf(priority),
    fixes: () => [fix('Remove priority', 'unsafe', removeKey(document, priority))],
  });
}

function checkDeadline({ pod }: PodSet, { report, document, workload }: PodSetContext): void {
  const deadline = getIn(pod, 'activeDeadlineSeconds');
  if (groupOf(workload.apiVersion) !== 'apps' || !isSet(deadline)) return;
  report({
    message: `The pods of a ${workload.kind} must not have activeDeadlineSeconds: ${rejectionOf(workload)}`,
    span: keySpanOf(deadline),
    fixes: () => [fix('Remove activeDeadlineSeconds', 'unsafe', removeKey(document, deadline))],
  });
}
