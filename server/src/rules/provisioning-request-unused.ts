import { isGpuLabel, isInstanceTypeLabel, knownAccelerator } from '../catalog/index.ts';
import { namesAccelerators } from '../model/accelerators.ts';
import type { PodSet } from '../model/workload.ts';
import { getIn, isIncomplete, isTemplated, items, keyOf, keySpanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule } from './rule.ts';

/**
 * A pod consumes a ProvisioningRequest for accelerators but requests none.
 *
 * ## Why
 *
 * The autoscaler creates all nodes of a ProvisioningRequest at once, with the accelerators of its PodTemplate, and reserves them for the pods that
 * name it. A pod without an accelerator request runs there, or on any other node, and leaves the accelerators idle until the reservation
 * ends.
 *
 * ```yaml invalid
 * apiVersion: batch/v1
 * kind: Job
 * metadata:
 *   name: copy
 * spec:
 *   template:
 *     metadata:
 *       annotations:
 *         autoscaling.x-k8s.io/consume-provisioning-request: a100-job
 *     spec:
 *       restartPolicy: Never
 *       tolerations:
 *         - {key: nvidia.com/gpu, operator: Exists}
 *       containers:
 *         - name: main
 *           image: registry.example/copy:1.4
 *           resources:
 *             requests:
 *               cpu: 4
 * ```
 *
 * ```yaml valid
 * apiVersion: batch/v1
 * kind: Job
 * metadata:
 *   name: train
 * spec:
 *   template:
 *     metadata:
 *       annotations:
 *         autoscaling.x-k8s.io/consume-provisioning-request: a100-job
 *     spec:
 *       restartPolicy: Never
 *       tolerations:
 *         - {key: nvidia.com/gpu, operator: Exists}
 *       containers:
 *         - name: main
 *           image: registry.example/trainer:1.4
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 8
 * ```
 *
 * ## When it is silent
 *
 * If the pod does not tolerate accelerator nodes: the ProvisioningRequest may be for CPU nodes. If it selects GPU nodes by their label, which
 * cpu-pod-on-gpu-node reports. For patches, definitions and templates, and if another pod set of the object requests accelerators.
 *
 * ## Sources
 *
 * - [ProvisioningRequest: how pods use it](https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/proposals/provisioning-request.md)
 */
export default defineRule({
  topic: 'gpu-request',
  severity: 'warning',
  wasteful: true,
  podSet(podSet, context) {
    const { workload } = context;
    const consumed = podSet.annotations.find(({ at }) => consuming.test(keyOf(at)));
    if (consumed === undefined || isTemplated(consumed.at)) return;
    if (workload.partial || workload.role === 'definition' || isIncomplete(podSet.pod)) return;
    if (namesAccelerators(workload) || claimsDevices(podSet) || !isForAccelerators(podSet)) return;
    context.report({
      message: `The pod consumes ProvisioningRequest ${shorten(consumed.value, 40)} and can run on GPU nodes but requests no GPU: the provisioned GPUs stay idle`,
      span: keySpanOf(consumed.at),
    });
  },
});

const consuming = /^(?:autoscaling\.x-k8s\.io|cluster-autoscaler\.kubernetes\.io)\/consume-provisioning-request$/;

function claimsDevices({ pod, containers }: PodSet): boolean {
  return (
    items(getIn(pod, 'resourceClaims')).length > 0 ||
    containers.some(({ resources }) => {
      const named = [getIn(resources, 'limits'), getIn(resources, 'requests')];
      // A misspelled or templated name may stand for an accelerator.
      return named.some(
        (amounts) => amounts?.node.kind === 'map' && amounts.node.entries.some(({ key }) => /gpu|tpu|\{/i.test(key)),
      );
    })
  );
}

/** Whether it tolerates nodes with accelerators. If it selects them by a label, cpu-pod-on-gpu-node reports it. */
function isForAccelerators({ tolerations, selectors }: PodSet): boolean {
  if (selectors.some(({ key }) => isGpuLabel(key) || isInstanceTypeLabel(key))) return false;
  return tolerations.some(({ key }) => key !== undefined && knownAccelerator(key.value) !== undefined);
}
