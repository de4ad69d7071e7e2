import { formatNumber, plural } from '../cost/money.ts';
import { roomOf } from '../evidence/pool-machines.ts';
import { rolloutOf, startsFirst } from '../evidence/rollout.ts';
import { placesAt, writtenNumber, writtenText } from '../evidence/written.ts';
import { resourceName } from '../model/requested-resource.ts';
import type { PodSet } from '../model/workload.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { asBoolean, asText, type Cursor, getIn, isUnseen, keySpanOf, spanOf } from '../yaml/cursor.ts';
import { insertKey, replaceScalar, setKey } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type RuleContext } from './rule.ts';

/**
 * A rollout needs many spare accelerators at once.
 *
 * ## Why
 *
 * A rolling update starts new pods before it stops old ones: 25% more by default, and at least one. On a full node pool, the new pods wait
 * for accelerators that the old ones hold, and the rollout stalls. With maxSurge 0 and maxUnavailable 1, each new pod replaces an old one.
 * If the limits of the node pool that the pods select have no room for one more pod, no rollout ever ends (warning).
 * If the pods must run on one named node and use a port of it (`hostPort`, or any port with `hostNetwork`), only one of them can start (warning).
 *
 * ```yaml invalid
 * apiVersion: apps/v1
 * kind: Deployment
 * metadata:
 *   name: server
 * spec:
 *   replicas: 4
 *   strategy:
 *     rollingUpdate:
 *       maxSurge: 50%
 *       maxUnavailable: 1
 *   selector:
 *     matchLabels: {app: server}
 *   template:
 *     metadata:
 *       labels: {app: server}
 *     spec:
 *       containers:
 *         - name: main
 *           image: registry.example/server:0.9.2
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 8
 * ```
 *
 * ```yaml fixed
 * apiVersion: apps/v1
 * kind: Deployment
 * metadata:
 *   name: server
 * spec:
 *   replicas: 4
 *   strategy:
 *     rollingUpdate:
 *       maxSurge: 0
 *       maxUnavailable: 1
 *   selector:
 *     matchLabels: {app: server}
 *   template:
 *     metadata:
 *       labels: {app: server}
 *     spec:
 *       containers:
 *         - name: main
 *           image: registry.example/server:0.9.2
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 8
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: one replica fewer serves during a rollout; with one replica, none serves until the new one is ready.
 *
 * ## When it is silent
 *
 * Below eight spare devices, unless the pods must run on one named node or use a port of their node, and if maxUnavailable lets old pods stop first.
 *
 * ## Sources
 *
 * - [defilantech/LLMKube#192](https://github.com/defilantech/LLMKube/issues/192)
 * - [Kubernetes: rolling updates of a Deployment](https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#rolling-update-deployment)
 * - [defilantech/LLMKube#192](https://github.com/defilantech/LLMKube/issues/192)
 */
export default defineRule({
  topic: 'autoscaling',
  severity: 'info',
  workload(workload, context) {
    const rollout = rolloutOf(workload);
    const { manifest, podSets, role } = workload;
    const [podSet] = podSets;
    if (rollout === undefined || role === 'infrastructure' || podSet === undefined) return;
    const { replicas, surge, stopped, strategy, written, unavailable } = rollout;
    if (checkHostPort(podSet, replicas, startsFirst(rollout), context)) return;
    const spec = getIn(manifest.root, 'spec');
    const devices = devicesOf(podSet);
    const where = keySpanOf(strategy ?? getIn(spec, 'replicas') ?? spec ?? manifest.root);
    const room =
      startsFirst(rollout) && isWhole(podSet) && devices ? roomOf(podSet, context.crossReferences) : undefined;
    if (room !== undefined && devices && replicas * devices <= room.most && (replicas + 1) * devices > room.most) {
      context.report({
        severity: 'warning',
        message: `${room.whose} may have only ${plural(room.most, 'GPU')}: the new pod of a rollout waits for what the old one holds; set maxSurge to 0 and maxUnavailable to 1`,
        span: where,
        fixes: () => [insertStrategy()],
      });
      return;
    }
    // If old pods may stop first, new ones take their places.
    if (surge === null || stopped === null || (stopped > 0 && written === undefined) || !devices) return;
    const host = startsFirst(rollout) ? hostOf(podSet) : undefined;
    if (surge * devices < 8 && host === undefined) return;
    const setting = written === undefined ? 'maxSurge defaults to 25%' : `maxSurge is ${asText(written)}`;
    context.report({
      message: `${setting}: a rollout of ${plural(replicas, 'pod')} stalls unless ${host === undefined ? `${formatNumber(surge * devices)} accelerators are free` : `node ${host} has ${plural(surge * devices, 'more free accelerator')}`}`,
      span: written === undefined ? where : spanOf(written),
      fixes: () => [written === undefined ? insertStrategy() : changeStrategy(written)],
    });

    function insertStrategy(): Fix | undefined {
      if (strategy !== undefined) return undefined;
      const rollingUpdate = { maxSurge: 0, maxUnavailable: 1 };
      const edits = insertKey(context.document, spec, 'strategy', { type: 'RollingUpdate', rollingUpdate });
      return fix(oneByOne, 'unsafe', edits);
    }

    function changeStrategy(surgeAt: Cursor): Fix | undefined {
      const noSurge = replaceScalar(context.document, surgeAt, 0);
      if (unavailable !== undefined && stopped !== null && stopped > 0)
        return fix('Set maxSurge to 0', 'unsafe', noSurge);
      const oneStopped = setKey(context.document, surgeAt.parent, 'maxUnavailable', 1);
      return fix(oneByOne, 'unsafe', noSurge, oneStopped);
    }
  },
});

/** Reports a port of the node that the new pod of a rollout needs while the old one has it, or several pods of one node. */
function checkHostPort(podSet: PodSet, replicas: number, starts: boolean, { report }: RuleContext): boolean {
  const { pod, accelerators } = podSet;
  const fixed = getIn(pod, 'nodeName');
  const host = hostOf(podSet) ?? writtenText(fixed);
  if (accelerators.length === 0 || (!starts && (replicas < 2 || host === undefined))) return false;
  const shared = asBoolean(getIn(pod, 'hostNetwork')) === true ? 'containerPort' : 'hostPort';
  const [at] = placesAt(pod, `containers.*.ports.*.${shared}`);
  const port = writtenNumber(at);
  if (at === undefined || port === undefined || port < 1) return false;
  if (host === undefined) {
    // Several pods are already on several nodes.
    if (replicas > 1) return false;
    report({
      message: `Port ${port} of the node is in use until the old pod stops: a rollout stalls unless another node has a free accelerator; Recreate stops it first`,
      span: spanOf(at),
    });
    return true;
  }
  const problem = replicas > 1 ? `only one of ${replicas} pods can use` : 'the new pod of a rollout never gets';
  report({
    severity: 'warning',
    message: `All pods must run on node ${shorten(host, 30)}, where ${problem} port ${port}${replicas > 1 ? '' : ': use strategy Recreate'}`,
    span: spanOf(at),
  });
  return true;
}

const oneByOne = 'Set maxSurge to 0 and maxUnavailable to 1';

/** The one node on which all pods must run: only its own accelerators can be free. */
function hostOf({ selectors }: PodSet): string | undefined {
  const [host, ...others] = selectors.find(({ key }) => key === 'kubernetes.io/hostname')?.values ?? [];
  return host === undefined || others.length > 0 || isUnseen(host.at) ? undefined : shorten(host.value, 30);
}

function isWhole({ accelerators }: PodSet): boolean {
  return accelerators.every(
    ({ form, perPod, devices, requested }) =>
      form === 'whole' && perPod === devices && resourceName(requested) === 'nvidia.com/gpu',
  );
}

function devicesOf({ accelerators }: PodSet): number | null {
  let sum = 0;
  for (const { devices } of accelerators) {
    if (devices === null) return null;
    sum += devices;
  }
  return sum;
}
