import { isMachineOfCloud } from '../catalog/machine-names.ts';
import { isWholePod } from '../evidence/rejection.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { likeKind } from '../model/kinds/index.ts';
import { groupOf } from '../model/manifest.ts';
import type { PodSet } from '../model/workload.ts';
import { asText, getIn, isTemplated, isUnseen, keySpanOf, spanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule } from './rule.ts';

/**
 * A pod that requests accelerators names its node itself.
 *
 * ## Why
 *
 * With `nodeName`, no scheduler waits until the node has a free GPU. If the GPUs are in use, the kubelet rejects the pod, which then fails for
 * good (`OutOfnvidia.com/gpu`). A Job uses up its retries within seconds, and a Deployment creates one failed pod after another, also during its own
 * rollout, while the old pod still holds the GPU. With the node's hostname in `nodeSelector`, the pod waits instead.
 *
 * ```yaml invalid
 * apiVersion: batch/v1
 * kind: Job
 * metadata: {name: train}
 * spec:
 *   template:
 *     spec:
 *       nodeName: gpu-3
 *       restartPolicy: Never
 *       containers:
 *         - name: main
 *           image: registry.example/trainer:1.4
 *           resources: {limits: {nvidia.com/gpu: 1}}
 * ```
 *
 * ```yaml valid
 * apiVersion: batch/v1
 * kind: Job
 * metadata: {name: train}
 * spec:
 *   template:
 *     spec:
 *       nodeSelector: {kubernetes.io/hostname: gpu-3}
 *       restartPolicy: Never
 *       containers:
 *         - name: main
 *           image: registry.example/trainer:1.4
 *           resources: {limits: {nvidia.com/gpu: 1}}
 * ```
 *
 * The hostname of a machine that a cloud has named (`ip-10-0-3-7.ec2.internal`, `aks-gpu-12345678-vmss000001`) is information: node pools replace
 * such machines, and the pods then wait for a node that no longer exists.
 *
 * ## When it is silent
 *
 * For templates, patches, infrastructure and operators' own kinds. For a Pod, which nothing creates again, `nodeName` is information, and a
 * hostname is not reported.
 *
 * ## Sources
 *
 * - [Kubernetes: nodeName](https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#nodename)
 */
export default defineRule({
  topic: 'placement',
  severity: 'warning',
  yields: true,
  podSet(podSet, { workload, report }) {
    const machine = machineOf(podSet);
    if (
      machine !== undefined &&
      workload.kind !== 'Pod' &&
      workload.kind !== 'DaemonSet' &&
      requestsAccelerators(podSet)
    )
      report({
        severity: 'info',
        message: `${shorten(machine.value, 60)} is one machine of a cloud: once the node pool replaces it, the pods stay Pending; select a label of the pool`,
        span: spanOf(machine.at),
      });
    const node = getIn(podSet.pod, 'nodeName');
    const name = asText(node) ?? '';
    if (node === undefined || name === '' || isTemplated(node) || !requestsAccelerators(podSet)) return;
    if (workload.kind === 'DaemonSet' || !isWholePod(podSet, workload)) return;
    const isReplicated = likeKind(groupOf(workload.apiVersion), workload.kind)?.staysUp === true;
    report({
      severity: workload.kind === 'Pod' ? 'info' : 'warning',
      message: `nodeName ${shorten(name, 30)} bypasses the scheduler: if the node's accelerators are in use, ${isReplicated ? 'failed pods pile up' : 'the pod fails'} instead of waiting; use a nodeSelector`,
      span: keySpanOf(node),
    });
  },
});

/** The machine of a cloud whose hostname all pods select. */
function machineOf({ selectors }: PodSet) {
  const values = selectors.find(({ key }) => key === 'kubernetes.io/hostname')?.values ?? [];
  return values.every(({ value, at }) => !isUnseen(at) && isMachineOfCloud(value)) ? values[0] : undefined;
}
