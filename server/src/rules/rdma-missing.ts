import { type InstanceType, instanceType, instanceTypesOf, isInstanceTypeLabel } from '../catalog/index.ts';
import { plural } from '../cost/money.ts';
import { knownRequests, requestSpan } from '../evidence/requested-accelerators.ts';
import { hasRole } from '../evidence/role-confidence.ts';
import { isTrial } from '../evidence/volume-lifetime.ts';
import { kindOf } from '../model/kinds/index.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { asBoolean, asText, entries, getIn, isIncomplete, isUnseen, items, keyOf, spanOf } from '../yaml/cursor.ts';
import { insertKey } from '../yaml/edit.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * Training on several nodes does not use the fast network that the nodes have.
 *
 * ## Why
 *
 * Nodes for distributed training have network adapters that reach GPU memory directly. On AWS, pods get them by the resource
 * `vpc.amazonaws.com/efa`. Without it NCCL uses TCP on the ordinary interface, and the GPUs wait for gradients: at a tenth of the
 * bandwidth, or less, each step takes longer. The same happens if the environment selects libfabric's EFA provider, but the container has
 * no such device.
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
 * additional network, and for benchmarks. `FI_PROVIDER=efa` without an EFA device is reported in all of them, unless the container may open the devices
 * of its node, or is a replica of a Deployment.
 *
 * ## Sources
 *
 * - [Amazon EKS: machine learning training with EFA](https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html)
 */
export default defineRule({
  topic: 'network',
  severity: 'info',
  podSet(podSet, context) {
    const { workload, document, report } = context;
    if (workload.partial) return;
    for (const container of podSet.containers) checkProvider(container, podSet, context);
    if (!hasRole(workload, 'training') || isTrial(workload)) return;
    const min = podsTogether(podSet, workload);
    if (min === null || min < 2 || hasOtherNetwork(podSet, workload)) return;
    const types = selectedTypes(podSet);
    const [type] = types;
    const devices = type === undefined ? undefined : efaDevices(type);
    // Alternatives with other numbers of adapters or GPUs leave both open.
    const isOne = types.every((one) => one.gpuCount === type?.gpuCount && efaDevices(one) === devices);
    if (type === undefined || devices === undefined || !isOne) return;
    const names = types.map(({ name }) => name).slice(0, 2);
    for (const container of podSet.containers) {
      const [request] = knownRequests(container);
      if (request?.form !== 'whole' || request.count !== type.gpuCount || container.type !== 'app') continue;
      report({
        message: `${min} pods train together on ${names.join(' or ')} but do not request its ${plural(devices, 'EFA device')}: NCCL falls back to TCP`,
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

/** libfabric's EFA provider works only with EFA devices, which the container gets by requesting them. */
function checkProvider(container: Container, podSet: PodSet, { workload, report }: PodSetContext): void {
  const provider = container.env.find(({ name, value }) => name === 'FI_PROVIDER' && value?.value === 'efa')?.value;
  const min = podsTogether(podSet, workload);
  // A variable number of pods is seldom one.
  if (provider === undefined || (min !== null && min < 2) || container.type !== 'app') return;
  // The replicas of a Deployment do not know each other.
  const { replica, addresses } = kindOf(workload);
  if (replica === 'pod' && addresses === undefined) return;
  const [request] = min === null ? container.accelerators : knownRequests(container);
  if (request?.form !== 'whole' || !/^nvidia\.com\/gpu$/.test(request.resource)) return;
  const lists = ['limits', 'requests'].map((key) => getIn(container.resources, key));
  if ([container.resources, ...lists].some((one) => isUnseen(one) || isIncomplete(one))) return;
  if (reachesDevices(container, podSet) || podSet.containers.some(requestsNetworkDevice)) return;
  // A claim may be of EFA devices.
  if (items(getIn(podSet.pod, 'resourceClaims')).length > 0) return;
  if (hasNetworkAnnotation(podSet, workload)) return;
  report({
    message:
      'FI_PROVIDER is efa, but the container requests no vpc.amazonaws.com/efa: it has no EFA device, and NCCL falls back to TCP',
    span: spanOf(provider.at),
  });
}

/** The pods that train together: a single master also talks to its workers. Null if their number is unknown. */
function podsTogether(podSet: PodSet, workload: Workload): number | null {
  const own = podSet.pods.min;
  if (own !== 1 || kindOf(workload).group !== 'kubeflow.org') return own;
  const others = workload.podSets.filter((one) => one !== podSet && one.accelerators.length > 0);
  return others.reduce<number | null>(
    (sum, { pods }) => (sum === null || pods.min === null ? null : sum + pods.min),
    own,
  );
}

/** Whether a container may open the devices of its node. */
function reachesDevices({ at }: Container, { pod }: PodSet): boolean {
  if (asBoolean(getIn(pod, 'hostNetwork')) === true || isIncomplete(pod) || isIncomplete(at)) return true;
  if (asBoolean(getIn(at, 'securityContext', 'privileged')) === true) return true;
  return items(getIn(pod, 'volumes')).some((volume) =>
    /^\/dev(?:\/infiniband|$)/.test(asText(getIn(volume, 'hostPath', 'path')) ?? ''),
  );
}

/** The instance types that the pods select; none if one of them is unknown. */
function selectedTypes({ placement, selectors }: PodSet): readonly InstanceType[] {
  const only = instanceType(placement.instanceType ?? '');
  if (only !== undefined) return [only];
  const names = selectors.flatMap(({ key, values }) =>
    isInstanceTypeLabel(key) ? values.map(({ value }) => value) : [],
  );
  const types = names.map(instanceTypesOf);
  return types.some(({ length }) => length !== 1) ? [] : types.flat();
}

function efaDevices({ provider, rdma, rdmaDevices, unsourced }: InstanceType): number | undefined {
  if (provider !== 'aws' || rdma !== 'EFA' || rdmaDevices === null || rdmaDevices < 1) return undefined;
  return unsourced.some((field) => ['all', 'rdma', 'rdmaDevices', 'gpuCount'].includes(field))
    ? undefined
    : rdmaDevices;
}

function hasOtherNetwork(podSet: PodSet, workload: Workload): boolean {
  const { pod, containers } = podSet;
  if (asBoolean(getIn(pod, 'hostNetwork')) === true || isIncomplete(pod)) return true;
  if (hasNetworkAnnotation(podSet, workload) || containers.some(requestsNetworkDevice)) return true;
  return containers.some(({ env }) => env.some(({ name }) => /^(?:FI_|NCCL_(?:IB|NET)_?|NCCL_NET$)/.test(name)));
}

function hasNetworkAnnotation({ annotations }: PodSet, { manifest }: Workload): boolean {
  return [...annotations, ...manifest.annotations].some(({ at }) => /network|cni/i.test(keyOf(at)));
}

function requestsNetworkDevice({ resources }: Container): boolean {
  const named = ['limits', 'requests'].flatMap((key) => entries(getIn(resources, key)).map(keyOf));
  return named.some((name) => /efa|rdma|hca|roce|sriov|infiniband|\bib\b/i.test(name));
}
