import { gpus, maxGpusPerInstance } from '../catalog/index.ts';
import { plural } from '../cost/format.ts';
import { largestNode } from '../evidence/largest-node.ts';
import { resourceName } from '../model/requested-resource.ts';
import type { PodAccelerator, PodSet } from '../model/workload.ts';
import { writtenQuantities } from '../rewrite/quantities.ts';
import { spanOf } from '../yaml/cursor.ts';
import type { Span } from '../yaml/span.ts';
import { defineRule } from './rule.ts';

/**
 * A pod asks for more accelerators than any node that it selects has.
 *
 * ## Why
 *
 * All accelerators of a pod come from one node. With an instance type that has fewer, the pod stays Pending, and an autoscaler adds no node.
 * The same holds for a label that counts them, such as `cloud.google.com/gke-accelerator-count` or `karpenter.k8s.aws/instance-gpu-count`.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
 *   nodeSelector:
 *     node.kubernetes.io/instance-type: g5.12xlarge
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:1.4
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 8
 * ```
 *
 * ```yaml valid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
 *   nodeSelector:
 *     node.kubernetes.io/instance-type: g5.48xlarge
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:1.4
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 8
 * ```
 *
 * ## When it is silent
 *
 * Where neither an instance type, a count nor a model is selected (a model alone gives a hint, and none for 10, 16 and 20, of which servers
 * are built), where the type is one that the catalogue has no sourced count for, and where the selected nodes share or cut their GPUs.
 *
 * ## Sources
 *
 * - [Amazon EC2: accelerated computing instances](https://docs.aws.amazon.com/ec2/latest/instancetypes/ac.html)
 * - [Google Compute Engine: GPU machine types](https://cloud.google.com/compute/docs/gpus)
 * - [SkyPilot: how it reads the labels of GKE's nodes](https://github.com/skypilot-org/skypilot/blob/master/sky/provision/kubernetes/utils.py)
 */
export default defineRule({
  topic: 'gpu-request',
  severity: 'error',
  podSet(podSet, context) {
    for (const accelerator of podSet.accelerators) {
      const { perPod, devices, form, requested } = accelerator;
      const resource = resourceName(requested);
      // Other numbers of devices than of resources: the nodes share or cut their cards.
      if (resource === undefined || form !== 'whole' || perPod === null || devices !== perPod) continue;
      const largest = largestNode(podSet.selectors, accelerator);
      const span = spanOfRequest(podSet, resource);
      if (span === undefined) continue;
      if (largest === undefined) {
        const most = mostOfModel(accelerator);
        if (most === undefined || perPod <= most || serversOfOwn.has(perPod)) continue;
        const name = gpus.get(accelerator.model ?? '')?.name ?? '';
        context.report({
          severity: 'hint',
          message: `${perPod} ${resource} in one pod: no node that gpulint knows has more than ${most} of ${name}`,
          span,
        });
        continue;
      }
      if (perPod <= largest.count) continue;
      context.report({
        message: `${perPod} ${resource} in one pod, but ${largest.name} has ${plural(largest.count, 'device')}: the pod stays Pending`,
        span,
      });
    }
  },
});

/** Sizes of servers that people buy and nobody rents out. */
const serversOfOwn: ReadonlySet<number> = new Set([10, 16, 20]);

/** The most GPUs of a selected model in one node. Any card fits into servers of eight, but for those that are one board with their CPU. */
function mostOfModel({ model, modelFrom }: PodAccelerator): number | undefined {
  if (model === null || modelFrom === 'config') return undefined;
  const most = maxGpusPerInstance(model);
  if (most === undefined) return undefined;
  return Math.max(most, /^g[hb]\d/i.test(model) ? 1 : 8);
}

/** The count of the container that asks for most. */
function spanOfRequest({ containers }: PodSet, resource: string): Span | undefined {
  const asking = containers
    .flatMap(({ accelerators }) => accelerators.filter((request) => request.resource === resource))
    .sort((a, b) => (b.count ?? 0) - (a.count ?? 0));
  const quantity = asking[0] && writtenQuantities(asking[0])[0];
  return quantity && spanOf(quantity.at);
}
