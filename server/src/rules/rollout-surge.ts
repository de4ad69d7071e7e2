import { formatNumber, plural } from '../cost/money.ts';
import type { PodSet } from '../model/workload.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { asText, type Cursor, getIn, isIncomplete, isTemplated, keySpanOf, spanOf } from '../yaml/cursor.ts';
import { insertKey, replaceScalar, setKey } from '../yaml/edit.ts';
import { defineRule } from './rule.ts';

/**
 * A rollout needs many spare accelerators at once.
 *
 * ## Why
 *
 * A rolling update starts new pods before it stops old ones: 25% more by default, and at least one. On a full node pool, the new pods wait
 * for accelerators that the old ones hold, and the rollout stalls. With maxSurge 0 and maxUnavailable 1, each new pod replaces an old one.
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
 * Below eight spare devices, and if maxUnavailable lets old pods stop first.
 *
 * ## Sources
 *
 * - [Kubernetes: rolling updates of a Deployment](https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#rolling-update-deployment)
 * - [defilantech/LLMKube#192](https://github.com/defilantech/LLMKube/issues/192)
 */
export default defineRule({
  topic: 'autoscaling',
  severity: 'info',
  workload({ kind, manifest, podSets, partial, role }, context) {
    const spec = getIn(manifest.root, 'spec');
    const strategy = getIn(spec, 'strategy');
    const [podSet] = podSets;
    if (kind !== 'Deployment' || partial || role === 'infrastructure' || podSet === undefined) return;
    if (
      (asText(getIn(strategy, 'type')) ?? 'RollingUpdate') !== 'RollingUpdate' ||
      isIncomplete(strategy) ||
      isIncomplete(spec)
    )
      return;
    const written = getIn(strategy, 'rollingUpdate', 'maxSurge');
    const replicas = podSet.pods.min;
    const unavailable = getIn(strategy, 'rollingUpdate', 'maxUnavailable');
    if (replicas === null || replicas === 0 || isTemplated(written) || isTemplated(unavailable)) return;
    const surge = podsOf(written, replicas, Math.ceil);
    const stopped = podsOf(unavailable, replicas, Math.floor);
    const devices = devicesOf(podSet);
    // If old pods may stop first, new ones take their places.
    if (surge === null || stopped === null || (stopped > 0 && written === undefined) || devices === null) return;
    if (surge * devices < 8) return;
    const setting = written === undefined ? 'maxSurge defaults to 25%' : `maxSurge is ${asText(written)}`;
    context.report({
      message: `${setting}: a rollout of ${plural(replicas, 'pod')} stalls unless ${formatNumber(surge * devices)} accelerators are free`,
      span:
        written === undefined
          ? keySpanOf(strategy ?? getIn(spec, 'replicas') ?? spec ?? manifest.root)
          : spanOf(written),
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

const oneByOne = 'Set maxSurge to 0 and maxUnavailable to 1';

/** A number of pods, or a percentage of them; 25% by default. */
function podsOf(written: Cursor | undefined, replicas: number, round: (value: number) => number): number | null {
  const text = written === undefined ? '25%' : (asText(written) ?? '');
  const match = /^(\d{1,5})(%?)$/.exec(text);
  if (match === null) return null;
  return match[2] === '%' ? round((replicas * Number(match[1])) / 100) : Number(match[1]);
}

function devicesOf({ accelerators }: PodSet): number | null {
  let sum = 0;
  for (const { devices } of accelerators) {
    if (devices === null) return null;
    sum += devices;
  }
  return sum;
}
