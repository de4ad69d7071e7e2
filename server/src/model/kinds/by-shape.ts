import type { Cursor } from '../../yaml/cursor.ts';
import { asText, entries, getIn, items, keyOf } from '../../yaml/cursor.ts';
import { groupOf } from '../manifest.ts';
import type { Manifest } from '../workload.ts';
import type { KindLowering, PodCount, PodSetSource } from './kind.ts';
import { exactly, written } from './pod-sets.ts';

/**
 * What an object of a kind that is not in the table may run: every mapping in it that looks like a pod's spec. Undefined where there is none,
 * and for the kinds that only talk of pods.
 */
export function lowerByShape({ root, apiVersion, kind }: Manifest): KindLowering | undefined {
  const group = groupOf(apiVersion);
  if (silentGroups.test(group) || silentKinds.has(`${group}/${kind}`)) return undefined;
  const podSets = podsIn(getIn(root, 'spec') ?? root, 0);
  return podSets.length === 0 ? undefined : { podSets, retries: null, scaling: null, partial: true };
}

/** Groups whose objects run nothing themselves, whatever is written in them: schemas, policies, queues, infrastructure, overlays. */
const silentGroups =
  /^$|^(?:apiextensions|admissionregistration|rbac\.authorization|storage|networking|policy|scheduling|autoscaling|gateway\.networking|metrics|apiregistration|node|resource)\.k8s\.io$|^(?:autoscaling|policy)$|^kueue\.x-k8s\.io$|^autoscaling\.x-k8s\.io$|^karpenter\b|\bkarpenter\.(?:sh|azure\.com|k8s\.aws)$|^(?:cloud\.google|eksctl)\.(?:com|io)$|^operators\.coreos\.com$|^kustomize\.config\.k8s\.io$|^(?:kyverno\.io|.*gatekeeper\.sh|gateway\.envoyproxy\.io|monitoring\.coreos\.com|scheduling\..*|keda\.sh|helm\..*|source\..*)$/;

/** Kinds of groups that have workloads too. */
const silentKinds: ReadonlySet<string> = new Set([
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

/** A list of containers in which each has a name and some an image. */
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
    name: asText(getIn(holder, 'name')) ?? keysAbove(pod) ?? 'pod',
    pod,
    metadata: getIn(pod.parent, 'metadata'),
    replicas,
    pods: replicas === undefined ? unknown : written(replicas),
  };
}

const unknown: PodCount = exactly(null);

/** The mapping in which the template stands, with the number of its pods where that is written. */
function holderOf(pod: Cursor): Cursor | undefined {
  const template = keyOf(pod) === 'spec' ? pod.parent : pod;
  return template?.parent;
}

/** The nearest key that says more than `template` and `spec`. */
function keysAbove(pod: Cursor): string | undefined {
  for (let here: Cursor | undefined = pod; here !== undefined; here = here.parent) {
    // Beyond the object is the list that it stands in.
    if (getIn(here, 'apiVersion') !== undefined) return undefined;
    const key = keyOf(here);
    if (key !== '' && !/^(spec|template|podTemplate|podSpec|podTemplateSpec)$/.test(key)) return key;
  }
  return undefined;
}
