import { type InstanceType, instanceType } from '../catalog/index.ts';
import { plural } from '../cost/money.ts';
import { knownRequests, requestSpan } from '../evidence/requested-accelerators.ts';
import { hasRole } from '../evidence/role-confidence.ts';
import { isTrial } from '../evidence/volume-lifetime.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { asBoolean, entries, getIn, isIncomplete, keyOf } from '../yaml/cursor.ts';
import { insertKey } from '../yaml/edit.ts';
import { defineRule } from './rule.ts';

/**
 * Training on several nodes does not use the fast network that the nodes have.
 *
 * ## Why
 *
 * Nodes for distributed training have network adapters that reach GPU memory directly. On AWS, pods get them by the resource
 * `vpc.amazonaws.com/efa`. Without it NCCL uses TCP on the ordinary interface, and the GPUs wait for gradients: at a tenth of the bandwidth, or
 * less, each step takes longer.
 *
 * ```yaml invalid
 * apiVersion: kubeflow.org/v1
 * kind: PyTorchJob
 * metadata:
 *   name: pretrain
 * spec:
 *   pytorchReplicaSpecs:
 *     Worker:
 *       replicas: 4
 *       template:
 *         spec:
 *           nodeSelector:
 *             node.kubernetes.io/instance-type: p4d.24xlarge
 *           containers:
 *             - name: pytorch
 *               image: registry.example/trainer:1.4
 *               command: ["torchrun", "--nproc-per-node=8", "train.py"]
 *               resources:
 *                 limits:
 *                   nvidia.com/gpu: 8
 * ```
 *
 * ```yaml fixed
 * apiVersion: kubeflow.org/v1
 * kind: PyTorchJob
 * metadata:
 *   name: pretrain
 * spec:
 *   pytorchReplicaSpecs:
 *     Worker:
 *       replicas: 4
 *       template:
 *         spec:
 *           nodeSelector:
 *             node.kubernetes.io/instance-type: p4d.24xlarge
 *           containers:
 *             - name: pytorch
 *               image: registry.example/trainer:1.4
 *               command: ["torchrun", "--nproc-per-node=8", "train.py"]
 *               resources:
 *                 limits:
 *                   nvidia.com/gpu: 8
 *                   vpc.amazonaws.com/efa: 4
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the cluster needs the EFA device plugin, and the image needs the EFA software.
 *
 * ## When it is silent
 *
 * If the instance type is unknown or has no EFA, for single pods and parts of a node, with `hostNetwork`, with any other network device or
 * additional network, and for benchmarks.
 *
 * ## Sources
 *
 * - [Amazon EKS: machine learning training with EFA](https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html)
 */
export default defineRule({
  topic: 'network',
  severity: 'info',
  podSet(podSet, { workload, document, report }) {
    if (workload.partial || !hasRole(workload, 'training') || isTrial(workload)) return;
    const { min } = podSet.pods;
    if (min === null || min < 2 || hasOtherNetwork(podSet, workload)) return;
    const type = instanceType(podSet.placement.instanceType ?? '');
    const devices = type === undefined ? undefined : efaDevices(type);
    if (type === undefined || devices === undefined) return;
    for (const container of podSet.containers) {
      const [request] = knownRequests(container);
      if (request?.form !== 'whole' || request.count !== type.gpuCount || container.type !== 'app') continue;
      report({
        message: `${min} pods train together on ${type.name} without its ${plural(devices, 'EFA device')}: NCCL falls back to TCP`,
        span: requestSpan([request], container),
        fixes: () => [
          fix(
            `Request ${devices} vpc.amazonaws.com/efa`,
            'unsafe',
            insertKey(document, getIn(container.resources, 'limits'), 'vpc.amazonaws.com/efa', devices, {
              after: request.resource,
            }),
          ),
        ],
      });
    }
  },
});

function efaDevices({ provider, rdma, rdmaDevices, unsourced }: InstanceType): number | undefined {
  if (provider !== 'aws' || rdma !== 'EFA' || rdmaDevices === null || rdmaDevices < 1) return undefined;
  return unsourced.some((field) => ['all', 'rdma', 'rdmaDevices', 'gpuCount'].includes(field))
    ? undefined
    : rdmaDevices;
}

function hasOtherNetwork({ pod, containers, annotations }: PodSet, { manifest }: Workload): boolean {
  if (asBoolean(getIn(pod, 'hostNetwork')) === true || isIncomplete(pod)) return true;
  if ([...annotations, ...manifest.annotations].some(({ at }) => /network|cni/i.test(keyOf(at)))) return true;
  return containers.some(usesNetworkDevice);
}

function usesNetworkDevice({ resources, env }: Container): boolean {
  const named = ['limits', 'requests'].flatMap((key) => entries(getIn(resources, key)).map(keyOf));
  if (named.some((name) => /efa|rdma|hca|roce|sriov|infiniband|\bib\b/i.test(name))) return true;
  return env.some(({ name }) => /^(?:FI_|NCCL_(?:IB|NET)_?|NCCL_NET$)/.test(name));
}
