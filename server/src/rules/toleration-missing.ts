import { addsTolerations, aksSpotTaint, knownAccelerator } from '../catalog/index.ts';
import { mayBeCompleted } from '../evidence/chart-pods.ts';
import { type PoolTaints, poolTaints } from '../evidence/pool-taints.ts';
import { queueLabel } from '../evidence/queue-label.ts';
import type { NodeTaint } from '../model/node-pool.ts';
import { nodeTaints } from '../model/node-pools.ts';
import { platformOf } from '../model/platform.ts';
import { acceleratorByName, knownResource } from '../model/requested-resource.ts';
import { mayTolerate } from '../model/tolerations.ts';
import { isValues } from '../model/values.ts';
import type { PodSet } from '../model/workload.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { getIn, isIncomplete, isNull, isTemplated, items, keyOf, keySpanOf, spanOf } from '../yaml/cursor.ts';
import { appendItem, insertKey } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import type { Span } from '../yaml/span.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A GPU pod does not tolerate a taint of the project's GPU nodes.
 *
 * ## Why
 *
 * `taints` in `.gpulint.yaml` lists the taints of the GPU nodes. A pod that does not tolerate every one of them cannot run on these nodes. It
 * stays Pending, and autoscalers start no node for it.
 *
 * Without `taints` in the config, the taints come from the GPU node pools that the project describes (Karpenter, eksctl, GKE compute classes, Terraform).
 * The rule reads the pools whose own label the pod selects or, for a pod without node labels, the nearest pools. Each of them must have the
 * taint. The pods of a job in a Kueue queue must tolerate the taints of one of the queue's flavors, unless the flavor adds the tolerations
 * itself.
 *
 * ```yaml invalid
 * # .gpulint.yaml: {taints: [{key: team/gpu, effect: NoSchedule}]}
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:1.4
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml fixed
 * # .gpulint.yaml: {taints: [{key: team/gpu, effect: NoSchedule}]}
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:1.4
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 *   tolerations:
 *     - key: team/gpu
 *       operator: Exists
 *       effect: NoSchedule
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the pod may then run on nodes that are deliberately closed to it.
 *
 * ## When it is silent
 *
 * Without `taints` in the config, if no pool is found or a pool that the pod may use does not have the taint. For `PreferNoSchedule`; for a
 * taint named after the requested resource on EKS, GKE and AKS, which add that toleration; if a runtime class or a serving runtime may
 * add one; for pods without GPUs, infrastructure, definitions and patches; and for templated tolerations. Of a chart's values, only those with all
 * containers (app-template) and lists of tolerations count; the latter are **information**, because other values may replace the list.
 *
 * ## Sources
 *
 * - [Kubernetes: Taints and Tolerations](https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/)
 * - [Kubernetes: ExtendedResourceToleration](https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#extendedresourcetoleration)
 * - [EKS: enabled admission controllers](https://docs.aws.amazon.com/eks/latest/userguide/platform-versions.html)
 * - [Kueue: ResourceFlavor](https://kueue.sigs.k8s.io/docs/concepts/resource_flavor/)
 */
export default defineRule({
  topic: 'toleration',
  severity: 'warning',
  podSet(podSet, context) {
    const { workload, options } = context;
    const isWhole = !mayBeCompleted(workload);
    // A list of values replaces that of the chart, but other values may replace this one.
    const isOpen = !isWhole && isValues(workload) && items(getIn(podSet.pod, 'tolerations')).length > 0;
    if (workload.role === 'infrastructure' || (workload.role === 'definition' && !isValues(workload))) return;
    if (!(isWhole || isOpen) || !requestsGpus(podSet) || mayGetMore(podSet, context)) return;
    const configured = nodeTaints(podSet.selectors, options);
    const flavors = flavorsOf(context);
    if (flavors === undefined) return;
    const pools =
      flavors.length > 0
        ? flavors
        : configured.length > 0
          ? [{ whose: projectNodes, taints: configured, siblingFolder: false }]
          : poolTaints(podSet, context);
    const blocked = pools.map(({ taints, ...pool }) => ({
      ...pool,
      missing: taints.filter((taint) => isMissing(taint, podSet, context)),
    }));
    // The pool that needs the least; none if the pod tolerates the taints of one.
    const [least] = blocked.sort((a, b) => a.missing.length - b.missing.length);
    if (least === undefined) return;
    const { whose, missing, siblingFolder } = least;
    const [first, ...others] = missing;
    if (first === undefined) return;
    const more = others.length === 0 ? '' : ` and ${others.length} more`;
    context.report({
      message: `The pod does not tolerate the taint ${textOf(first)}${more} of ${whose}: ${flavors.length > 0 ? 'Kueue never admits it' : 'it cannot run there'}`,
      span: placeOf(podSet),
      ...((siblingFolder || isOpen) && { severity: 'info' }),
      // Charts have the options of a pod in places of their own.
      fixes: () => (isWhole && workload.partial ? [] : [tolerate(missing, podSet, context)]),
    });
  },
});

/** Nodes with other accelerators have their own taints. */
function requestsGpus({ accelerators }: PodSet): boolean {
  return accelerators.some(
    ({ requested, perPod }) =>
      perPod !== 0 && ['nvidia', 'amd', 'intel'].includes(knownResource(requested)?.vendor ?? ''),
  );
}

/** Whether tolerations may come from elsewhere: a template, a controller, or a kind with its own pod format. */
function mayGetMore({ pod }: PodSet, { workload, crossReferences }: PodSetContext): boolean {
  const list = getIn(pod, 'tolerations');
  if (isIncomplete(pod) || isIncomplete(list)) return true;
  if (list !== undefined && list.node.kind !== 'seq' && (isTemplated(list) || !isNull(list))) return true;
  const hasContainers = isValues(workload) || items(getIn(pod, 'containers')).length > 0;
  if (!hasContainers || (getIn(pod, 'model') !== undefined && !isValues(workload))) return true;
  // What a template writes may select other nodes.
  const selector = getIn(pod, 'nodeSelector');
  if (isIncomplete(selector) || isTemplated(selector)) return true;
  if (getIn(pod, 'nodeName') !== undefined) return true;
  // A runtime class may add tolerations; that of NVIDIA's operator does not.
  const runtime = getIn(pod, 'runtimeClassName');
  if (runtime === undefined) return false;
  if (!(runtime.node.kind === 'scalar' && runtime.node.value === 'nvidia')) return true;
  return crossReferences.runtimeClass('nvidia')?.facts.tolerates === true;
}

/** The flavors of the queue of a workload; undefined if Kueue admits it and they are unknown. */
function flavorsOf({ workload, podSet, crossReferences }: PodSetContext): readonly PoolTaints[] | undefined {
  const labels = [...podSet.labels, ...workload.manifest.labels];
  if (!labels.some(({ at }) => keyOf(at).startsWith('kueue.x-k8s.io/'))) return [];
  const queue = queueLabel(workload);
  const flavors = queue === undefined ? [] : crossReferences.flavorsOf(workload.namespace, queue.value);
  if (flavors.length === 0 || isTemplated(queue?.at) || flavors.some((flavor) => flavor.labels === null))
    return undefined;
  return flavors.map(({ name, taints }) => ({ whose: `flavor ${shorten(name, 24)}`, taints, siblingFolder: false }));
}

function isMissing(taint: NodeTaint, podSet: PodSet, { options }: PodSetContext): boolean {
  const { key, effect } = taint;
  if (effect === 'PreferNoSchedule' || podSet.tolerations.some((toleration) => mayTolerate(toleration, taint)))
    return false;
  // spot-selector-toleration reports this one.
  if (key === aksSpotTaint && podSet.selectors.some((selector) => selector.key === aksSpotTaint)) return false;
  if (knownAccelerator(key) === undefined) return true;
  // A taint for the accelerators of another vendor.
  if (acceleratorByName(podSet.accelerators, key) === undefined) return false;
  return !addsTolerations(platformOf(podSet, options)?.facts.provider ?? null);
}

const projectNodes = "the project's GPU nodes";

function textOf({ key, value, effect }: NodeTaint): string {
  const shown = `${key}${value === null ? '' : `=${value}`}:${effect}`;
  return shown.length > 60 ? `${shown.slice(0, 59)}…` : shown;
}

/** The existing tolerations, otherwise the GPU request. */
function placeOf({ pod, containers }: PodSet): Span {
  const list = getIn(pod, 'tolerations');
  if (list !== undefined) return keySpanOf(list);
  const request = containers.flatMap(({ accelerators }) => accelerators)[0];
  const quantity = request?.limit ?? request?.request;
  return quantity === undefined ? spanOf(getIn(pod, 'containers') ?? pod) : keySpanOf(quantity.at);
}

function tolerate(missing: readonly NodeTaint[], { pod }: PodSet, { document }: PodSetContext): Fix | undefined {
  const list = getIn(pod, 'tolerations');
  // Several are added only if there is no list yet.
  const [first, ...others] = missing.map(({ key, value, effect }) => ({
    key,
    ...(value === null ? { operator: 'Exists' } : { operator: 'Equal', value }),
    effect,
  }));
  if (first === undefined) return undefined;
  const edits =
    list === undefined
      ? insertKey(document, pod, 'tolerations', [first, ...others], { after: 'nodeSelector' })
      : list.node.kind === 'seq' && others.length === 0
        ? appendItem(document, list, first)
        : undefined;
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  return fix(`Add a toleration for ${first.key}${more}`, 'unsafe', edits);
}
