import { gpusByLabel, instanceType, isGpuLabel, isInstanceTypeLabel } from '../catalog/index.ts';
import { meantResource } from '../catalog/resource-spelling.ts';
import { namesAccelerators } from '../model/accelerators.ts';
import { once } from '../model/once.ts';
import type { Container, PodSet, Selector, Workload } from '../model/workload.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { asBoolean, entries, getIn, isTemplated, items, keyOf, keySpanOf } from '../yaml/cursor.ts';
import { removeKey } from '../yaml/edit.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A pod that asks for no accelerator is sent to nodes that have them.
 *
 * ## Why
 *
 * The selector puts the pod on a GPU node, where it takes CPU and memory that GPU pods need, and an autoscaler starts such a node for
 * it. It gets no GPU either: without `limits` no device is handed to the container.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
 *   nodeSelector:
 *     cloud.google.com/gke-accelerator: nvidia-l4
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:1.4
 * ```
 *
 * ```yaml valid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
 *   nodeSelector:
 *     cloud.google.com/gke-accelerator: nvidia-l4
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:1.4
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: it may be the request for a device that is missing. Selectors in an affinity are left to people.
 *
 * ## When it is silent
 *
 * For infrastructure, privileged pods and pods with host paths (they serve the node), control pods of objects that ask for accelerators
 * elsewhere, claims and fractions by annotation, a runtime class (it may hand out GPUs by itself), other extended resources, patches and definitions.
 *
 * ## Sources
 *
 * - [Kubernetes: Schedule GPUs](https://kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus/)
 * - [NVIDIA/k8s-device-plugin#195](https://github.com/NVIDIA/k8s-device-plugin/issues/195)
 */
export default defineRule({
  topic: 'placement',
  severity: 'warning',
  podSet(podSet, context) {
    const { workload } = context;
    if (workload.partial || workload.role === 'infrastructure' || workload.role === 'definition') return;
    if (asksForAny(workload)) return;
    const selector = podSet.selectors.find(meansAccelerator);
    if (selector === undefined || isHandedOtherwise(podSet, workload) || servesNode(podSet)) return;
    const key = getIn(selector.at, 'key');
    const shown = `${selector.key.slice(selector.key.indexOf('/') + 1)} ${selector.values[0]?.value ?? ''}`;
    context.report({
      message: `Selects nodes with accelerators (${shown}) and asks for none: it holds such a node and gets no device`,
      span: key !== undefined && keyOf(selector.at) === '' ? key.node.span : keySpanOf(selector.at),
      fixes: () => [unselect(podSet, context)],
    });
  },
});

/** Takes every such selector away; of an affinity other terms may hang on it. */
function unselect({ selectors }: PodSet, { document }: PodSetContext): Fix | undefined {
  const edits = selectors
    .filter(meansAccelerator)
    .map(({ at: selector, from }) => (from === 'nodeSelector' ? removeKey(document, selector) : undefined));
  return fix('Select these nodes no more', 'unsafe', ...edits);
}

function meansAccelerator({ key, values }: Selector): boolean {
  if (values.length === 0 || values.some(({ at: value }) => isTemplated(value))) return false;
  if (key === 'nvidia.com/gpu.present') return values.every(({ value }) => value === 'true');
  if (isInstanceTypeLabel(key)) return values.every(({ value }) => (instanceType(value)?.gpu ?? null) !== null);
  return isGpuLabel(key) && values.every(({ value }) => gpusByLabel(key, value).length > 0);
}

/** It asks for an accelerator by a name that is none: gpu-resource-name tells that. */
function misspells({ resources }: Container): boolean {
  const asked = [...entries(getIn(resources, 'limits')), ...entries(getIn(resources, 'requests'))];
  return asked.some((entry) => meantResource(keyOf(entry)) !== undefined);
}

/** Devices by claim, by a scheduler's annotation, or by a resource that the catalogue does not know. */
function isHandedOtherwise({ pod, annotations, labels, containers }: PodSet, { manifest }: Workload): boolean {
  if (items(getIn(pod, 'resourceClaims')).length > 0 || getIn(pod, 'schedulerName') !== undefined) return true;
  // NVIDIA's runtime shows every GPU of the node to images that ask for them.
  if (getIn(pod, 'runtimeClassName') !== undefined) return true;
  const marks = [...annotations, ...labels, ...manifest.annotations, ...manifest.labels];
  if (marks.some(({ at: mark }) => /gpu|vcuda|kueue|runai|kai\./i.test(keyOf(mark)))) return true;
  return containers.some(
    ({ resources, env }) =>
      [...entries(getIn(resources, 'limits')), ...entries(getIn(resources, 'requests'))].some((entry) =>
        keyOf(entry).includes('/'),
      ) || env.some(({ name }) => name === 'NVIDIA_VISIBLE_DEVICES'),
  );
}

/** What looks after the node itself: tools that mount its directories or run with its rights. */
function servesNode({ pod, containers, volumes }: PodSet): boolean {
  if (['hostPID', 'hostNetwork'].some((field) => asBoolean(getIn(pod, field)) === true)) return true;
  return volumes.some(({ source }) => source === 'hostPath') || containers.some(isPrivileged);
}

function isPrivileged({ at: container }: Container): boolean {
  return asBoolean(getIn(container, 'securityContext', 'privileged')) === true;
}

const asksForAny = once(({ podSets }: Workload) =>
  podSets.some((podSet) => namesAccelerators(podSet) || podSet.containers.some(misspells)),
);
