import { isWholePod } from '../evidence/rejection.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { likeKind } from '../model/kinds/index.ts';
import { groupOf } from '../model/manifest.ts';
import { asText, getIn, isTemplated, keySpanOf } from '../yaml/cursor.ts';
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
 * ## When it is silent
 *
 * For templates, patches, infrastructure and operators' own kinds. For a Pod, which nothing creates again, it is information.
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
    const node = getIn(podSet.pod, 'nodeName');
    const name = asText(node) ?? '';
    if (node === undefined || name === '' || isTemplated(node) || !requestsAccelerators(podSet)) return;
    if (workload.kind === 'DaemonSet' || !isWholePod(podSet, workload)) return;
    const isReplicated = likeKind(groupOf(workload.apiVersion), workload.kind)?.staysUp === true;
    report({
      severity: workload.kind === 'Pod' ? 'info' : 'warning',
      message: `nodeName ${shorten(name, 30)} bypasses the scheduler: if its accelerators are in use, ${isReplicated ? 'failed pods pile up' : 'the pod fails'} instead of waiting; use a nodeSelector`,
      span: keySpanOf(node),
    });
  },
});
