import { modelsOfGoogleFamily } from '../catalog/google-families.ts';
import { isInstanceTypeLabel, providerName, providerOfLabel } from '../catalog/index.ts';
import type { GpuModel } from '../catalog/types.ts';
import { plural } from '../cost/money.ts';
import { crowdedNodes, otherModel, otherVendor } from '../evidence/vendor-mismatch.ts';
import { modelsOf } from '../model/gpu-model.ts';
import { selectedRegions, topologyLabel } from '../model/placement.ts';
import { acceleratorByName } from '../model/requested-resource.ts';
import type { PodSet, Selector } from '../model/workload.ts';
import { asText, type Cursor, getIn, isUnseen, keyOf, keySpanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext, type Report } from './rule.ts';

/**
 * Node selectors that no single node can match, or that the pod's own devices, runtime or anti-affinity contradict.
 *
 * ## Why
 *
 * A node must match all selectors of a pod. No node matches an instance type with one GPU model and a product label of another, or a
 * label of Google Cloud nodes and a label of AWS nodes: the pod stays Pending. The same applies to a TPU topology that slices of the TPU
 * never have, to the label of another vendor or model than that of the requested GPUs (`nvidia.com/a100`), and to more pods than named nodes if an anti-affinity keeps them
 * apart. A runtime class of another vendor fails on nodes that do not have its runtime, and the API server rejects a pod whose selector contradicts
 * that of its runtime class.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
 *   nodeSelector:
 *     node.kubernetes.io/instance-type: p4d.24xlarge
 *     nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:1.4
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 8
 * ```
 *
 * ```yaml valid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
 *   nodeSelector:
 *     node.kubernetes.io/instance-type: p5.48xlarge
 *     nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:1.4
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 8
 * ```
 *
 * ## When it is silent
 *
 * If lists of alternatives have a GPU in common, and for unknown values and labels. A label with two different values is a conflict whatever it means.
 *
 * ## Sources
 *
 * - [Google Cloud: plan TPUs in GKE](https://cloud.google.com/kubernetes-engine/docs/concepts/plan-tpus)
 * - [Kubernetes: Assigning Pods to Nodes](https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/)
 */
export default defineRule({
  topic: 'placement',
  severity: 'error',
  podSet(podSet, context) {
    const { selectors, accelerators } = podSet;
    for (const found of [
      otherVendor(podSet),
      otherModel(podSet),
      context.workload.partial ? undefined : crowdedNodes(podSet),
    ])
      if (found !== undefined) context.report({ severity: 'warning', message: found.message, span: placeOf(found.at) });
    const slice = selectors.find(({ key }) => key === topologyLabel);
    const shape = slice && wrongShape(slice, selectors);
    if (slice !== undefined && shape !== undefined) {
      context.report({
        message: `${shape}: no node has this gke-tpu-topology, and the pod stays Pending`,
        span: spanOfSelector(slice),
      });
      return;
    }
    const chips = slice && chipsOf(slice);
    const requested = acceleratorByName(accelerators, 'google.com/tpu')?.perPod ?? 0;
    if (slice !== undefined && chips !== undefined && requested > chips) {
      const message = `gke-tpu-topology ${firstValue(slice)} has ${plural(chips, 'chip')}, but the pod requests ${requested} google.com/tpu: it stays Pending`;
      context.report({ message, span: spanOfSelector(slice) });
      return;
    }
    const pinned = otherNode(podSet);
    if (pinned !== undefined) {
      context.report({
        message: `nodeName is ${pinned.name}, but the pod selects hostname ${firstValue(pinned.selector)}: the kubelet rejects the pod`,
        span: spanOfSelector(pinned.selector),
      });
      return;
    }
    const ofClass = otherRuntime(podSet, context);
    if (ofClass !== undefined) {
      context.report(ofClass);
      return;
    }
    if (selectors.length + podSet.avoided.length < 2) return;
    // Capped, because each is compared with all earlier ones.
    const known = selectors
      .filter(
        (one) =>
          providerOfLabel(one.key) !== null ||
          isInstanceTypeLabel(one.key) ||
          modelsOf(one).length > 0 ||
          isAmd64(one) ||
          regionsIn(one).length > 0,
      )
      .slice(0, 32);
    for (const [index, selector] of known.entries()) {
      const other = known.slice(0, index).find((earlier) => contradiction(earlier, selector) !== undefined);
      const why = other && contradiction(other, selector);
      if (why === undefined) continue;
      context.report({
        message: `${why}: no node matches both, and the pod stays Pending`,
        span: spanOfSelector(selector),
      });
      return;
    }
    const twice = podSet.inherited.length > 0 ? undefined : disjoint(podSet);
    if (twice === undefined) return;
    context.report({
      message: `${twice.problem}: no node matches both, and the pod stays Pending`,
      span: spanOfSelector(twice.selector),
    });
  },
});

/** The node that `nodeName` names, if the pod selects the hostnames of others. The name of a machine may be longer than its hostname. */
function otherNode({ pod, selectors }: PodSet): { readonly name: string; readonly selector: Selector } | undefined {
  const at = getIn(pod, 'nodeName');
  const [name, selector] = [asText(at), selectors.find(({ key }) => key === 'kubernetes.io/hostname')];
  if (at === undefined || name === undefined || isUnseen(at) || selector === undefined || selector.values.length === 0)
    return undefined;
  // Some clouds name nodes by addresses or instances, but not hosts.
  if (/^\d+(?:[.-]\d+){3}$|^i-[\da-f]{8}/.test(name)) return undefined;
  const differs = selector.values.every((one) => !isUnseen(one.at) && !isAlike(one.value, name));
  return differs ? { name: shorten(name, 30), selector } : undefined;
}

/** A label for which the pod and its runtime class, which adds its own selector to the pod, want different values. */
function otherRuntime({ pod, selectors }: PodSet, { crossReferences }: PodSetContext): Report | undefined {
  const at = getIn(pod, 'runtimeClassName');
  const name = asText(at);
  const found = name === undefined || isUnseen(at) ? undefined : crossReferences.runtimeClass(name);
  if (found === undefined || found.siblingFolder) return undefined;
  for (const selector of selectors) {
    const wanted = Object.hasOwn(found.facts.nodeSelector, selector.key) && found.facts.nodeSelector[selector.key];
    if (typeof wanted !== 'string' || selector.values.length === 0) continue;
    if (selector.values.some((one) => isUnseen(one.at) || one.value === wanted)) continue;
    const effect =
      selector.from === 'nodeSelector'
        ? 'the API server rejects the pod'
        : 'no node matches both, and the pod stays Pending';
    return {
      message: `${shortKey(selector)} is ${firstValue(selector)} here but ${shorten(wanted, 30)} in the nodeSelector of RuntimeClass ${shorten(found.name, 30)}: ${effect}`,
      span: spanOfSelector(selector),
    };
  }
  return undefined;
}

/** Whether one value is the other, or may be a misspelling of it, which selector-value reports. */
function isAlike(a: string, b: string): boolean {
  const [first, second] = [a, b].map((one) => one.toLowerCase().replace(/[^a-z0-9]/g, ''));
  return a === b || (/[a-z]/i.test(a) && (first?.includes(second ?? '') || second?.includes(first ?? '')) === true);
}

/** A label of which the selector and the affinity allow different values, or whose only values another expression excludes. */
function disjoint({
  selectors,
  avoided,
}: PodSet): { readonly problem: string; readonly selector: Selector } | undefined {
  const isKnown = ({ values }: Selector) => values.length > 0 && values.every(({ at }) => !isUnseen(at));
  const written = selectors.filter(isKnown).slice(0, 64);
  const earlier = new Map<string, Selector>();
  for (const selector of written) {
    const other = earlier.get(selector.key);
    earlier.set(selector.key, selector);
    if (other === undefined || (other.from === 'nodeSelector' && selector.from === 'nodeSelector')) continue;
    if (selector.values.some(({ value }) => other.values.some((one) => isAlike(one.value, value)))) continue;
    const where = other.from === 'nodeSelector' ? 'the nodeSelector but' : 'one expression but';
    const place = other.from === 'nodeSelector' ? 'the affinity' : 'another';
    const problem = `${shortKey(selector)} is ${firstValue(other)} in ${where} ${firstValue(selector)} in ${place}`;
    return { problem, selector };
  }
  for (const selector of avoided.filter(isKnown).slice(0, 64)) {
    const wanted = earlier.get(selector.key);
    const excluded = new Set(selector.values.map(({ value }) => value));
    if (wanted === undefined || !wanted.values.every(({ value }) => excluded.has(value))) continue;
    return { problem: `${shortKey(selector)} is ${firstValue(wanted)}, which the affinity excludes`, selector };
  }
  return undefined;
}

function isAmd64({ key, values }: Selector): boolean {
  return key === 'kubernetes.io/arch' && values.length === 1 && values[0]?.value === 'amd64';
}

/** The chips of a whole TPU slice, the most that a pod can get. Undefined for several topologies. */
function chipsOf({ values }: Selector): number | undefined {
  const [only, ...others] = values;
  if (only === undefined || others.length > 0 || !/^\d{1,3}(x\d{1,3}){1,2}$/.test(only.value)) return undefined;
  return only.value.split('x').reduce((product, side) => product * Number(side), 1);
}

/**
 * The dimensions of slices by accelerator. https://cloud.google.com/kubernetes-engine/docs/concepts/plan-tpus (2026-11-28)
 */
const dimensions: ReadonlyMap<string, number> = new Map([
  ['tpu-v4-podslice', 3],
  ['tpu-v5p-slice', 3],
  ['tpu7x', 3],
  ['tpu-v5-lite-podslice', 2],
  ['tpu-v5-lite-device', 2],
  ['tpu-v6e-slice', 2],
]);

/** Why no node has a topology: a TPU of other dimensions, or the sides of a plane in the wrong order. */
function wrongShape(slice: Selector, selectors: readonly Selector[]): string | undefined {
  const [accelerator, ...others] =
    selectors.find(({ key }) => key === 'cloud.google.com/gke-tpu-accelerator')?.values ?? [];
  const expected = accelerator && dimensions.get(accelerator.value);
  if (accelerator === undefined || expected === undefined || others.length > 0 || chipsOf(slice) === undefined)
    return undefined;
  if (isUnseen(slice.values[0]?.at)) return undefined;
  const written = firstValue(slice);
  const [width = 0, height = 0, ...depth] = written.split('x').map(Number);
  const count = depth.length + 2;
  if (count !== expected)
    return `${written} has ${count} dimensions, but slices of ${accelerator.value} have ${expected}`;
  return expected === 2 && width > height ? `${written} must be ${height}x${width}` : undefined;
}

/** The regions of a selector without templates and placeholders. */
function regionsIn(selector: Selector): readonly string[] {
  return selector.values.some(({ at }) => isUnseen(at)) ? [] : selectedRegions(selector);
}

function contradiction(one: Selector, other: Selector): string | undefined {
  const providers = [providerOfLabel(one.key), providerOfLabel(other.key)];
  const [first, second] = providers;
  if (first !== null && second !== null && first !== undefined && second !== undefined && first !== second) {
    return `${shortKey(one)} exists only on ${providerName(first)} and ${shortKey(other)} only on ${providerName(second)}`;
  }
  const [regions, wanted] = [regionsIn(one), regionsIn(other)];
  if (regions.length > 0 && wanted.length > 0 && !regions.some((region) => wanted.includes(region)))
    return `${lastPart(one)} ${firstValue(one)} and ${lastPart(other)} ${firstValue(other)} are in different regions`;
  const models = modelsOf(one);
  const others = modelsOf(other);
  const family =
    models.length === 0 ? missingCard(one, others) : others.length === 0 ? missingCard(other, models) : undefined;
  if (family !== undefined) return family;
  // Boards with a Grace CPU.
  const [arm] = [...models, ...others].filter(({ name }) => /^G[BH]\d/.test(name));
  if (
    arm !== undefined &&
    (isAmd64(one) || isAmd64(other)) &&
    [...models, ...others].every(({ name }) => /^G[BH]\d/.test(name))
  )
    return `kubernetes.io/arch is amd64, but nodes with ${arm.name} are arm64`;
  if (models.length === 0 || others.length === 0 || models.some((model) => others.includes(model))) return undefined;
  return `${firstValue(one)} selects ${models[0]?.name ?? ''}, but ${firstValue(other)} selects ${others[0]?.name ?? ''}`;
}

/** Why machines of the families of Google Cloud that a selector names never have a card. */
function missingCard(selector: Selector, [card, ...others]: readonly GpuModel[]): string | undefined {
  const offered = selector.values.map(({ value, at }) => (isUnseen(at) ? undefined : offeredBy(selector.key, value)));
  if (card === undefined || offered.length === 0) return undefined;
  const isOffered = (models: readonly GpuModel[] | undefined) =>
    models === undefined || models.length === 0 || [card, ...others].some((model) => models.includes(model));
  return offered.some(isOffered) ? undefined : `${lastPart(selector)} ${firstValue(selector)} has no ${card.name}`;
}

/** The models of a machine family, or of an N1 machine, to which any of its cards may be attached. */
function offeredBy(key: string, value: string): readonly GpuModel[] | undefined {
  if (key === 'cloud.google.com/machine-family') return modelsOfGoogleFamily(value);
  return isInstanceTypeLabel(key) && value.startsWith('n1-') ? modelsOfGoogleFamily('n1') : undefined;
}

function lastPart({ key }: Selector): string {
  return key.slice(key.lastIndexOf('/') + 1);
}

function firstValue({ values }: Selector): string {
  return shorten(values[0]?.value ?? '', 30);
}

function shortKey({ key }: Selector): string {
  return key.length > 34 ? `${key.slice(0, 33)}…` : key;
}

function spanOfSelector({ at }: Selector): ReturnType<typeof keySpanOf> {
  return placeOf(at);
}

function placeOf(cursor: Cursor): ReturnType<typeof keySpanOf> {
  const key = getIn(cursor, 'key');
  return key !== undefined && asText(key) !== undefined && keyOf(cursor) === '' ? key.node.span : keySpanOf(cursor);
}
