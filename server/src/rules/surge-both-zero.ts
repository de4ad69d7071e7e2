import { usesGpus } from '../evidence/gpu-users.ts';
import { namesAccelerators } from '../model/accelerators.ts';
import { isValues } from '../model/values.ts';
import { fix } from '../rewrite/fix.ts';
import { asText, type Cursor, getIn, isTemplated, spanOf } from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import { defineRule } from './rule.ts';

/**
 * A rolling update that may neither start a new pod nor stop an old one.
 *
 * ## Why
 *
 * With maxSurge 0 and maxUnavailable 0 a rollout can never begin, so the API server rejects the Deployment. On a GPU pool without free
 * nodes, maxSurge 0 with maxUnavailable 1 replaces the pods one by one.
 *
 * ```yaml invalid
 * apiVersion: apps/v1
 * kind: Deployment
 * metadata:
 *   name: server
 * spec:
 *   replicas: 2
 *   strategy:
 *     rollingUpdate:
 *       maxSurge: 0
 *       maxUnavailable: 0
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
 *               nvidia.com/gpu: 1
 * ```
 *
 * ```yaml fixed
 * apiVersion: apps/v1
 * kind: Deployment
 * metadata:
 *   name: server
 * spec:
 *   replicas: 2
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
 *               nvidia.com/gpu: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: which of the two should be 1 depends on whether GPUs are free for one more pod. Both are offered.
 *
 * ## Sources
 *
 * - [Kubernetes: maxUnavailable](https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#max-unavailable)
 */
export default defineRule({
  topic: 'autoscaling',
  severity: 'error',
  workload(workload, context) {
    const { kind, apiVersion, manifest, podSets, role } = workload;
    const isChart = isValues(workload) && role !== 'definition';
    if (!isChart && (kind !== 'Deployment' || !apiVersion.startsWith('apps/'))) return;
    if (!namesAccelerators({ podSets }) && !usesGpus(workload)) return;
    // Charts pass the strategy on unchanged.
    const block = podSets[0]?.pod;
    const strategy = isChart
      ? ['strategy', 'updateStrategy', 'deploymentStrategy']
          .map((key) => getIn(block, key))
          .find((one) => one !== undefined)
      : getIn(manifest.root, 'spec', 'strategy');
    const update = getIn(strategy, 'rollingUpdate');
    const surge = getIn(update, 'maxSurge');
    const unavailable = getIn(update, 'maxUnavailable');
    if (surge === undefined || unavailable === undefined || isTemplated(surge) || isTemplated(unavailable)) return;
    const isZero = (text: string | undefined) => /^0+%?$/.test(text ?? '');
    if (!isZero(asText(surge)) || !isZero(asText(unavailable))) return;
    context.report({
      message: `maxSurge (${asText(surge)}) and maxUnavailable (${asText(unavailable)}) must not both be 0: the API server rejects the Deployment`,
      span: spanOf(unavailable),
      fixes: () => {
        const one = (bound: Cursor, name: string) =>
          fix(`Set ${name} to 1`, 'unsafe', replaceScalar(context.document, bound, 1));
        return [one(unavailable, 'maxUnavailable'), one(surge, 'maxSurge')];
      },
    });
  },
});
