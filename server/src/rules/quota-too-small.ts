import type { QuotaFacts, Referenced } from '../model/cross-references.ts';
import { resourceName } from '../model/requested-resource.ts';
import { getIn, keySpanOf, spanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule } from './rule.ts';

/**
 * A workload requests more accelerators than the quota of its namespace allows.
 *
 * ## Why
 *
 * The API server adds up the requests of all pods of the namespace and rejects a pod that exceeds the quota. A pod that alone requests more
 * never exists: its Deployment or Job has no pods, and only an event says why. If all replicas together request more, some of them are
 * missing.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: ResourceQuota
 * metadata: {name: gpus, namespace: research}
 * spec:
 *   hard:
 *     requests.nvidia.com/gpu: 4
 * ---
 * apiVersion: batch/v1
 * kind: Job
 * metadata: {name: train, namespace: research}
 * spec:
 *   template:
 *     spec:
 *       restartPolicy: Never
 *       containers:
 *         - name: main
 *           image: registry.example/trainer:1.4
 *           resources: {limits: {nvidia.com/gpu: 8}}
 * ```
 *
 * ```yaml valid
 * apiVersion: v1
 * kind: ResourceQuota
 * metadata: {name: gpus, namespace: research}
 * spec:
 *   hard:
 *     requests.nvidia.com/gpu: 8
 * ---
 * apiVersion: batch/v1
 * kind: Job
 * metadata: {name: train, namespace: research}
 * spec:
 *   template:
 *     spec:
 *       restartPolicy: Never
 *       containers:
 *         - name: main
 *           image: registry.example/trainer:1.4
 *           resources: {limits: {nvidia.com/gpu: 8}}
 * ```
 *
 * ## When it is silent
 *
 * For quotas of other namespaces and of folders other than the workload's and those above it, for quotas with scopes, and for patches and
 * definitions. For the sum over several workloads, which need not run at the same time.
 *
 * ## Sources
 *
 * - [Kubernetes: resource quotas for extended resources](https://kubernetes.io/docs/concepts/policy/resource-quotas/#resource-quota-for-extended-resources)
 */
export default defineRule({
  topic: 'quota',
  severity: 'warning',
  workload(workload, context) {
    if (workload.partial || workload.role === 'definition') return;
    const named = workload.podSets.flatMap((podSet) =>
      podSet.accelerators.map((accelerator) => ({
        podSet,
        accelerator,
        resource: resourceName(accelerator.requested),
      })),
    );
    if (named.length === 0) return;
    const quotas = context.crossReferences.quotasIn(workload.namespace);
    if (quotas.length === 0) return;
    for (const resource of new Set(named.map((one) => one.resource))) {
      const smallest = resource === undefined ? undefined : smallestQuota(resource, quotas);
      if (smallest === undefined) continue;
      const same = named.filter((one) => one.resource === resource);
      const most = same.reduce((max, one) => Math.max(max, one.accelerator.perPod ?? 0), 0);
      const all = same.reduce((sum, one) => sum + (one.accelerator.perPod ?? 0) * (one.podSet.pods.min ?? 0), 0);
      if (most <= smallest.hard && all <= smallest.hard) continue;
      const [first] = same.filter((one) => (one.accelerator.perPod ?? 0) > 0);
      const holder = first?.podSet.containers.find((one) =>
        one.accelerators.some((each) => each.resource === resource),
      );
      const written = holder?.accelerators.find((one) => one.resource === resource);
      const place = written?.limit?.at ?? written?.request?.at;
      const source = smallest.quota.file === null ? '' : ` (${shorten(smallest.quota.file)})`;
      const allowed = `ResourceQuota ${shorten(smallest.quota.name)}${source} allows ${smallest.hard}`;
      context.report({
        message:
          most > smallest.hard
            ? `A pod requests ${most} ${resource}, but ${allowed}: the API server rejects every pod`
            : `All pods together request ${all} ${resource}, but ${allowed}: some pods never start`,
        span:
          place === undefined
            ? spanOf(getIn(workload.manifest.root, 'kind') ?? workload.manifest.root)
            : keySpanOf(place),
      });
    }
  },
});

function smallestQuota(resource: string, quotas: readonly Referenced<QuotaFacts>[]) {
  return quotas
    .flatMap((quota) => {
      const hard = quota.facts.hard[`requests.${resource}`];
      return hard === undefined ? [] : [{ quota, hard }];
    })
    .sort((a, b) => a.hard - b.hard)[0];
}
