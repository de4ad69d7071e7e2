import { largestNode } from '../evidence/largest-node.ts';
import { isExempt, knownRequests, requestWords } from '../evidence/requests.ts';
import { asBoolean, asText, getIn, keySpanOf } from '../yaml/cursor.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A privileged container asks for a part of its node's GPUs.
 *
 * ## Why
 *
 * A privileged container sees all devices of its node, whatever it asked for: CUDA counts every GPU, programs that take "all GPUs" take
 * those of other pods, and what the scheduler handed out is worth nothing. Give it the capabilities that it needs instead (IPC_LOCK for
 * RDMA), or let it ask for the whole node.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: notebook
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/notebook:4.2
 *       securityContext:
 *         privileged: true
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml valid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: notebook
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/notebook:4.2
 *       securityContext:
 *         capabilities:
 *           add: [IPC_LOCK]
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## When it is silent
 *
 * For infrastructure, for TPUs and Neuron devices, whose containers some platforms want privileged, and where the pod takes all GPUs of the
 * instance type that it selects. It is advice where the container
 * takes eight GPUs, which is a whole node of most kinds, and where it asks for RDMA devices, for which `privileged` is a habit.
 *
 * ## Sources
 *
 * - [kubernetes/kubernetes#81256](https://github.com/kubernetes/kubernetes/issues/81256)
 * - [NVIDIA/gpu-operator#1145](https://github.com/NVIDIA/gpu-operator/issues/1145)
 */
export default defineRule({
  topic: 'gpu-request',
  severity: 'warning',
  container(container, context) {
    const privileged = getIn(container.at, 'securityContext', 'privileged');
    if (privileged === undefined || asBoolean(privileged) !== true || isExempt(context.workload)) return;
    const requests = knownRequests(container).filter(({ resource }) => /^(?:nvidia|amd)\.com\//.test(resource));
    if (requests.length === 0 || takesWholeNode(context)) return;
    const whole = requests.some(({ form, count }) => form === 'whole' && count !== null && count >= 8);
    context.report({
      severity: whole || usesRdma(context) ? 'info' : 'warning',
      message: `privileged: true with ${requestWords(requests)}: the container sees every GPU of its node, also those of other pods`,
      span: keySpanOf(privileged),
    });
  },
});

/** Then there are no other pods whose GPUs it could see. */
function takesWholeNode({ podSet: { accelerators, selectors } }: PodSetContext): boolean {
  return accelerators.some((accelerator) => {
    const { form, perPod, devices } = accelerator;
    if (form !== 'whole' || perPod === null || devices !== perPod) return false;
    return perPod >= (largestNode(selectors, accelerator)?.count ?? Number.POSITIVE_INFINITY);
  });
}

/** Network devices for RDMA, or the host's own network, in the pod. */
function usesRdma({ podSet }: PodSetContext): boolean {
  if (asText(getIn(podSet.pod, 'hostNetwork')) === 'true') return true;
  return podSet.containers.some(({ resources }) => {
    const limits = getIn(resources, 'limits')?.node;
    return limits?.kind === 'map' && limits.entries.some(({ key }) => /rdma|efa\b|infiniband|\bib\b|roce/i.test(key));
  });
}
