import { gpus } from '../catalog/index.ts';
import { hasRole } from '../evidence/role-confidence.ts';
import type { PodSet } from '../model/workload.ts';
import { keySpanOf, spanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule } from './rule.ts';

/**
 * The pods of one training job run on different GPU models.
 *
 * ## Why
 *
 * In data-parallel training all processes exchange gradients after each step, so every step takes as long as on the slowest GPU: the faster
 * ones wait, at their full price. Different memory sizes also limit the batch to the smallest GPU.
 *
 * ```yaml invalid
 * apiVersion: kubeflow.org/v1
 * kind: PyTorchJob
 * metadata:
 *   name: pretrain
 * spec:
 *   pytorchReplicaSpecs:
 *     Master:
 *       replicas: 1
 *       template:
 *         spec:
 *           nodeSelector: {cloud.google.com/gke-accelerator: nvidia-tesla-a100}
 *           containers:
 *             - {name: pytorch, image: "registry.example/trainer:1.4", resources: {limits: {nvidia.com/gpu: 1}}}
 *     Worker:
 *       replicas: 3
 *       template:
 *         spec:
 *           nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
 *           containers:
 *             - {name: pytorch, image: "registry.example/trainer:1.4", resources: {limits: {nvidia.com/gpu: 1}}}
 * ```
 *
 * ```yaml valid
 * apiVersion: kubeflow.org/v1
 * kind: PyTorchJob
 * metadata:
 *   name: pretrain
 * spec:
 *   pytorchReplicaSpecs:
 *     Master:
 *       replicas: 1
 *       template:
 *         spec:
 *           nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
 *           containers:
 *             - {name: pytorch, image: "registry.example/trainer:1.4", resources: {limits: {nvidia.com/gpu: 1}}}
 *     Worker:
 *       replicas: 3
 *       template:
 *         spec:
 *           nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
 *           containers:
 *             - {name: pytorch, image: "registry.example/trainer:1.4", resources: {limits: {nvidia.com/gpu: 1}}}
 * ```
 *
 * ## When it is silent
 *
 * For models that no selector names, for servers, and for kinds whose pods have different tasks (Ray, JobSet and others).
 *
 * ## Sources
 *
 * - [PyTorch: DistributedDataParallel](https://docs.pytorch.org/docs/stable/notes/ddp.html)
 */
export default defineRule({
  topic: 'placement',
  severity: 'warning',
  workload(workload, { report }) {
    if (workload.partial || !hasRole(workload, 'training') || !oneProcessGroup.test(workload.kind)) return;
    const [first, ...others] = workload.podSets.filter((podSet) => modelOf(podSet) !== undefined);
    const other = others.find((podSet) => first !== undefined && modelOf(podSet) !== modelOf(first));
    if (first === undefined || other === undefined) return;
    const selector = other.selectors.find(({ values }) => values.length === 1);
    const shown = (podSet: PodSet) =>
      `${shorten(podSet.name, 20)} runs on ${gpus.get(modelOf(podSet) ?? '')?.name ?? ''}`;
    report({
      message: `${shown(first)}, but ${shown(other)}: each step waits for the slower GPU`,
      span: selector === undefined ? spanOf(other.pod) : keySpanOf(selector.at),
    });
  },
});

/** Kinds whose pods with accelerators all train the same model in lockstep. */
const oneProcessGroup = /^(?:PyTorchJob|TFJob|JAXJob|PaddleJob|MPIJob)$/;

/** The model that the pods select themselves. */
function modelOf({ accelerators }: PodSet): string | undefined {
  const [only, ...others] = accelerators;
  if (only === undefined || others.length > 0 || only.perPod === 0) return undefined;
  if (only.modelFrom === null || only.modelFrom === 'config') return undefined;
  return only.model ?? undefined;
}
