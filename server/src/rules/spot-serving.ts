import { hasRole } from '../evidence/role-confidence.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import type { PodSet } from '../model/workload.ts';
import { asText, getIn, keyOf, keySpanOf, spanOf } from '../yaml/cursor.ts';
import { defineRule } from './rule.ts';

/**
 * A model is served by one replica, and that is on spot capacity.
 *
 * ## Why
 *
 * When the spot node is taken back, nothing answers until another one is found, the image is pulled and the weights are loaded: minutes, or
 * hours when the GPU is scarce. Two replicas, or one on demand beside the spot ones, bridge that.
 *
 * ```yaml invalid
 * apiVersion: apps/v1
 * kind: Deployment
 * metadata:
 *   name: llm
 * spec:
 *   replicas: 1
 *   selector: {matchLabels: {app: llm}}
 *   template:
 *     metadata: {labels: {app: llm}}
 *     spec:
 *       nodeSelector:
 *         cloud.google.com/gke-spot: "true"
 *       containers:
 *         - name: server
 *           image: vllm/vllm-openai:v0.11.0
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 1
 * ```
 *
 * ```yaml valid
 * apiVersion: apps/v1
 * kind: Deployment
 * metadata:
 *   name: llm
 * spec:
 *   replicas: 2
 *   selector: {matchLabels: {app: llm}}
 *   template:
 *     metadata: {labels: {app: llm}}
 *     spec:
 *       nodeSelector:
 *         cloud.google.com/gke-spot: "true"
 *       containers:
 *         - name: server
 *           image: vllm/vllm-openai:v0.11.0
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 1
 * ```
 *
 * ## When it is silent
 *
 * With two replicas or more, with no number at all in a Deployment (an autoscaler may tell it), with a floor of 0 (a cold start is accepted then), and where spot is only preferred or only tolerated.
 *
 * ## Sources
 *
 * - [Google Kubernetes Engine: Spot VMs](https://cloud.google.com/kubernetes-engine/docs/concepts/spot-vms)
 * - [AWS: spot interruption notices](https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-instance-termination-notices.html)
 */
export default defineRule({
  topic: 'spot',
  severity: 'warning',
  workload(workload, context) {
    if (!hasRole(workload, 'serving') || workload.partial) return;
    const serving = workload.podSets.filter(requestsAccelerators);
    const [only, ...others] = serving;
    if (only === undefined || others.length > 0 || only.pods.min !== 1) return;
    // Without a number, a HorizontalPodAutoscaler may tell it.
    if (workload.apiVersion.startsWith('apps/') && only.replicas === undefined) return;
    const { capacity, capacityAt } = only.placement;
    if (capacity !== 'spot' || capacityAt === undefined) return;
    const { label, span } = told(only);
    context.report({
      message: `One replica, on spot (${label}): every interruption is an outage until a new node has loaded the model`,
      span,
    });
  },
});

function told({ placement: { capacityAt }, pod }: PodSet): {
  readonly label: string;
  readonly span: ReturnType<typeof spanOf>;
} {
  const key = getIn(capacityAt, 'key');
  if (key !== undefined && capacityAt !== undefined && keyOf(capacityAt) === '')
    return { label: asText(key) ?? '', span: spanOf(key) };
  const cursor = capacityAt ?? pod;
  return { label: `${keyOf(cursor)}: ${asText(cursor) ?? ''}`, span: keySpanOf(cursor) };
}
