import type { Cursor } from '../../yaml/cursor.ts';
import { asText, entries, getIn, items, keyOf } from '../../yaml/cursor.ts';
import { groupOf } from '../manifest.ts';
import type { Manifest } from '../workload.ts';
import type { KindLowering, PodCount, PodSetSource } from './kind.ts';
import { exactly, written } from './pod-sets.ts';

/**
 * The pods of an object of an unknown kind: every mapping in it that looks like a pod spec. Undefined if there is none, and for kinds that only
 * describe pods.
 */
export function lowerByShape({ root, apiVersion, kind }: Manifest): KindLowering | undefined {
  const group = groupOf(apiVersion);
  if (podlessGroups.test(group) || podlessKinds.has(`${group}/${kind}`)) return undefined;
  const podSets = podsIn(getIn(root, 'spec') ?? root, 0);
  return podSets.length === 0 ? undefined : { podSets, retries: null, scaling: null, partial: true };
}

/** Groups whose objects never run pods themselves: schemas, policies, queues, infrastructure, overlays. */
const podlessGroups =
  /^$|^(?:apiextensions|admissionregistration|rbac\.authorization|storage|networking|policy|scheduling|autoscaling|gateway\.networking|metrics|apiregistration|node|resource)\.k8s\.io$|^(?:autoscaling|policy)$|^kueue\.x-k8s\.io$|^autoscaling\.x-k8s\.io$|^karpenter\b|\bkarpenter\.(?:sh|azure\.com|k8s\.aws)$|^(?:cloud\.google|eksctl)\.(?:com|io)$|^operators\.coreos\.com$|^kustomize\.config\.k8s\.io$|^(?:kyverno\.io|.*gatekeeper\.sh|gateway\.envoyproxy\.io|monitoring\.coreos\.com|scheduling\..*|keda\.sh|helm\..*|source\..*)$/;

/** Such kinds in groups that also have workloads. */
const podlessKinds: ReadonlySet<string> = new Set([
  'nvidia.com/ClusterPolicy',
  'nvidia.com/NVIDIADriver',
  'serving.kserve.io/InferenceGraph',
  'workload.codeflare.dev/AppWrapper',
]);

const maxDepth = 12;

function podsIn(cursor: Cursor, depth: number): readonly PodSetSource[] {
  if (isPodSpec(cursor)) return [podSetOf(cursor)];
  if (depth >= maxDepth) return [];
  return [...entries(cursor), ...items(cursor)]
    .filter(({ node }) => node.kind !== 'scalar')
    .flatMap((child) => podsIn(child, depth + 1));
}

/** Whether a mapping has a list of containers, each with a name or an image and at least one with an image. */
function isPodSpec(cursor: Cursor): boolean {
  const containers = items(getIn(cursor, 'containers'));
  return (
    containers.length > 0 &&
    containers.every(
      (container) => getIn(container, 'name') !== undefined || getIn(container, 'image') !== undefined,
    ) &&
    containers.some((container) => getIn(container, 'image') !== undefined)
  );
}

function podSetOf(pod: Cursor): PodSetSource {
  const holder = holderOf(pod);
  const replicas = getIn(holder, 'replicas');
  return {
    name: asText(getIn(holder, 'name')) ?? keyAbove(pod) ?? 'pod',
    pod,
    metadata: getIn(pod.parent, 'metadata'),
    replicas,
    pods: replicas === undefined ? unknown : written(replicas),
  };
}

const unknown: PodCount = exactly(null);

/** The mapping with the template, which may also have the number of pods. */
function holderOf(pod: Cursor): Cursor | undefined {
  const template = keyOf(pod) === 'spec' ? pod.parent : pod;
  return template?.parent;
}

/** The nearest key above a pod that is more specific than `template` and `spec`. */
function keyAbove(pod: Cursor): string | undefined {
  for (let here: Cursor | undefined = pod; here !== undefined; here = here.parent) {
    // Above the object is only a list of objects.
    if (getIn(here, 'apiVersion') !== undefined) return undefined;
    const key = keyOf(here);
    if (key !== '' && !/^(spec|template|podTemplate|podSpec|podTemplateSpec)$/.test(key)) return key;
  }
  return undefined;
}
