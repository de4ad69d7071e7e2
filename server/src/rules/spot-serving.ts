import { hasAllContainers } from '../evidence/chart-pods.ts';
import { hasRole } from '../evidence/role-confidence.ts';
import { spotPlace } from '../evidence/spot.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { isValues } from '../model/values.ts';
import type { PodSet, Workload } from '../model/workload.ts';
import { defineRule } from './rule.ts';

/**
 * A model server with a single replica on spot capacity.
 *
 * ## Why
 *
 * When the spot node is reclaimed, nothing answers until a new node is found, the image is pulled and the weights are loaded: minutes, or
 * hours if the GPU is scarce. A second replica, or one on-demand replica next to the spot ones, bridges the gap.
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
 * With two or more replicas, for a Deployment or a chart's values without a replica count (an autoscaler may set it), with a minimum of 0
 * (cold starts are accepted), and if spot is only preferred or only tolerated. If only the name or a port shows that a workload serves, the
 * finding is information only.
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
    if (!hasRole(workload, 'serving', 'guess')) return;
    // What only its port or its name suggests can also be a tool for one person.
    const isLikely = hasRole(workload, 'serving');
    const serving = workload.podSets.filter(requestsAccelerators);
    const [only, ...others] = serving;
    if (only === undefined || others.length > 0 || only.pods.min !== 1) return;
    if (workload.partial && !hasOneReplica(only, workload)) return;
    // Without a count, a HorizontalPodAutoscaler may set it.
    if (workload.apiVersion.startsWith('apps/') && only.replicas === undefined) return;
    const { capacity, capacityAt } = only.placement;
    if (capacity !== 'spot' || capacityAt === undefined) return;
    const { selector, span } = spotPlace(only, workload.manifest);
    context.report({
      ...(isLikely ? {} : { severity: 'info' }),
      message: `The only replica runs on spot (${selector}): each interruption is an outage until a new pod ${isLikely ? 'has loaded the model' : 'is ready'}`,
      span,
    });
  },
});

/** Whether a chart's values have one replica, written or by the chart's default, and no autoscaler. */
function hasOneReplica({ pods, replicas }: PodSet, workload: Workload): boolean {
  return isValues(workload) && pods.max === 1 && (replicas !== undefined || hasAllContainers(workload));
}
