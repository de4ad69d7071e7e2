import { groupOf } from '../model/manifest.ts';
import { asText, getIn, isTemplated, spanOf } from '../yaml/cursor.ts';
import { table } from '../yaml/table.ts';
import { defineRule } from './rule.ts';

/**
 * Something that the cluster's version of Kubernetes does not have yet, or not any more.
 *
 * ## Why
 *
 * Claims of devices changed their API four times, and the operators `Lt` and `Gt` of tolerations are younger than most clusters. The API server
 * refuses an object of a version that it does not serve, and a pod with an operator that it does not know.
 *
 * `kubernetesVersion` in `.gpulint.yaml` says what the cluster runs:
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
 * Without `kubernetesVersion` in the config. Beta and alpha APIs that exist in a version are taken as served, though a cluster has to turn
 * them on.
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
        message: `${apiVersion} exists from Kubernetes 1.${first}; the cluster runs 1.${cluster} and refuses the object`,
        span: spanOf(written),
      });
    } else if (cluster > last) {
      report({
        message: `${apiVersion} is gone since Kubernetes 1.${last + 1}; the cluster runs 1.${cluster} and refuses the object`,
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
        message: `Operator ${operator.value} exists from Kubernetes 1.${comparisonSince}; the cluster runs 1.${cluster} and refuses the pod`,
        span: spanOf(operator.at),
      });
    }
  },
});

const comparisonSince = 35;

/**
 * The first and the last minor version with an API. Of the versions that are still served only the first is known; that v1alpha2 is gone,
 * whichever cluster it is, is told by dra-shape.
 */
const resourceApis = table<readonly [first: number, last: number]>({
  v1: [34, Number.POSITIVE_INFINITY],
  v1beta2: [32, Number.POSITIVE_INFINITY],
  v1beta1: [32, Number.POSITIVE_INFINITY],
  v1alpha3: [31, Number.POSITIVE_INFINITY],
  v1alpha2: [27, Number.POSITIVE_INFINITY],
  v1alpha1: [26, 26],
});

/** The second number of `1.34` or `v1.34.2`. */
function minorOf(version: string | null): number | undefined {
  const minor = /^v?1\.(\d+)/.exec(version ?? '')?.[1];
  return minor === undefined ? undefined : Number(minor);
}
