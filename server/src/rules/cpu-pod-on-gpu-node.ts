import { acceleratorResource } from '../catalog/index.ts';
import { poolLabelOf } from '../catalog/pool-labels.ts';
import { meantResource } from '../catalog/resource-spelling.ts';
import { hasAcceleratorKey } from '../evidence/accelerator-keys.ts';
import { hasAllContainers, isForAllPods } from '../evidence/chart-pods.ts';
import { gpuNodeRequirement, meansAccelerator } from '../evidence/gpu-nodes.ts';
import { gpuImage, gpuProgram } from '../evidence/gpu-programs.ts';
import { getsDevicesOtherwise, mayRequestUnseen, servesNode } from '../evidence/other-devices.ts';
import { namesAccelerators } from '../model/accelerators.ts';
import { once } from '../model/once.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { entries, getIn, isIncomplete, isUnseen, keyOf, keySpanOf, spanOf } from '../yaml/cursor.ts';
import { removeItem, removeKey } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A pod without accelerators selects nodes that have them.
 *
 * ## Why
 *
 * The selector puts the pod on a GPU node, where it takes CPU and memory that GPU pods need, and an autoscaler may start such a node for it.
 * The pod gets no GPU: containers receive devices only through `limits`.
 *
 * In a job of several roles, a toleration on the role without GPUs is information if the role with GPUs has neither tolerations nor selectors.
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
 * A toleration of GPU nodes alone is information only: the pod may run there but need not. The same applies if the pod also selects a pool
 * whose name does not suggest CPU nodes, and tolerates nothing else.
 *
 * ## Fix safety
 *
 * Unsafe: the missing device request may be the mistake. No fix is offered for selectors in an affinity, or if a program needs a GPU.
 *
 * ## When it is silent
 *
 * For infrastructure, for privileged pods and pods with host paths (they serve the node), and for control pods of objects that request
 * accelerators elsewhere. For claims, fractions by annotation, runtime classes (which may provide GPUs) and other extended resources. For
 * patches, definitions, and templates that insert the resources. For bases to which a kustomize overlay adds accelerators. For requests in the
 * wrong place, which gpu-misplaced and api-field report.
 *
 * ## Sources
 *
 * - [Kubernetes: Schedule GPUs](https://kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus/)
 * - [NVIDIA/k8s-device-plugin#195](https://github.com/NVIDIA/k8s-device-plugin/issues/195)
 */
export default defineRule({
  topic: 'placement',
  severity: 'warning',
  aboutMissingRequest: true,
  podSet(podSet, context) {
    const { workload } = context;
    if (workload.partial && !hasAllContainers(workload)) return;
    if (workload.role === 'infrastructure' || workload.role === 'definition') return;
    if (requestsAny(workload)) {
      checkOtherRole(podSet, context);
      return;
    }
    // What runs on every GPU node serves the node.
    if (workload.kind === 'DaemonSet') return;
    if (getsDevicesOtherwise(podSet, workload) || mayUseAll(podSet) || servesNode(podSet)) return;
    // gpu-misplaced and api-field report a request that no container gets.
    if (mayRequestUnseen(podSet) || requestsNextToContainers(workload)) return;
    if (podSet.containers.some(({ at }) => hasAcceleratorKey(at.node))) return;
    const required = gpuNodeRequirement(podSet);
    if (required === undefined) {
      if (!workload.partial) reportToleration(podSet, context);
      return;
    }
    if (isForAllPods(required.at, workload)) return;
    const server = podSet.containers.flatMap((one) => (one.type === 'init' ? [] : (gpuProgram(one) ?? []))).at(0);
    const result =
      server === undefined ? 'it occupies an expensive node without using them' : `${server.name} gets no GPU`;
    context.report({
      message: `The pod selects nodes with accelerators (${shorten(required.text, 40)}) but requests none: ${result}`,
      span: required.selector?.from === 'nodeSelector' ? keySpanOf(required.at) : spanOf(required.at),
      // gpu-without-request adds the request of a program that needs a GPU.
      fixes: () => (required.selector === undefined || server !== undefined ? [] : [removeSelectors(podSet, context)]),
    });
  },
});

/** Reports a toleration of GPU nodes in the role of a job that requests no GPU, if the role that requests them does not have it. */
function checkOtherRole(podSet: PodSet, { workload, report }: PodSetContext): void {
  const { podSets, partial } = workload;
  if (podSets.length < 2 || partial || podSet.accelerators.length > 0 || getsDevicesOtherwise(podSet, workload)) return;
  const toleration = podSet.tolerations.find(({ key }) => /^(?:nvidia|amd)\.com\/gpu$/.test(key?.value ?? ''));
  const key = toleration?.key;
  if (key === undefined || isIncomplete(podSet.pod) || mayRequestUnseen(podSet)) return;
  const users = podSets.filter(({ accelerators }) => accelerators.length > 0);
  const isBare = ({ pod, tolerations, selectors }: PodSet) =>
    !isIncomplete(pod) && !isUnseen(getIn(pod, 'tolerations')) && tolerations.length + selectors.length === 0;
  const [user] = users;
  if (user === undefined || !users.every(isBare)) return;
  report({
    severity: 'info',
    topic: 'toleration',
    message: `${shorten(podSet.name, 18)} tolerates ${key.value} but requests no GPU; ${shorten(user.name, 18)}, which does, has none: it stays Pending unless the cluster adds one (GKE)`,
    span: keySpanOf(getIn(podSet.pod, 'tolerations') ?? key.at),
  });
}

/** Whether values of the common library have a request next to the containers, where no container gets it. */
function requestsNextToContainers({ manifest: { root }, partial }: Workload): boolean {
  const holders = partial ? [root, getIn(root, 'pod'), getIn(root, 'containers')] : [];
  return holders.some((holder) =>
    ['limits', 'requests'].some((key) =>
      entries(getIn(holder, 'resources', key)).some((entry) => acceleratorResource(keyOf(entry)) !== undefined),
    ),
  );
}

/** The pod may run on GPU nodes, but need not. */
function reportToleration(podSet: PodSet, { document, report }: PodSetContext): void {
  const { tolerations, containers, pod } = podSet;
  const toleration = tolerations.find(({ key }) => /^(?:nvidia|amd)\.com\/gpu$/.test(key?.value ?? ''));
  if (toleration?.key === undefined || isIncomplete(pod) || podSet.selectors.some(leadsElsewhere)) return;
  // gpu-without-request reports programs and images for GPUs.
  if (containers.some((one) => gpuProgram(one) ?? gpuImage(one))) return;
  report({
    severity: 'info',
    message: `The pod tolerates GPU nodes (${toleration.key.value}) but requests no GPU: it may occupy an expensive node`,
    span: spanOf(toleration.key.at),
    fixes: () => [fix('Remove this toleration', 'unsafe', removeItem(document, toleration.at))],
  });

  /** A pool of which the pod tolerates nothing but GPUs is likely one of GPUs. */
  function leadsElsewhere({ key, values }: PodSet['selectors'][number]): boolean {
    if (/(?:^|\.)kubernetes\.io\/(?:os|arch)$/.test(key)) return false;
    const isPool = poolLabelOf(new Map([[key, 'any']])) !== undefined && tolerations.length === 1;
    return !isPool || values.some(({ value }) => /cpu|system|default|general|infra|control|master/i.test(value));
  }
}

/** Removes every such selector. Undefined if one is in an affinity, where other terms may depend on it. */
function removeSelectors({ selectors }: PodSet, { document }: PodSetContext): Fix | undefined {
  const edits = selectors
    .filter(meansAccelerator)
    .map(({ at: selector, from }) => (from === 'nodeSelector' ? removeKey(document, selector) : undefined));
  return fix(edits.length === 1 ? 'Remove this nodeSelector' : 'Remove these nodeSelectors', 'unsafe', ...edits);
}

/** Whether a resource is a misspelled accelerator, which gpu-resource-name reports. */
function misspells({ resources }: Container): boolean {
  const written = [...entries(getIn(resources, 'limits')), ...entries(getIn(resources, 'requests'))];
  return written.some((entry) => meantResource(keyOf(entry)) !== undefined);
}

/** NVIDIA's runtime exposes all GPUs of the node to images that request them. */
function mayUseAll({ pod, containers }: PodSet): boolean {
  if (getIn(pod, 'runtimeClassName') !== undefined) return true;
  return containers.some(({ env }) => env.some(({ name }) => name === 'NVIDIA_VISIBLE_DEVICES'));
}

const requestsAny = once(({ podSets }: Workload) =>
  podSets.some((podSet) => namesAccelerators(podSet) || podSet.containers.some(misspells)),
);
