import type { Cursor } from '../yaml/cursor.ts';
import { at, isOpen } from '../yaml/cursor.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { lowerPodAccelerators } from './devices.ts';
import { kindEntry } from './kinds/index.ts';
import type { KindEntry, PodSetSource } from './kinds/kind.ts';
import { groupOf, lowerManifests, lowerStrings } from './manifest.ts';
import type { ModelOptions } from './options.ts';
import { lowerPlacement } from './placement.ts';
import { lowerContainers, lowerSelectors, lowerTolerations, lowerVolumes, text } from './pod.ts';
import { roleOf } from './role.ts';
import type { Manifest, PodSet, Workload } from './workload.ts';

/** The objects of a document, and what those of known kinds will run. Never throws; what cannot be read is left out. */
export function lowerDocument(
  document: YamlDocument,
  options: ModelOptions,
): { readonly manifests: readonly Manifest[]; readonly workloads: readonly Workload[] } {
  const manifests = lowerManifests(document);
  const workloads = manifests.flatMap((manifest) => {
    const entry = kindEntry(groupOf(manifest.apiVersion), manifest.kind);
    return entry === undefined ? [] : [lowerWorkload(manifest, entry, options)];
  });
  return { manifests, workloads };
}

function lowerWorkload(manifest: Manifest, entry: KindEntry, options: ModelOptions): Workload {
  const { root, annotations, kind } = manifest;
  const lowered = entry.lower({ kind, root, annotations, options });
  const podSets = lowered.podSets.map((source) => lowerPodSet(source, options));
  return {
    manifest,
    apiVersion: manifest.apiVersion,
    kind,
    name: manifest.name,
    namespace: manifest.namespace,
    role: entry.role ?? roleOf(manifest, podSets),
    podSets,
    partial: lowered.partial || podSets.some(isPartial),
    retries: lowered.retries,
    scaling: lowered.scaling,
  };
}

function lowerPodSet(source: PodSetSource, options: ModelOptions): PodSet {
  const { pod } = source;
  const containers = source.containers ?? lowerContainers(pod);
  const selectors = lowerSelectors(pod);
  return {
    name: source.name,
    pods: source.pods,
    replicas: source.replicas,
    pod,
    labels: lowerStrings(at(source.metadata, 'labels')),
    annotations: lowerStrings(at(source.metadata, 'annotations')),
    containers,
    accelerators: lowerPodAccelerators(containers, selectors, options),
    selectors,
    tolerations: lowerTolerations(pod),
    volumes: lowerVolumes(pod),
    restartPolicy: text(at(pod, 'restartPolicy')),
    placement: lowerPlacement(selectors, options),
  };
}

/** A container without an image is refused, so it stands in a patch (KServe's and other templates fill in their own). */
function isPartial(podSet: PodSet): boolean {
  if (podSet.containers.length === 0 || isOpen(podSet.pod)) return true;
  return podSet.containers.some(
    (container) => isWritten(container.at) && container.image === undefined && !isModel(container.at),
  );
}

function isWritten(container: Cursor): boolean {
  return container.node.kind === 'map';
}

/** KServe's `model:` stands under a key, containers stand in lists. */
function isModel(container: Cursor): boolean {
  return typeof container.step === 'string';
}
