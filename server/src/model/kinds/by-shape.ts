import { either, oneOf } from '../../catalog/word-patterns.ts';
import { asText, getIn, keyOf } from '../../yaml/cursor.ts';
import { table } from '../../yaml/table.ts';
import { product } from '../count.ts';
import type { CrossReferences } from '../cross-references.ts';
import { groupOf, lowerStrings } from '../manifest.ts';
import type { ModelOptions } from '../options.ts';
import type { Manifest } from '../workload.ts';
import { kindEntry, sameNamedKinds } from './index.ts';
import type { KindInput, KindLowering, PodCount, PodSetSource } from './kind.ts';
import { exactly, times } from './pod-sets.ts';
import { countPods, type ShapeCount } from './shape-counts.ts';
import { type EmbeddedObject, findShapes, type ShapePods } from './shape-pods.ts';

/** What a lookup of an embedded object needs. */
export interface ShapeContext {
  readonly options: ModelOptions;
  readonly crossReferences: CrossReferences;
}

/**
 * The pods of an object of an unknown kind: every mapping in it that looks like a pod spec or a container, times the counts above it.
 * Undefined if there is none, and for kinds that only describe pods or nodes.
 */
export function lowerByShape(manifest: Manifest, context: ShapeContext): KindLowering | undefined {
  const { root, apiVersion, kind } = manifest;
  const group = groupOf(apiVersion);
  if (group === '' || podlessGroups.test(group) || podlessKinds.test(`${group}/${kind}`)) return undefined;
  const { pods, objects } = findShapes(getIn(root, 'spec') ?? root);
  const fork = forkOf(manifest, pods, context);
  if (fork !== undefined) return fork;
  const counts = countPods([...pods, ...objects]);
  const unknownCount: ShapeCount = { pods: exactly(null), replicas: undefined };
  const own = pods.map((found, index): PodSetSource => {
    const { pods: number, replicas, hasSize = false } = counts[index] ?? unknownCount;
    const isUnset = onDemand.test(kind) && replicas === undefined && number.max === 1;
    return { ...sourceOf(found, hasSize), replicas, pods: perNode.test(kind) || isUnset ? exactly(null) : number };
  });
  const inner = objects.flatMap((found, index) => {
    const { pods: copies, replicas } = counts[pods.length + index] ?? unknownCount;
    const unset = replicas === undefined ? unsetCopies[`${group}/${kind}`] : undefined;
    return embeddedPods(found, unset === undefined ? copies : exactly(unset), manifest, context);
  });
  const podSets = [...own, ...inner];
  if (podSets.length === 0) return undefined;
  const role = definitions.test(kind) ? { role: 'definition' as const } : {};
  return { ...role, podSets, retries: null, scaling: null, partial: true };
}

/** A fork of a known kind: another group, but the same name and the same places of pods. */
function forkOf(manifest: Manifest, pods: readonly ShapePods[], context: ShapeContext): KindLowering | undefined {
  if (pods.length === 0) return undefined;
  for (const entry of sameNamedKinds(manifest.kind)) {
    const lowered = entry.lower({ ...manifest, ...context });
    const places = new Set(lowered.podSets.map(({ pod }) => pod.node));
    if (places.size > 0 && pods.every(({ pod }) => places.has(pod.node)))
      return entry.role === undefined ? lowered : { ...lowered, role: entry.role };
  }
  return undefined;
}

/**
 * @param hasSize whether the pods are the members of a group: then a number of GPUs may be for one of them or for all. Amounts of Kubernetes
 *   resources are always those of one pod.
 */
function sourceOf(
  { name, pod, containers, implicitDevices }: ShapePods,
  hasSize: boolean,
): Omit<PodSetSource, 'pods' | 'replicas'> {
  const metadata = getIn(pod.parent, 'metadata');
  const devices = implicitDevices?.map((one) =>
    hasSize && one.requested.kind === 'field' && !/per/i.test(keyOf(one.at ?? pod)) && !/per/i.test(one.requested.name)
      ? { ...one, perPod: null }
      : one,
  );
  return { name, pod, metadata, containers, ...(devices && { implicitDevices: devices }) };
}

/** The pods of an object inside this one, as many times as the counts above it say. */
function embeddedPods(
  { object }: EmbeddedObject,
  copies: PodCount,
  outer: Manifest,
  context: ShapeContext,
): readonly PodSetSource[] {
  const apiVersion = asText(getIn(object, 'apiVersion')) ?? '';
  const kind = asText(getIn(object, 'kind')) ?? '';
  const namespace = asText(getIn(object, 'metadata', 'namespace')) ?? outer.namespace;
  const annotations = lowerStrings(getIn(object, 'metadata', 'annotations'));
  const entry = kindEntry(groupOf(apiVersion), kind);
  if (entry === undefined || entry.role === 'definition') return [];
  const input: KindInput = { kind, apiVersion, root: object, namespace, annotations, ...context };
  return entry.lower(input).podSets.map((set) => ({
    ...set,
    pods: { min: times(set.pods, copies.min).min, max: product(set.pods.max, copies.max) },
  }));
}

/** How many copies of an object inside it a kind creates at a time by default. https://www.kubeflow.org/docs/components/katib/ */
const unsetCopies = table<number>({ 'kubeflow.org/Experiment': 3 });

/** Kinds that run a pod on every node. */
const perNode = /Daemon|Broadcast|PerNode|EachNode/;

/** Kinds that run as many pods as there is work, unless they have bounds. */
const onDemand = /^Auto-?scal|^Scaled|Autoscal(?:er|ing)$/;

/** Kinds whose objects other objects or users choose: their pods do not run. */
const definitions = either(
  endsWith('Template Class Profile Definition Type Kind Blueprint Preset Composition Defaults Catalog'),
  endsWith('Runtime Config Configuration Policy Sensor'),
);

/** Groups whose objects never run pods themselves: schemas, policies, queues, infrastructure, overlays. */
const podlessGroups = either(
  // Kubernetes itself: the core group and the groups without workloads.
  /^$|^(?:apiextensions|admissionregistration|rbac\.authorization|storage|networking|policy|scheduling|autoscaling)\.k8s\.io$/,
  /^(?:gateway\.networking|metrics|apiregistration|node|resource)\.k8s\.io$|^(?:autoscaling|policy)$/,
  // Queues, schedulers and autoscalers.
  /^kueue\.x-k8s\.io$|^autoscaling\.x-k8s\.io$|^(?:scheduling\..*|keda\.sh)$/,
  // Nodes and clusters.
  /^karpenter\b|\bkarpenter\.(?:sh|azure\.com|k8s\.aws)$|^(?:cloud\.google|eksctl)\.(?:com|io)$|\bcluster\.x-k8s\.io$/,
  /^(?:machine\.openshift\.io|kops\.k8s\.io|nfd\..*|.*kwok.*)$/,
  // Cloud resources.
  /\.(?:cnrm\.cloud\.google\.com|services\.k8s\.aws|upbound\.io)$/,
  // Installation: operators, overlays, charts and their sources.
  /^operators\.coreos\.com$|^kustomize\..*|^(?:helm\..*|source\..*)$/,
  // Policies, gateways, monitoring and settings.
  /^(?:kyverno\.io|.*gatekeeper\.sh|gateway\.envoyproxy\.io|inference\.networking\..*|monitoring\.coreos\.com)$/,
  /^(?:config\..*|.*\.config\..*)$/,
);

/** Such kinds in groups that also have workloads, as `group/kind`. */
const podlessKinds = either(
  /^nvidia\.com\/(?:ClusterPolicy|NVIDIADriver|GPUCluster)$|^serving\.kserve\.io\/InferenceGraph$/,
  /^workload\.codeflare\.dev\/AppWrapper$|^argoproj\.io\/Application(?:Set)?$/,
  // Nodes, what they offer, and what may be requested of them.
  endsWith(
    'Node NodeGroup NodePool Machine MachinePool MachineSet MachineDeployment Host HostClaim Device Driver Plugin',
  ),
  endsWith('Quota Queue Flavor Budget LimitRange Claim Slice PodGroup Reservation HardwareProfile AcceleratorProfile'),
  // Organization, reports and settings.
  endsWith('Project Team Tenant Department Namespace Offering Inventory Report Recommendation'),
  endsWith('Cache Overlay Provider Parameters Gateway'),
);

/** A pattern for kinds that end with one of these words. */
function endsWith(words: string): RegExp {
  return new RegExp(`(?:${oneOf(words)})$`);
}
