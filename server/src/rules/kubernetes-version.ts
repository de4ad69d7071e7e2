import { groupOf } from '../model/manifest.ts';
import { minorOf } from '../model/options.ts';
import { asText, getIn, isTemplated, spanOf } from '../yaml/cursor.ts';
import { table } from '../yaml/table.ts';
import { defineRule } from './rule.ts';

/**
 * An API version or operator that the cluster's Kubernetes version does not support.
 *
 * ## Why
 *
 * The API of device claims changed four times, and the toleration operators `Lt` and `Gt` are newer than most clusters. The API server
 * rejects objects of an API version that it does not serve, and pods with an operator that it does not know.
 *
 * `kubernetesVersion` in `.gpulint.yaml` sets the version of the cluster:
 *
 * ```yaml invalid
 * # .gpulint.yaml: {kubernetesVersion: 1.33}
 * apiVersion: resource.k8s.io/v1
 * kind: ResourceClaimTemplate
 * metadata:
 *   name: one-gpu
 * spec:
 *   spec:
 *     devices:
 *       requests:
 *         - name: gpu
 *           exactly:
 *             deviceClassName: gpu.nvidia.com
 * ```
 *
 * ```yaml valid
 * # .gpulint.yaml: {kubernetesVersion: 1.34}
 * apiVersion: resource.k8s.io/v1
 * kind: ResourceClaimTemplate
 * metadata:
 *   name: one-gpu
 * spec:
 *   spec:
 *     devices:
 *       requests:
 *         - name: gpu
 *           exactly:
 *             deviceClassName: gpu.nvidia.com
 * ```
 *
 * ## When it is silent
 *
 * Without `kubernetesVersion` in the config. Alpha and beta APIs that exist in a version count as served, although a cluster has to enable
 * them.
 *
 * ## Sources
 *
 * - [Kubernetes: Dynamic Resource Allocation](https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/)
 * - [Kubernetes v1.34: DRA has graduated to GA](https://kubernetes.io/blog/2025/09/01/kubernetes-v1-34-dra-updates/)
 * - [Kubernetes: Taints and Tolerations](https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/)
 */
export default defineRule({
  topic: 'cluster',
  severity: 'error',
  manifest({ root, apiVersion }, { options, report }) {
    const cluster = minorOf(options.kubernetesVersion);
    const served = groupOf(apiVersion) === 'resource.k8s.io' ? resourceApis[apiVersion.split('/')[1] ?? ''] : undefined;
    const written = getIn(root, 'apiVersion');
    if (cluster === undefined || served === undefined || written === undefined) return;
    const [first, last] = served;
    if (cluster < first) {
      report({
        message: `${apiVersion} requires Kubernetes 1.${first} or later: the cluster runs 1.${cluster} and rejects the object`,
        span: spanOf(written),
      });
    } else if (cluster > last) {
      report({
        message: `${apiVersion} was removed in Kubernetes 1.${last + 1}: the cluster runs 1.${cluster} and rejects the object`,
        span: spanOf(written),
      });
    }
  },
  podSet({ tolerations }, { options, report }) {
    const cluster = minorOf(options.kubernetesVersion);
    if (cluster === undefined || cluster >= comparisonSince) return;
    for (const { operator } of tolerations) {
      if (operator === undefined || isTemplated(operator.at)) continue;
      if (asText(operator.at) !== 'Lt' && asText(operator.at) !== 'Gt') continue;
      report({
        message: `Operator ${operator.value} requires Kubernetes 1.${comparisonSince} or later: the cluster runs 1.${cluster} and rejects the pod`,
        span: spanOf(operator.at),
      });
    }
  },
});

const comparisonSince = 35;

/**
 * The first and the last minor version with an API. The last one is unknown for versions that are still served. v1alpha2 has none here,
 * because dra-shape reports its removal for every cluster.
 */
const resourceApis = table<readonly [first: number, last: number]>({
  v1: [34, Number.POSITIVE_INFINITY],
  v1beta2: [32, Number.POSITIVE_INFINITY],
  v1beta1: [32, Number.POSITIVE_INFINITY],
  v1alpha3: [31, Number.POSITIVE_INFINITY],
  v1alpha2: [27, Number.POSITIVE_INFINITY],
  v1alpha1: [26, 26],
});
