import { acceleratorResource, aksSpotTaint } from '../catalog/index.ts';
import { meantResource } from '../catalog/resource-spelling.ts';
import { poolTaints } from '../evidence/pool-taints.ts';
import { isTaintEffect, type NodeTaint } from '../model/node-pool.ts';
import { nodeTaints } from '../model/node-pools.ts';
import { platformOf } from '../model/platform.ts';
import { acceleratorByName, knownResource } from '../model/requested-resource.ts';
import type { PodSet, Toleration } from '../model/workload.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { getIn, isIncomplete, isNull, isTemplated, items, keyOf, keySpanOf, spanOf } from '../yaml/cursor.ts';
import { appendItem, insertKey } from '../yaml/edit.ts';
import type { Span } from '../yaml/span.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A GPU pod does not tolerate a taint that the project's GPU nodes have.
 *
 * ## Why
 *
 * `taints` in `.gpulint.yaml` says which taints the GPU nodes carry. A pod that tolerates them all but one can run on none of these nodes and
 * stays Pending, and autoscalers start no node for it.
 *
 * Without `taints` in the config, the pools of GPU nodes that the project describes (Karpenter, eksctl, GKE's compute classes) tell it: those whose own label the pod
 * selects, or, for a pod without node labels, those beside it, where each of them has the taint.
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
 * Unsafe: the pod may then run on nodes that were kept from it on purpose.
 *
 * ## When it is silent
 *
 * Without `taints` in the config, where some pool that the pod may land on has no such taint, or none is seen. For `PreferNoSchedule`; for a taint named after the requested resource on GKE
 * and AKS, which add that toleration; where Kueue, a runtime class or a serving runtime may add one; for pods without GPUs, infrastructure,
 * definitions and patches, and templated tolerations.
 *
 * ## Sources
 *
 * - [Kubernetes: Taints and Tolerations](https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/)
 * - [Kubernetes: ExtendedResourceToleration](https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#extendedresourcetoleration)
 * - [Kueue: ResourceFlavor](https://kueue.sigs.k8s.io/docs/concepts/resource_flavor/)
 */
export default defineRule({
  topic: 'toleration',
  severity: 'warning',
  podSet(podSet, context) {
    const { workload, options } = context;
    if (workload.partial) return;
    if (workload.role === 'infrastructure' || workload.role === 'definition') return;
    if (!asksForGpus(podSet) || mayGetMore(podSet, context)) return;
    const told = nodeTaints(podSet.selectors, options);
    const { whose, taints, siblingFolder } =
      told.length > 0 ? { whose: ofProject, taints: told, siblingFolder: false } : poolTaints(podSet, context);
    const missing = taints.filter((taint) => isMissing(taint, podSet, context));
    const [first, ...others] = missing;
    if (first === undefined) return;
    const more = others.length === 0 ? '' : ` and ${others.length} more`;
    context.report({
      message: `No toleration for the taint ${textOf(first)}${more} of ${whose}: the pod cannot run there`,
      span: placeOf(podSet),
      ...(siblingFolder && { severity: 'info' }),
      fixes: () => [tolerate(missing, podSet, context)],
    });
  },
});

/** Other accelerators have nodes of their own. */
function asksForGpus({ accelerators }: PodSet): boolean {
  return accelerators.some(
    ({ requested, perPod }) =>
      perPod !== 0 && ['nvidia', 'amd', 'intel'].includes(knownResource(requested)?.vendor ?? ''),
  );
}

/** What else may tolerate: fields that a template or a controller fills in, or a kind that does not write pods as Kubernetes does. */
function mayGetMore({ pod, labels }: PodSet, { workload }: PodSetContext): boolean {
  const list = getIn(pod, 'tolerations');
  if (isIncomplete(pod) || isIncomplete(list)) return true;
  if (list !== undefined && list.node.kind !== 'seq' && (isTemplated(list) || !isNull(list))) return true;
  if (items(getIn(pod, 'containers')).length === 0 || getIn(pod, 'model') !== undefined) return true;
  if (getIn(pod, 'nodeName') !== undefined) return true;
  // A runtime class may bring tolerations; NVIDIA's does not.
  const runtime = getIn(pod, 'runtimeClassName');
  if (runtime !== undefined && !(runtime.node.kind === 'scalar' && runtime.node.value === 'nvidia')) return true;
  return [...labels, ...workload.manifest.labels].some(({ at: label }) => keyOf(label).startsWith('kueue.x-k8s.io/'));
}

function isMissing(taint: NodeTaint, podSet: PodSet, { options }: PodSetContext): boolean {
  const { key, effect } = taint;
  if (effect === 'PreferNoSchedule' || podSet.tolerations.some((toleration) => tolerates(toleration, taint)))
    return false;
  // spot-selector-toleration tells this one.
  if (key === aksSpotTaint && podSet.selectors.some((selector) => selector.key === aksSpotTaint)) return false;
  if (acceleratorResource(key) === undefined) return true;
  // Nodes of the other vendor are not the ones that are meant.
  if (acceleratorByName(podSet.accelerators, key) === undefined) return false;
  const provider = platformOf(podSet, options)?.facts.provider;
  return provider !== 'gcp' && provider !== 'azure';
}

const ofProject = "the project's GPU nodes";

/** Whether it does, or may: what is templated or misspelt is told by others. */
function tolerates({ key, operator, value, effect, at: cursor }: Toleration, taint: NodeTaint): boolean {
  if (cursor.node.kind !== 'map' || cursor.node.incomplete) return true;
  const fields = [key, operator, value, effect];
  if (fields.some((field) => field?.at.node.kind === 'scalar' && field.at.node.templated)) return true;
  if (effect !== undefined && isTaintEffect(effect.value) && effect.value !== taint.effect) return false;
  if (key === undefined || key.value === '') return true;
  if (key.value !== taint.key && meantResource(key.value) !== taint.key) return false;
  const equal = operator === undefined || operator.value === 'Equal';
  return !equal || taint.value === null || (value?.value ?? '') === taint.value;
}

function textOf({ key, value, effect }: NodeTaint): string {
  const shown = `${key}${value === null ? '' : `=${value}`}:${effect}`;
  return shown.length > 60 ? `${shown.slice(0, 59)}…` : shown;
}

/** The tolerations that there are, else what asks for the GPU. */
function placeOf({ pod, containers }: PodSet): Span {
  const list = getIn(pod, 'tolerations');
  if (list !== undefined) return keySpanOf(list);
  const request = containers.flatMap(({ accelerators }) => accelerators)[0];
  const asking = request?.limit ?? request?.request;
  return asking === undefined ? spanOf(getIn(pod, 'containers') ?? pod) : keySpanOf(asking.at);
}

function tolerate(missing: readonly NodeTaint[], { pod }: PodSet, { document }: PodSetContext): Fix | undefined {
  const list = getIn(pod, 'tolerations');
  // Several are written only where there is no list yet.
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
  return fix(`Tolerate ${first.key}`, 'unsafe', edits);
}
