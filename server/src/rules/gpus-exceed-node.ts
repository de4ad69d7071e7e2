import { gpus, knownAccelerator, maxGpusPerInstance } from '../catalog/index.ts';
import { plural } from '../cost/money.ts';
import { tpuSlice } from '../cost/tpu-slices.ts';
import { largestNode } from '../evidence/largest-node.ts';
import { type PoolMachines, poolMachinesOf } from '../evidence/pool-machines.ts';
import { livePoolsOf } from '../evidence/pool-taints.ts';
import { clusterWords } from '../model/nodes-of-others.ts';
import { resourceName } from '../model/requested-resource.ts';
import type { PodAccelerator, PodSet } from '../model/workload.ts';
import { writtenQuantities } from '../rewrite/quantities.ts';
import { spanOf } from '../yaml/cursor.ts';
import type { Span } from '../yaml/span.ts';
import { defineRule } from './rule.ts';

/**
 * A pod requests more accelerators than any node that it selects has.
 *
 * ## Why
 *
 * All accelerators of a pod come from one node. If the instance type has fewer, the pod stays Pending, and an autoscaler adds no node. The same
 * applies to labels that count them, such as `cloud.google.com/gke-accelerator-count` or `karpenter.k8s.aws/instance-gpu-count`.
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
 * If a pod selects the labels of a node pool in the same project, the machines that this pool adds count. That is a warning, since another pool may have the
 * same labels.
 *
 * ## When it is silent
 *
 * If no instance type, count, model or such pool is selected. A model alone gives only a hint, and none for 10, 16 and 20 GPUs, which some servers have. It gives a warning
 * if the GPU is a part of its machine's only chip, such as GB10 in DGX Spark.
 * If the catalog has no sourced count for the instance type, and if the selected nodes share or partition their GPUs.
 *
 * ## Sources
 *
 * - [Amazon EC2: accelerated computing instances](https://docs.aws.amazon.com/ec2/latest/instancetypes/ac.html)
 * - [Google Compute Engine: GPU machine types](https://cloud.google.com/compute/docs/gpus)
 * - [aws/karpenter-provider-aws#8064](https://github.com/aws/karpenter-provider-aws/issues/8064)
 * - [SkyPilot: reading the labels of GKE nodes](https://github.com/skypilot-org/skypilot/blob/master/sky/provision/kubernetes/utils.py)
 */
export default defineRule({
  topic: 'gpu-request',
  severity: 'error',
  podSet(podSet, context) {
    for (const accelerator of podSet.accelerators) {
      const { perPod, devices, form, requested } = accelerator;
      const resource = resourceName(requested);
      // The numbers of devices and resources differ if the nodes share or partition their GPUs.
      if (resource === undefined || form !== 'whole' || perPod === null || devices !== perPod) continue;
      if (knownAccelerator(resource) === undefined) continue;
      const largest = largestNode(podSet.selectors, accelerator);
      const span = spanOfRequest(podSet, resource);
      if (span === undefined) continue;
      const live = podSet.accelerators.length === 1 ? livePoolsOf(podSet, context.crossReferences) : undefined;
      if (live?.largest != null) {
        if (perPod <= live.largest) continue;
        const where = clusterWords(live.cluster, live.asOf);
        context.report({
          // Other nodes may be added.
          severity: podSet.selectors.length > 0 && !live.canGrow ? 'warning' : 'info',
          message: `The pod requests ${perPod} ${resource}, but no node for it has more than ${live.largest} (${where}): the pod stays Pending`,
          span,
        });
        continue;
      }
      if (largest === undefined) {
        const pool = poolMachinesOf(podSet, context.crossReferences);
        const offered = pool === undefined ? 0 : mostOf(pool.machines, resource);
        if (pool !== undefined && offered > 0) {
          if (perPod > offered) {
            context.report({
              severity: 'warning',
              message: `The pod requests ${perPod} ${resource}, but the machines of ${pool.whose} have at most ${offered}: the pod stays Pending`,
              span,
            });
          }
          continue;
        }
        const most = isTpu(accelerator) ? maxChips(accelerator, podSet) : maxPerNode(accelerator);
        if (most === undefined || perPod <= most || onPremisesSizes.has(perPod)) continue;
        const name = gpus.get(accelerator.model ?? '')?.name ?? '';
        const slice = isTpu(accelerator) ? multiHostSlice(podSet) : undefined;
        const node = slice === undefined ? 'node' : `node of a ${slice} slice`;
        const isCertain = isTpu(accelerator) || isBuiltIn(accelerator);
        context.report({
          severity: isTpu(accelerator) ? 'error' : isCertain ? 'warning' : 'hint',
          message: `The pod requests ${perPod} ${resource}, but no ${isCertain ? '' : 'known '}${node} has more than ${most} × ${name}${isCertain ? ': the pod stays Pending' : ''}`,
          span,
        });
        continue;
      }
      if (perPod <= largest.count) continue;
      context.report({
        message: `The pod requests ${perPod} ${resource}, but ${largest.name} has ${plural(largest.count, 'device')}: the pod stays Pending`,
        span,
      });
    }
  },
});

/** The most devices that a machine has of a resource. */
function mostOf(machines: PoolMachines['machines'], resource: string): number {
  const vendor = knownAccelerator(resource)?.vendor;
  const own = machines.filter(({ gpu }) => gpus.get(gpu ?? '')?.vendor === vendor);
  return Math.max(0, ...own.map(({ gpuCount }) => gpuCount ?? 0));
}

/** Sizes of servers that are sold but not rented out. */
const onPremisesSizes: ReadonlySet<number> = new Set([10, 16, 20]);

/** The most GPUs of a selected model in one node. Servers hold eight of any GPU, except for superchips such as GH200. */
function maxPerNode({ model, modelFrom }: PodAccelerator): number | undefined {
  if (model === null || modelFrom === 'config' || modelFrom === 'hint') return undefined;
  if (isBuiltIn({ model })) return 1;
  const most = maxGpusPerInstance(model);
  if (most === undefined) return undefined;
  return Math.max(most, /^g[hb]\d|^tpu/i.test(model) ? 1 : 8);
}

/** GPUs that are a part of their machine's only chip: GB10 in DGX Spark, Orin and Xavier in Jetson. */
function isBuiltIn({ model }: Pick<PodAccelerator, 'model'>): boolean {
  return model === 'gb10' || model?.startsWith('jetson-') === true;
}

function maxChips(accelerator: PodAccelerator, podSet: PodSet): number | undefined {
  const most = maxPerNode(accelerator);
  return multiHostSlice(podSet) === undefined ? most : Math.min(4, most ?? 4);
}

/**
 * The topology of a slice of several nodes. These have four chips each, whatever the TPU's version.
 * https://cloud.google.com/kubernetes-engine/docs/concepts/plan-tpus (2026-11-22)
 */
function multiHostSlice(podSet: PodSet): string | undefined {
  const slice = tpuSlice(podSet);
  return slice !== undefined && (slice.chips > 8 || slice.topology.split('x').length === 3)
    ? slice.topology
    : undefined;
}

/** Only Google has TPUs, in machines of fixed sizes. */
function isTpu({ model }: PodAccelerator): boolean {
  return model?.startsWith('tpu') === true;
}

/** The count of the container with the largest request. */
function spanOfRequest({ containers }: PodSet, resource: string): Span | undefined {
  const requests = containers
    .flatMap(({ accelerators }) => accelerators.filter((request) => request.resource === resource))
    .sort((a, b) => (b.count ?? 0) - (a.count ?? 0));
  const quantity = requests[0] && writtenQuantities(requests[0])[0];
  return quantity && spanOf(quantity.at);
}
